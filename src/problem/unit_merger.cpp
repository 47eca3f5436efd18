#include "problem/unit_merger.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

namespace emplace {

UnitMerger::UnitMerger(const Problem& problem)
    : parent_(problem.op_count()),
      size_(problem.op_count(), 1),
      work_(problem.op_count(), 0),
      devices_(problem.op_count(), DeviceSet{}),
      count_(problem.op_count()) {
  static_assert(max_devices <= 4 * 64);
  std::iota(parent_.begin(), parent_.end(), 0u);
  const std::size_t device_count = problem.device_count();
  for (std::size_t op = 0; op < count_; ++op) {
    Ticks devices = 0;
    Ticks mean = 0;  // each time is divided before the sum, which could overflow otherwise
    const std::span<const Ticks> times = std::span(problem.op_time).subspan(op * device_count, device_count);
    for (std::size_t d = 0; d < device_count; ++d)
      if (times[d] != cannot_run) {
        devices_[op][d / 64] |= std::uint64_t{1} << (d % 64);
        ++devices;
      }
    Ticks before = cannot_run, part = 0;  // most times are those of the device before, and dividing is slow
    for (const Ticks time : times) {
      if (time == cannot_run) continue;
      if (time != before) part = time / devices;
      before = time;
      mean += part;
    }
    work_[op] = std::max<Ticks>(1, mean);
  }
}

std::uint32_t UnitMerger::find(std::uint32_t op) const {
  while (parent_[op] != op) {
    parent_[op] = parent_[parent_[op]];
    op = parent_[op];
  }
  return op;
}

bool UnitMerger::compatible(std::uint32_t a, std::uint32_t b) const {
  bool any = false;
  for (std::size_t word = 0; word < devices_[a].size(); ++word) any |= (devices_[a][word] & devices_[b][word]) != 0;
  return any;
}

void UnitMerger::keep_on(std::uint32_t root, std::uint8_t device) {
  devices_[root] = {};
  devices_[root][device / 64] = std::uint64_t{1} << (device % 64);
}

std::uint32_t UnitMerger::merge(std::uint32_t a, std::uint32_t b) {
  a = find(a);
  b = find(b);
  if (a == b) return a;
  if (size_[a] < size_[b] || (size_[a] == size_[b] && b < a)) std::swap(a, b);
  parent_[b] = a;
  size_[a] += size_[b];
  work_[a] += work_[b];
  for (std::size_t word = 0; word < devices_[a].size(); ++word) devices_[a][word] &= devices_[b][word];
  --count_;
  return a;
}

void UnitMerger::merge_until(std::size_t at_most, std::vector<std::vector<Exchange>> exchanges, Merging merging,
                             const Join& join) {
  using Entry = std::pair<Ticks, std::uint32_t>;  // work, root
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> least;
  for (std::uint32_t op = 0; op < parent_.size(); ++op)
    if (find(op) == op) least.emplace(work_[op], op);
  std::vector<Bytes> bytes_to(parent_.size(), -1);
  std::vector<std::uint32_t> lonely;   // no compatible neighbour, ever: sets of devices only shrink
  std::vector<std::uint32_t> refused;  // refused by `join` with every neighbour; may change after other merges
  bool merged = false;

  while (count_ > at_most) {
    if (least.empty()) {
      if (refused.empty() || !merged) break;
      for (const std::uint32_t unit : refused)
        if (find(unit) == unit) least.emplace(work_[unit], unit);
      refused.clear();
      merged = false;
      continue;
    }
    const Ticks work = least.top().first;
    const std::uint32_t unit = least.top().second;
    least.pop();
    if (find(unit) != unit || work_[unit] != work) continue;  // merged since it was queued
    // The bytes that this unit exchanges with each neighbour. Lists that were joined below are compacted here.
    std::vector<Exchange>& list = exchanges[unit];
    std::vector<std::uint32_t> neighbours;
    for (const Exchange& exchange : list) {
      const std::uint32_t other = find(exchange.other);
      if (other == unit) continue;
      if (bytes_to[other] < 0) {
        bytes_to[other] = 0;
        neighbours.push_back(other);
      }
      // Limited, because a tensor counts once for each consumer, so that the sum may exceed the total of all bytes.
      bytes_to[other] = std::min(total_limit, bytes_to[other] + exchange.bytes);
    }
    list.clear();
    for (const std::uint32_t other : neighbours) list.push_back({other, bytes_to[other]});
    std::erase_if(neighbours, [&](std::uint32_t other) { return !compatible(unit, other); });
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      if (merging == Merging::most_bytes) return std::pair(-bytes_to[a], a) < std::pair(-bytes_to[b], b);
      const auto bytes_for_work = [&](std::uint32_t other) {  // a dependence without data counts as one byte
        return static_cast<double>(bytes_to[other] + 1) / static_cast<double>(work_[other]);
      };
      return std::pair(-bytes_for_work(a), a) < std::pair(-bytes_for_work(b), b);
    };
    std::uint32_t best = OpId::none_value;
    if (!join) {
      const auto found = std::ranges::min_element(neighbours, before);
      if (found != neighbours.end()) merge(unit, best = *found);
    } else {
      std::ranges::sort(neighbours, before);
      const auto found = std::ranges::find_if(neighbours, [&](std::uint32_t other) { return join(unit, other); });
      if (found != neighbours.end()) best = *found;
    }
    for (const Exchange& exchange : list) bytes_to[exchange.other] = -1;
    if (best == OpId::none_value) {
      (neighbours.empty() ? lonely : refused).push_back(unit);
      continue;
    }
    merged = true;
    const std::uint32_t root = find(unit);
    std::vector<Exchange>& into = exchanges[root];
    std::vector<Exchange>& from = exchanges[root == unit ? best : unit];
    if (into.size() < from.size()) std::swap(into, from);
    into.insert(into.end(), from.begin(), from.end());
    std::vector<Exchange>().swap(from);
    least.emplace(work_[root], root);
  }

  // Lonely units are merged with the first compatible earlier one. There are few kinds of devices, so `met` stays
  // short.
  std::vector<std::uint32_t> met;
  for (const std::uint32_t unit : lonely) {
    if (count_ <= at_most) return;
    bool joined = false;
    for (std::uint32_t& other : met)
      if (compatible(find(unit), other)) {
        other = merge(unit, other);
        joined = true;
        break;
      }
    if (!joined) met.push_back(find(unit));
  }
}

std::vector<std::uint32_t> UnitMerger::numbering(const std::vector<std::uint32_t>& topological) const {
  std::vector<std::uint32_t> number(parent_.size(), OpId::none_value);
  std::vector<std::uint32_t> unit(parent_.size());
  std::uint32_t next = 0;
  for (const std::uint32_t op : topological) {
    std::uint32_t& of_root = number[find(op)];
    if (of_root == OpId::none_value) of_root = next++;
    unit[op] = of_root;
  }
  return unit;
}

}  // namespace emplace
