// Contiguous splits (docs/papers/tarnawski.md, section 2.2). Backward ops are ignored.
#include <bitset>

#include "simulate/pipeline/pipeline.hpp"

namespace emplace::simulate {

namespace {

// Calls visit(producer, consumer) for every edge between forward ops, with producers in topological order.
template <class Visit>
void each_forward_edge(const Problem& p, Visit&& visit) {
  for (const std::uint32_t op : p.topological) {
    if (p.is_backward(OpId{op})) continue;
    for (const std::uint32_t tensor : p.outputs[op])
      for (const std::uint32_t consumer : p.consumers[tensor])
        if (!p.is_backward(OpId{consumer})) visit(op, consumer);
  }
}

}  // namespace

std::optional<DeviceId> non_contiguous_device(const Problem& problem, const std::vector<std::uint8_t>& devices) {
  // before[op]: the devices of the op's ancestors. A path enters a device again if it contains an edge from another
  // device whose producer has an ancestor on this one.
  std::vector<std::bitset<max_devices>> before(problem.op_count());
  std::bitset<max_devices> broken;
  each_forward_edge(problem, [&](std::uint32_t from, std::uint32_t to) {
    const std::uint8_t device = devices[to];
    if (devices[from] != device && before[from][device]) broken.set(device);
    before[to] |= before[from];
    before[to].set(devices[from]);
  });
  for (std::size_t d = 0; d < problem.device_count(); ++d)
    if (broken[d]) return DeviceId{d};
  return std::nullopt;
}

bool devices_form_a_sequence(const Problem& problem, const std::vector<std::uint8_t>& devices) {
  const std::size_t count = problem.device_count();
  std::vector<std::bitset<max_devices>> feeds(count);  // feeds[d]: the devices that must come after d
  each_forward_edge(problem, [&](std::uint32_t from, std::uint32_t to) {
    if (devices[from] != devices[to]) feeds[devices[from]].set(devices[to]);
  });
  // Remove devices that feed none of those left; if devices remain in the end, they contain a cycle.
  std::bitset<max_devices> left;
  for (std::size_t d = 0; d < count; ++d) left.set(d);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t d = 0; d < count; ++d)
      if (left[d] && (feeds[d] & left).none()) {
        left.reset(d);
        changed = true;
      }
  }
  return left.none();
}

}  // namespace emplace::simulate
