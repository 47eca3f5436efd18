// A random order of a list.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "emplace/base/random.hpp"

namespace emplace::search {

// Fisher, Yates 1938: every order is equally likely.
inline void shuffle(std::vector<std::uint32_t>& items, Stream& random) {
  for (auto left = static_cast<std::uint32_t>(items.size()); left > 1; --left)
    std::swap(items[left - 1], items[random.below(left)]);
}

}  // namespace emplace::search
