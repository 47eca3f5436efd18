#include "deploy/segments.hpp"

#include <algorithm>
#include <cstdint>

#include "emplace/base/error.hpp"
#include "problem/segments.hpp"

namespace emplace::deploy {

namespace {

std::vector<Dependence> dependences_of(const Graph& graph) {
  std::vector<Dependence> list;
  for (const OpId op : graph.topological_order()) {
    for (const Operand& input : graph.ops[op.index()].inputs)
      if (input.is_tensor())
        if (const OpId producer = graph.tensors[input.index].producer; !producer.is_none())
          list.push_back({producer.value, op.value});
    for (const OpId before : graph.ops[op.index()].after) list.push_back({before.value, op.value});
  }
  return list;
}

}  // namespace

std::vector<Segment> segments_of(const Graph& graph, const std::vector<std::string>& device_of_op,
                                 const std::vector<std::uint32_t>& rank) {
  EMPLACE_CHECK(device_of_op.size() == graph.ops.size(), "a device for each op");
  std::vector<std::string> names = device_of_op;
  std::ranges::sort(names);
  std::vector<std::uint32_t> devices;  // numbered in the order of their names
  for (const std::string& name : device_of_op)
    devices.push_back(static_cast<std::uint32_t>(std::ranges::lower_bound(names, name) - names.begin()));

  std::vector<Segment> segments;
  const std::vector<std::uint32_t> segment_of = segment_of_op(dependences_of(graph), devices, rank);
  for (std::size_t op = 0; op < segment_of.size(); ++op) {
    if (segment_of[op] >= segments.size()) segments.resize(segment_of[op] + 1);
    Segment& segment = segments[segment_of[op]];
    segment.device = device_of_op[op];
    segment.ops.emplace_back(op);
  }
  return segments;
}

}  // namespace emplace::deploy
