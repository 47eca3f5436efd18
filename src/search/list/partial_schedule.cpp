#include "search/list/partial_schedule.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"
#include "emplace/search/scorer.hpp"

namespace emplace::search {

PartialSchedule::PartialSchedule(const Problem& problem, const Units& units, MemoryView view,
                                 std::vector<std::uint8_t> preferred)
    : problem_(problem),
      units_(units),
      view_(view),
      preferred_(preferred.empty() ? std::vector<std::uint8_t>(units.devices, 1) : std::move(preferred)),
      device_(problem.op_count(), 0),
      start_(problem.op_count(), -1),
      ready_(problem.op_count() * units.devices, 0),
      placed_(units.count(), 0),
      unit_device_(units.count(), 0),
      used_(units.devices, 0),
      end_(units.devices, 0),
      shortest_(units.devices, std::numeric_limits<Ticks>::max()),
      gaps_(units.devices) {
  for (std::size_t at = 0; at < problem.op_time.size(); ++at)
    if (problem.op_time[at] != cannot_run)
      shortest_[at % units.devices] = std::min(shortest_[at % units.devices], problem.op_time[at]);
}

Bytes PartialSchedule::overflow_with(std::size_t unit, std::size_t device) const {
  if (view_ == MemoryView::none || problem_.devices[device].memory == no_memory_limit) return 0;
  return std::max<Bytes>(0, used_[device] + units_.memory(unit, view_) - problem_.devices[device].memory);
}

std::span<const std::uint8_t> PartialSchedule::candidates(std::uint32_t op) {
  candidates_.clear();
  const std::uint32_t unit = units_.grouping.unit_of_op[op];
  if (placed_[unit] > 0) {
    candidates_.push_back(unit_device_[unit]);
    return candidates_;
  }
  using Worth = std::pair<Bytes, bool>;
  Worth best{std::numeric_limits<Bytes>::max(), true};
  for (std::size_t d = 0; d < units_.devices; ++d) {
    if (!units_.grouping.allows(unit, d)) continue;
    const Worth worth{overflow_with(unit, d), preferred_[d] == 0};
    if (worth > best) continue;
    if (worth < best) candidates_.clear();
    best = worth;
    candidates_.push_back(static_cast<std::uint8_t>(d));
  }
  return candidates_;
}

Ticks PartialSchedule::arrival(std::uint32_t tensor, std::uint8_t from, Ticks finish, std::uint8_t to) const {
  if (from == to) return finish;
  const DeviceId a{std::size_t{from}}, b{std::size_t{to}};
  if (problem_.has_route(a, b)) return finish + problem_.transfer(TensorId{tensor}, a, b);
  return std::max(finish, total_limit);
}

Ticks PartialSchedule::first_gap(std::uint8_t device, Ticks from, Ticks duration) const {
  const std::map<Ticks, Ticks>& gaps = gaps_[device];
  auto gap = gaps.upper_bound(from);
  if (gap != gaps.begin() && std::prev(gap)->second - from >= duration) return from;
  for (; gap != gaps.end(); ++gap)
    if (gap->second - gap->first >= duration) return gap->first;
  return std::max(from, end_[device]);
}

void PartialSchedule::borrow(std::uint32_t op, std::uint8_t device, Ticks start) {
  EMPLACE_CHECK(start_[op] < 0 && duration(op, device) != cannot_run);
  const Ticks finish = start + duration(op, device);
  std::map<Ticks, Ticks>& gaps = gaps_[device];
  const auto keep = [&](Ticks begin, Ticks end) {
    if (end - begin >= shortest_[device]) gaps.emplace(begin, end);
  };
  if (start >= end_[device]) {
    borrowed_ = {device, finish, end_[device], 0};
    keep(end_[device], start);
    end_[device] = finish;
    return;
  }
  const auto gap = std::prev(gaps.upper_bound(start));
  const auto [begin, end] = *gap;
  EMPLACE_CHECK(begin <= start && finish <= end, "op {} is placed over another", problem_.op_names[op]);
  borrowed_ = {device, finish, begin, end};
  gaps.erase(gap);
  keep(begin, start);
  keep(finish, end);
}

void PartialSchedule::give_back() {
  std::map<Ticks, Ticks>& gaps = gaps_[borrowed_.device];
  gaps.erase(borrowed_.gap_begin);
  if (borrowed_.gap_end == 0) {
    end_[borrowed_.device] = borrowed_.gap_begin;
    return;
  }
  gaps.erase(borrowed_.finish);
  gaps.emplace(borrowed_.gap_begin, borrowed_.gap_end);
}

void PartialSchedule::place(std::uint32_t op, std::uint8_t device, Ticks start) {
  borrow(op, device, start);
  device_[op] = device;
  start_[op] = start;
  for (const std::uint32_t tensor : problem_.outputs[op])
    for (std::size_t to = 0; to < units_.devices; ++to) {
      const Ticks there = arrival(tensor, device, start + duration(op, device), static_cast<std::uint8_t>(to));
      for (const std::uint32_t consumer : problem_.consumers[tensor]) {
        Ticks& ready = ready_[consumer * units_.devices + to];
        ready = std::max(ready, there);
      }
    }
  const std::uint32_t unit = units_.grouping.unit_of_op[op];
  if (placed_[unit]++ == 0) {
    unit_device_[unit] = device;
    used_[device] += units_.memory(unit, view_);
  }
}

Placement PartialSchedule::placement() const {
  Placement placement{device_, problem_.topological};
  std::stable_sort(placement.order.begin(), placement.order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return start_[a] < start_[b]; });
  return placement;
}

PlacerResult place_by_list(const PlacerRequest& request, std::span<const MemoryView> views,
                           const std::function<Placement(const Units& units, MemoryView view)>& schedule) {
  const Units units(*request.problem);
  Scorer scorer(request);
  for (const MemoryView view : views) {
    Placement placement = schedule(units, view);
    if (request.schedule == Schedule::fifo) placement.order.clear();
    scorer.score(std::move(placement));
    if (scorer.best().outcome.why != Infeasible::memory || scorer.exhausted()) break;
  }
  return scorer.result();
}

}  // namespace emplace::search
