#include "graph/passes/neighbours.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace emplace {

IdLists predecessors_of(const Graph& graph) {
  IdLists lists;
  lists.begin.reserve(graph.ops.size() + 1);
  lists.begin.push_back(0);
  for (const GraphOp& op : graph.ops) {
    const auto row = static_cast<std::ptrdiff_t>(lists.items.size());
    for (const Operand& input : op.inputs)
      if (input.is_tensor() && !graph.tensors[input.index].producer.is_none())
        lists.items.push_back(graph.tensors[input.index].producer.value);
    for (const OpId before : op.after) lists.items.push_back(before.value);
    std::sort(lists.items.begin() + row, lists.items.end());
    lists.items.erase(std::unique(lists.items.begin() + row, lists.items.end()), lists.items.end());
    lists.begin.push_back(static_cast<std::uint32_t>(lists.items.size()));
  }
  return lists;
}

IdLists reversed(const IdLists& lists) {
  IdLists out;
  out.begin.assign(lists.begin.size(), 0);
  out.items.resize(lists.items.size());
  for (const std::uint32_t item : lists.items) ++out.begin[item + 1];
  std::partial_sum(out.begin.begin(), out.begin.end(), out.begin.begin());
  std::vector<std::uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  for (std::uint32_t row = 0; row < lists.rows(); ++row)
    for (const std::uint32_t item : lists[row]) out.items[next[item]++] = row;
  return out;
}

IdLists members_of(std::span<const std::uint32_t> group_of, std::size_t count) {
  IdLists out;
  out.begin.assign(count + 1, 0);
  out.items.resize(group_of.size());
  for (const std::uint32_t group : group_of) ++out.begin[group + 1];
  std::partial_sum(out.begin.begin(), out.begin.end(), out.begin.begin());
  std::vector<std::uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  for (std::uint32_t i = 0; i < group_of.size(); ++i) out.items[next[group_of[i]]++] = i;
  return out;
}

IdLists contracted(const IdLists& lists, std::span<const std::uint32_t> group_of, std::size_t count) {
  const IdLists members = members_of(group_of, count);
  IdLists out;
  out.begin.reserve(count + 1);
  out.begin.push_back(0);
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> seen_by(count, none);
  for (std::uint32_t group = 0; group < count; ++group) {
    const auto row = static_cast<std::ptrdiff_t>(out.items.size());
    for (const std::uint32_t member : members[group])
      for (const std::uint32_t item : lists[member]) {
        const std::uint32_t other = group_of[item];
        if (other == group || seen_by[other] == group) continue;
        seen_by[other] = group;
        out.items.push_back(other);
      }
    std::sort(out.items.begin() + row, out.items.end());
    out.begin.push_back(static_cast<std::uint32_t>(out.items.size()));
  }
  return out;
}

}  // namespace emplace
