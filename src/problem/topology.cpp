#include "problem/topology.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <queue>

#include "base/text.hpp"

namespace emplace {

std::vector<std::uint32_t> topological_order(const Problem& p) {
  std::vector<std::uint32_t> missing(p.op_count(), 0);
  for (const std::uint32_t consumer : p.consumers.items) ++missing[consumer];
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  for (std::uint32_t op = 0; op < p.op_count(); ++op)
    if (missing[op] == 0) ready.push(op);
  std::vector<std::uint32_t> order;
  order.reserve(p.op_count());
  while (!ready.empty()) {
    const std::uint32_t op = ready.top();
    ready.pop();
    order.push_back(op);
    for (const std::uint32_t tensor : p.outputs[op])
      for (const std::uint32_t consumer : p.consumers[tensor])
        if (--missing[consumer] == 0) ready.push(consumer);
  }
  return order;
}

std::string describe_cycle(const Problem& p, const std::vector<std::uint32_t>& sorted) {
  std::vector<char> left(p.op_count(), 1);
  for (const std::uint32_t op : sorted) left[op] = 0;
  // Every op that is left over has a producer that is left over, so a walk along producers must come back to one of its
  // ops.
  auto op = static_cast<std::uint32_t>(std::find(left.begin(), left.end(), 1) - left.begin());
  std::vector<std::uint32_t> walk;
  std::vector<std::uint32_t> position(p.op_count(), OpId::none_value);
  while (position[op] == OpId::none_value) {
    position[op] = static_cast<std::uint32_t>(walk.size());
    walk.push_back(op);
    for (const std::uint32_t tensor : p.inputs[op])
      if (left[p.producer[tensor].index()]) {
        op = p.producer[tensor].value;
        break;
      }
  }
  std::vector<std::uint32_t> cycle(walk.begin() + position[op], walk.end());
  std::reverse(cycle.begin(), cycle.end());
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle.size() > 8 && i == 4) {
      text += fmt::format("... ({} more) -> ", cycle.size() - 6);
      i = cycle.size() - 2;
    }
    text += quote(p.op_names[cycle[i]]) + " -> ";
  }
  return text + quote(p.op_names[cycle.front()]);
}

}  // namespace emplace
