// Batches cut into parts that a network takes at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace emplace {

// Positions in a batch whose key (problem, grouping, ...) is the same, at most so many, in ascending order.
template <class Key>
struct RolloutPart {
  Key key;
  std::vector<std::size_t> members;
};

// Keys in the order in which they first appear; cut depends on the batch alone, never on who computes it.
template <class Key>
std::vector<RolloutPart<Key>> parts_of(const std::vector<Key>& keys, std::size_t most) {
  std::vector<RolloutPart<Key>> parts;
  std::map<Key, std::size_t> open;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto [at, fresh] = open.try_emplace(keys[i], parts.size());
    if (!fresh && parts[at->second].members.size() == most) at->second = parts.size();
    if (at->second == parts.size()) parts.push_back({keys[i], {}});
    parts[at->second].members.push_back(i);
  }
  return parts;
}

}  // namespace emplace
