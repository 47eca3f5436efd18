// The program src/evaluate/command/subreaper as this program carries it: it must be there wherever this one is.
#pragma once

namespace emplace::evaluate {

// A descriptor to execute, open until the process ends and closed in programs that it starts. EnvironmentError where
// the system does not let programs run from memory.
int subreaper_image();

}  // namespace emplace::evaluate
