// Memory: if the resident bytes of a connected part of the graph need m devices, at least m - 1 tensors in it are sent
// between devices, and the step is at least as long as the (m - 1)th shortest path through such a tensor.
#include <algorithm>
#include <functional>
#include <numeric>

#include "search/bounds/context.hpp"

namespace emplace::search {

namespace {

// The connected parts of the graph, ignoring the direction of tensors.
struct Parts {
  std::vector<std::uint32_t> root;

  explicit Parts(const Problem& p) : root(p.op_count()) {
    std::iota(root.begin(), root.end(), 0U);
    for (std::uint32_t tensor = 0; tensor < p.tensor_count(); ++tensor)
      for (const std::uint32_t consumer : p.consumers[tensor]) root[find(consumer)] = find(p.producer[tensor].value);
  }
  std::uint32_t find(std::uint32_t op) {
    while (root[op] != op) op = root[op] = root[root[op]];
    return op;
  }
};

// The shortest step in which the tensor is sent from one device to another for this consumer.
Ticks through_cut(const BoundContext& context, std::uint32_t tensor, std::uint32_t consumer) {
  const Problem& p = context.problem;
  const std::size_t devices = p.device_count();
  const std::uint32_t producer = p.producer[tensor].value;
  if (!p.group[producer].is_none() && p.group[producer] == p.group[consumer]) return never;
  Ticks least = never;
  for (std::size_t from = 0; from < devices; ++from) {
    const Ticks end = context.earliest.end[producer * devices + from];
    if (end == never) continue;
    for (std::size_t to = 0; to < devices; ++to) {
      const Ticks tail = context.earliest.tail[consumer * devices + to];
      const auto cls = p.route_class[from * devices + to];
      if (cls < 0 || context.possible[consumer * devices + to] == 0 || tail == never) continue;
      const Ticks transfer = p.transfer_time[tensor * p.route_classes.size() + static_cast<std::size_t>(cls)];
      least = std::min(least, end + transfer + p.op_time[consumer * devices + to] + tail);
    }
  }
  return least;
}

// Proof: the devices that hold a part's ops form a connected graph with the sent tensors as edges, because the part is
// connected. A connected graph of m nodes has at least m - 1 edges, each from another (tensor, consumer). The largest
// of m - 1 different values is at least the (m - 1)th smallest of all.
Ticks memory(BoundContext& context) {
  const Problem& p = context.problem;
  const bool limited = std::any_of(p.devices.begin(), p.devices.end(),
                                   [](const Device& device) { return device.memory != no_memory_limit; });
  if (!limited) return 0;
  Parts parts(p);
  std::vector<Bytes> resident(p.op_count(), 0);
  for (std::uint32_t op = 0; op < p.op_count(); ++op) resident[parts.find(op)] += p.resident[op];
  std::vector<std::size_t> needs(p.op_count(), 0);
  bool any = false;
  for (std::uint32_t op = 0; op < p.op_count(); ++op)
    if (parts.find(op) == op) {
      needs[op] = fewest_devices(p, resident[op]).value_or(p.device_count());
      any = any || needs[op] > 1;
    }
  if (!any) return 0;
  std::vector<std::vector<Ticks>> cuts(p.op_count());  // indexed by root
  for (std::uint32_t tensor = 0; tensor < p.tensor_count(); ++tensor) {
    const std::uint32_t root = parts.find(p.producer[tensor].value);
    if (needs[root] < 2) continue;
    if ((tensor & 1023) == 0 && context.deadline.passed()) return 0;
    for (const std::uint32_t consumer : p.consumers[tensor])
      cuts[root].push_back(through_cut(context, tensor, consumer));
  }
  Ticks best = 0;
  for (std::uint32_t root = 0; root < p.op_count(); ++root) {
    if (needs[root] < 2 || cuts[root].size() < needs[root] - 1) continue;
    const auto last = cuts[root].begin() + static_cast<std::ptrdiff_t>(needs[root] - 2);
    std::nth_element(cuts[root].begin(), last, cuts[root].end());
    if (*last != never) best = std::max(best, *last);
  }
  return best;
}

}  // namespace

std::optional<std::size_t> fewest_devices(const Problem& problem, Bytes resident) {
  std::vector<Bytes> memory;
  for (const Device& device : problem.devices) memory.push_back(device.memory);
  std::sort(memory.begin(), memory.end(), std::greater<>());
  Bytes left = resident;
  for (std::size_t count = 0; count < memory.size(); ++count) {
    if (left <= memory[count]) return count + 1;
    left -= memory[count];
  }
  return std::nullopt;
}

BoundEntry memory_bound() {
  BoundEntry entry;
  entry.name = "memory";
  entry.summary = "The transfers that are needed because the resident bytes do not fit on fewer devices.";
  entry.bound = memory;
  return entry;
}

}  // namespace emplace::search
