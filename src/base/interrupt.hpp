// A request to stop early, made by a signal handler. Work that can stop at a suitable point checks stop_requested() and
// writes the results it has so far.
#pragma once

namespace emplace {

// Can be called in a signal handler.
void request_stop();
[[nodiscard]] bool stop_requested();

}  // namespace emplace
