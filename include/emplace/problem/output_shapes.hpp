// The shapes of the outputs of each op, which features of policies are made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace {

class OutputShapes {
 public:
  // Begins the outputs of the next op, in the order of the problem's ops.
  void add_op() { op_begin_.push_back(op_begin_.back()); }
  // One more output of the op begun last; a dimension that is not known counts as 0.
  void add_output(std::span<const std::int64_t> dimensions);

  [[nodiscard]] std::size_t op_count() const { return op_begin_.size() - 1; }
  [[nodiscard]] std::size_t output_count(std::size_t op) const { return op_begin_[op + 1] - op_begin_[op]; }
  [[nodiscard]] std::span<const std::int64_t> output(std::size_t op, std::size_t k) const {
    const std::uint32_t at = op_begin_[op] + static_cast<std::uint32_t>(k);
    return {dimensions_.data() + output_begin_[at], output_begin_[at + 1] - output_begin_[at]};
  }

 private:
  std::vector<std::uint32_t> op_begin_{0};      // N + 1 positions in the list of outputs
  std::vector<std::uint32_t> output_begin_{0};  // outputs + 1 positions in dimensions_
  std::vector<std::int64_t> dimensions_;
};

// The outputs of an op are its tensors that have a shape, in the order of the problem. A tensor without one is a
// control dependency where it has no bytes; where it has, it counts as one dimension of floats, bytes / 4 rounded up.
OutputShapes output_shapes(const Problem& problem);

}  // namespace emplace
