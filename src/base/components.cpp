#include "base/components.hpp"

#include <algorithm>
#include <limits>

namespace emplace {

// Tarjan 1972.
std::vector<std::uint32_t> strong_components(std::span<const std::uint32_t> begin,
                                             std::span<const std::uint32_t> items) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  const std::size_t count = begin.size() - 1;
  std::vector<std::uint32_t> component(count, none), number(count, none), low(count), next(begin.begin(), begin.end());
  std::vector<std::uint32_t> path, open;
  std::uint32_t numbers = 0, found = 0;
  for (std::uint32_t root = 0; root < count; ++root) {
    if (number[root] != none) continue;
    path.push_back(root);
    while (!path.empty()) {
      const std::uint32_t v = path.back();
      if (number[v] == none) {
        number[v] = low[v] = numbers++;
        open.push_back(v);
      }
      std::uint32_t deeper = none;
      while (next[v] < begin[v + 1] && deeper == none) {
        const std::uint32_t w = items[next[v]++];
        if (number[w] == none)
          deeper = w;
        else if (component[w] == none)
          low[v] = std::min(low[v], low[w]);
      }
      if (deeper != none) {
        path.push_back(deeper);
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[v]);
      if (low[v] != number[v]) continue;
      for (std::uint32_t w = none; w != v; open.pop_back()) component[w = open.back()] = found;
      ++found;
    }
  }
  return component;
}

}  // namespace emplace
