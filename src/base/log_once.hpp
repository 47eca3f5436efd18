// Messages that one process may have for many trainings: standard error gets each once.
#pragma once

#include <string>

#include "base/log.hpp"

namespace emplace::log {

// Like write(), but leaves standard error out if this process has written the same message before. The file of
// to_file() gets it in any case.
void write_once(Level level, const std::string& message);

}  // namespace emplace::log
