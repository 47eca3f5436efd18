// Splits batches into parts that a network processes in one pass.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace emplace::policy {

// Positions in a batch whose key (problem, grouping, ...) is the same, in ascending order.
template <class Key>
struct RolloutPart {
  Key key;
  std::vector<std::size_t> members;
};

// One part for each key, in the order in which the keys first appear.
template <class Key>
std::vector<RolloutPart<Key>> parts_of(const std::vector<Key>& keys) {
  std::vector<RolloutPart<Key>> parts;
  std::map<Key, std::size_t> known;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto [at, fresh] = known.try_emplace(keys[i], parts.size());
    if (fresh) parts.push_back({keys[i], {}});
    parts[at->second].members.push_back(i);
  }
  return parts;
}

}  // namespace emplace::policy
