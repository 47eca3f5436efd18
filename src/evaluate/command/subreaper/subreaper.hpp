// What the subreaper says when its program is over and nothing of it is left. Where the program could not be started,
// that report comes first.
#pragma once

#include <cstdint>

namespace emplace::evaluate {

struct SubreaperReport {
  enum Kind : std::int32_t { exited, ended_by_signal, cannot_start };
  Kind kind;
  std::int32_t value;      // exit code, signal, errno
  std::int32_t left_over;  // 1: something cannot be killed
};

}  // namespace emplace::evaluate
