#include "search/local/layer_blocks.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "problem/labels.hpp"

namespace emplace::search {

Grouping layer_blocks(const Problem& problem, const Grouping& units) {
  const std::size_t devices = units.device_count();
  using Key = std::pair<std::uint32_t, std::vector<std::uint8_t>>;  // the layer and the devices that can run the unit
  std::map<Key, std::vector<std::uint32_t>> ops_of;
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    const auto members = units.members[unit];
    const auto allowed = std::span(units.allowed).subspan(unit * devices, devices);
    auto& ops = ops_of[{first_label(problem.layer, members), {allowed.begin(), allowed.end()}}];
    ops.insert(ops.end(), members.begin(), members.end());
  }
  Grouping blocks;
  blocks.unit_of_op.resize(problem.op_count());
  for (auto& [key, ops] : ops_of) {
    const auto block = static_cast<std::uint32_t>(blocks.count());
    std::ranges::sort(ops);
    for (const std::uint32_t op : ops) blocks.unit_of_op[op] = block;
    blocks.members.items.insert(blocks.members.items.end(), ops.begin(), ops.end());
    blocks.members.begin.push_back(static_cast<std::uint32_t>(blocks.members.items.size()));
    blocks.allowed.insert(blocks.allowed.end(), key.second.begin(), key.second.end());
  }
  return blocks;
}

}  // namespace emplace::search
