// A Problem and an order compiled for the bounds of peak memory (bound.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "simulate/batch/view.hpp"

namespace emplace::simulate {

struct BatchBoundProgram {
  // False if there are so many sizes that sums of counts could overflow.
  static bool supports(const Problem& problem);
  // Also fills in the stretches' positions in the lists of BoundView.
  BatchBoundProgram(const Problem& problem, std::span<const std::uint32_t> order,
                    std::vector<batch::Stretch>& stretches);

  // Everything but the scratch memory.
  [[nodiscard]] batch::BoundView view() const;

  std::vector<std::uint32_t> tensor_code, op_code;
  Bytes unit;  // bytes per count
  std::vector<std::int32_t> sizes;
  std::vector<std::int32_t> resident;  // N, or empty: all are 0
  std::size_t tensors = 0;             // number of tensors that have consumers
  std::size_t inputs = 0;              // number of inputs that are numbered
};

}  // namespace emplace::simulate
