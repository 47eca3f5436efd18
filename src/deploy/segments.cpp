#include "deploy/segments.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include "emplace/base/error.hpp"

namespace emplace::deploy {

namespace {

// Calls visit(before, after) for every dependence of `op`.
template <class Visit>
void each_input(const Graph& graph, OpId op, Visit&& visit) {
  for (const Operand& input : graph.ops[op.index()].inputs)
    if (input.is_tensor())
      if (const OpId producer = graph.tensors[input.index].producer; !producer.is_none()) visit(producer, op);
  for (const OpId before : graph.ops[op.index()].after) visit(before, op);
}

}  // namespace

std::vector<Segment> segments_of(const Graph& graph, const std::vector<std::string>& device_of_op) {
  EMPLACE_CHECK(device_of_op.size() == graph.ops.size(), "a device for each op");
  const std::vector<OpId> order = graph.topological_order();
  std::vector<std::uint32_t> changes_to(graph.ops.size(), 0), changes_from(graph.ops.size(), 0);
  const auto changes = [&](OpId before, OpId after) {
    return device_of_op[before.index()] == device_of_op[after.index()] ? 0U : 1U;
  };
  for (const OpId op : order)
    each_input(graph, op, [&](OpId before, OpId after) {
      changes_to[after.index()] =
          std::max(changes_to[after.index()], changes_to[before.index()] + changes(before, after));
    });
  for (auto at = order.rbegin(); at != order.rend(); ++at)
    each_input(graph, *at, [&](OpId before, OpId after) {
      changes_from[before.index()] =
          std::max(changes_from[before.index()], changes_from[after.index()] + changes(before, after));
    });

  // Along a dependence, changes_to never decreases and changes_from never increases, and between devices changes_to
  // increases. So in the order of these keys every dependence goes forward.
  std::map<std::tuple<std::uint32_t, std::int64_t, std::string>, Segment> segments;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    Segment& segment = segments[{changes_to[i], -std::int64_t{changes_from[i]}, device_of_op[i]}];
    segment.device = device_of_op[i];
    segment.ops.emplace_back(i);
  }
  std::vector<Segment> list;
  for (auto& [key, segment] : segments) list.push_back(std::move(segment));
  return list;
}

}  // namespace emplace::deploy
