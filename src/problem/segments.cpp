#include "problem/segments.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "problem/order.hpp"

namespace emplace {

namespace {

// The topological order in which ops of low rank come first, then those of low number.
std::vector<std::uint32_t> in_order(std::span<const Dependence> dependences, std::span<const std::uint32_t> rank) {
  std::vector<std::vector<std::uint32_t>> readers(rank.size());
  std::vector<std::uint32_t> waits(rank.size(), 0), order;
  for (const Dependence& d : dependences) {
    readers[d.before].push_back(d.after);
    ++waits[d.after];
  }
  using Ranked = std::pair<std::uint32_t, std::uint32_t>;
  std::priority_queue<Ranked, std::vector<Ranked>, std::greater<>> ready;
  for (std::uint32_t op = 0; op < rank.size(); ++op)
    if (waits[op] == 0) ready.emplace(rank[op], op);
  while (!ready.empty()) {
    const std::uint32_t op = ready.top().second;
    ready.pop();
    order.push_back(op);
    for (const std::uint32_t reader : readers[op])
      if (--waits[reader] == 0) ready.emplace(rank[reader], reader);
  }
  return order;
}

// Ops with few device changes on the longest path to them come first; of these, ops with many on a path from them, so
// that no op delays another device that needs a result.
std::vector<std::uint32_t> rank_by_changes(std::span<const Dependence> dependences,
                                           std::span<const std::uint32_t> device_of_op) {
  std::vector<std::uint32_t> changes_to(device_of_op.size(), 0), changes_from(device_of_op.size(), 0);
  const auto changes = [&](const Dependence& d) { return device_of_op[d.before] == device_of_op[d.after] ? 0U : 1U; };
  for (const Dependence& d : dependences)
    changes_to[d.after] = std::max(changes_to[d.after], changes_to[d.before] + changes(d));
  for (std::size_t i = dependences.size(); i-- > 0;) {
    const Dependence& d = dependences[i];
    changes_from[d.before] = std::max(changes_from[d.before], changes_from[d.after] + changes(d));
  }
  std::map<std::pair<std::uint32_t, std::int64_t>, std::uint32_t> rank_of;
  const auto key = [&](std::size_t op) { return std::pair(changes_to[op], -std::int64_t{changes_from[op]}); };
  for (std::size_t op = 0; op < device_of_op.size(); ++op) rank_of.emplace(key(op), 0);
  for (std::uint32_t next = 0; auto& [changed, rank] : rank_of) rank = next++;
  std::vector<std::uint32_t> ranks;
  for (std::size_t op = 0; op < device_of_op.size(); ++op) ranks.push_back(rank_of.at(key(op)));
  return ranks;
}

}  // namespace

std::vector<std::uint32_t> segment_of_op(std::span<const Dependence> dependences,
                                         std::span<const std::uint32_t> device_of_op,
                                         std::span<const std::uint32_t> rank) {
  const std::vector<std::uint32_t> order =
      in_order(dependences, rank.empty() ? rank_by_changes(dependences, device_of_op)
                                         : std::vector<std::uint32_t>(rank.begin(), rank.end()));
  const std::vector<std::uint32_t> place = positions_in(order);

  // What each op waits for: the last in this order of what it needs from other devices, counted from 1.
  std::vector<std::uint32_t> waits_for(order.size(), 0);
  std::vector<bool> sends(order.size(), false);
  for (const Dependence& d : dependences)
    if (device_of_op[d.before] != device_of_op[d.after]) {
      waits_for[d.after] = std::max(waits_for[d.after], place[d.before] + 1);
      sends[d.before] = true;
    }
  struct Open {
    std::uint32_t number = 0, waited = 0;
    bool is_closed = true;
  };
  std::map<std::uint32_t, Open> segment_of_device;
  std::vector<std::uint32_t> numbers(order.size());
  std::uint32_t count = 0;
  for (const std::uint32_t op : order) {
    Open& segment = segment_of_device[device_of_op[op]];
    if (segment.is_closed || waits_for[op] > segment.waited) segment = {count++, waits_for[op], false};
    numbers[op] = segment.number;
    segment.is_closed = sends[op];
  }
  return numbers;
}

std::size_t count_forward_segments(const Problem& problem, const Placement& placement) {
  std::vector<Dependence> dependences;
  for (const std::uint32_t op : problem.topological)
    for (const std::uint32_t tensor : problem.inputs[op])
      if (const OpId producer = problem.producer[tensor];
          !problem.is_backward(producer) && !problem.is_backward(OpId{op}))
        dependences.push_back({producer.value, op});
  const std::vector<std::uint32_t> devices(placement.device.begin(), placement.device.end());
  const std::vector<std::uint32_t> segment = segment_of_op(dependences, devices);
  std::set<std::uint32_t> forward;
  for (std::size_t op = 0; op < segment.size(); ++op)
    if (!problem.is_backward(OpId{op})) forward.insert(segment[op]);
  return forward.size();
}

}  // namespace emplace
