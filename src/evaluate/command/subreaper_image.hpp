// The program src/evaluate/command/subreaper, embedded in this program, so that it does not have to be installed
// separately.
#pragma once

namespace emplace::evaluate {

// A file descriptor of the embedded program, to be executed. It stays open until this process ends, and is closed in
// programs that this process starts. EnvironmentError if the system does not let programs run from memory.
int subreaper_image();

}  // namespace emplace::evaluate
