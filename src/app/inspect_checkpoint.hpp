// What `emplace inspect` says of a checkpoint or of a run folder.
#pragma once

#include <string>

#include "emplace/run/checkpoint.hpp"

namespace emplace::app {

// `checkpoint`, whose digests are right, was read from `file`; `status`: of the run folder that it is, "" for a file.
void inspect_checkpoint(const std::string& file, const Checkpoint& checkpoint, const std::string& status, bool json);

}  // namespace emplace::app
