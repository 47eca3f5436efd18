// Fewer values, where all would take too long.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "emplace/base/types.hpp"

namespace emplace::search {

// At most about `most` of the different values, in order.
inline std::vector<Ticks> evenly(std::vector<Ticks> values, std::size_t most) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const std::size_t step = 1 + values.size() / std::max<std::size_t>(1, most);
  std::vector<Ticks> some;
  for (std::size_t i = 0; i < values.size(); i += step) some.push_back(values[i]);
  return some;
}

}  // namespace emplace::search
