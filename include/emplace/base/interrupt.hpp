// A request to end early, by a signal: work that can stop at a good place asks for it and writes what it has.
#pragma once

namespace emplace {

// Safe in a signal handler.
void request_stop();
[[nodiscard]] bool stop_requested();

}  // namespace emplace
