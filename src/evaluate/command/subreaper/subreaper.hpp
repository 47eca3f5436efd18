// The report that the subreaper writes when its program and all processes of the program have ended. If the program
// could not be started, a report of that comes before.
#pragma once

#include <cstdint>

namespace emplace::evaluate {

struct SubreaperReport {
  enum Kind : std::int32_t { exited, ended_by_signal, cannot_start };
  Kind kind;
  std::int32_t value;      // exit code, signal or errno, by `kind`
  std::int32_t left_over;  // 1: a process could not be killed
};

}  // namespace emplace::evaluate
