// A Problem and an order compiled for the bounds of peak memory (batch_bound.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "simulate/batch/view.hpp"

namespace emplace::simulate {

struct BatchBoundProgram {
  // False for more numbers than counts have room for.
  static bool supports(const Problem& problem);
  // Fills in what the stretches say of BoundView.
  BatchBoundProgram(const Problem& problem, std::span<const std::uint32_t> order,
                    std::vector<batch::Stretch>& stretches);

  // All but the scratch memory.
  [[nodiscard]] batch::BoundView view() const;

  std::vector<std::uint32_t> tensor_code, op_code;
  Bytes unit;  // of the counts
  std::vector<std::int32_t> sizes;
  std::vector<std::int32_t> resident;  // N, or empty: all are 0
  std::size_t tensors = 0;             // that have consumers
  std::size_t inputs = 0;              // that are numbered
};

}  // namespace emplace::simulate
