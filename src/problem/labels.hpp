// Labels of sets of ops.
#pragma once

#include <cstdint>
#include <span>

#include "emplace/problem/problem.hpp"

namespace emplace {

// The label of the first of these ops that has one, else OpLabels::none, which is more than any.
inline std::uint32_t first_label(const OpLabels& labels, std::span<const std::uint32_t> ops) {
  if (!labels.empty())
    for (const std::uint32_t op : ops)
      if (labels.of_op[op] != OpLabels::none) return labels.of_op[op];
  return OpLabels::none;
}

}  // namespace emplace
