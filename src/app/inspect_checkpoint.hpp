// What `emplace inspect` prints about a checkpoint or a run folder.
#pragma once

#include <string>

#include "experiment/run/checkpoint.hpp"

namespace emplace::app {

// `checkpoint` was read from `file`, and its digests have been checked. `status` is the status of the run if `file` is
// a run folder, else "".
void inspect_checkpoint(const std::string& file, const experiment::Checkpoint& checkpoint, const std::string& status,
                        bool json);

}  // namespace emplace::app
