#include "emplace/problem/output_shapes.hpp"

#include <algorithm>

namespace emplace {

void OutputShapes::add_output(std::span<const std::int64_t> dimensions) {
  for (const std::int64_t dimension : dimensions) dimensions_.push_back(std::max<std::int64_t>(0, dimension));
  output_begin_.push_back(static_cast<std::uint32_t>(dimensions_.size()));
  ++op_begin_.back();
}

OutputShapes output_shapes(const Problem& problem) {
  OutputShapes shapes;
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    shapes.add_op();
    for (const std::uint32_t tensor : problem.outputs[op]) {
      if (problem.shapes.has(tensor)) {
        shapes.add_output(problem.shapes.dimensions_of(tensor));
        continue;
      }
      const std::int64_t floats = (problem.tensor_bytes[tensor] + 3) / 4;
      if (floats > 0) shapes.add_output(std::span(&floats, 1));
    }
  }
  return shapes;
}

}  // namespace emplace
