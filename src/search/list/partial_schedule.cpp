#include "search/list/partial_schedule.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

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
      gaps_(units.devices),
      candidates_(units.devices, 0),
      arrivals_(units.devices, 0) {
  for (std::size_t row = 0; row < problem.op_time.size(); row += units.devices)
    for (std::size_t d = 0; d < units.devices; ++d)
      if (problem.op_time[row + d] != cannot_run) shortest_[d] = std::min(shortest_[d], problem.op_time[row + d]);
}

Bytes PartialSchedule::overflow_with(std::size_t unit, std::size_t device) const {
  if (view_ == MemoryView::none || problem_.devices[device].memory == no_memory_limit) return 0;
  return std::max<Bytes>(0, used_[device] + units_.memory(unit, view_) - problem_.devices[device].memory);
}

std::span<const std::uint8_t> PartialSchedule::candidates(std::uint32_t op) {
  const std::uint32_t unit = units_.grouping.unit_of_op[op];
  if (placed_[unit] > 0) {
    candidates_[0] = unit_device_[unit];
    return std::span(candidates_).first(1);
  }
  const std::uint8_t* const allowed = units_.grouping.allowed.data() + unit * units_.devices;
  const bool limited = view_ != MemoryView::none;
  std::size_t count = 0;
  using Worth = std::pair<Bytes, bool>;
  Worth best{std::numeric_limits<Bytes>::max(), true};
  for (std::size_t d = 0; d < units_.devices; ++d) {
    if (allowed[d] == 0) continue;
    const Worth worth{limited ? overflow_with(unit, d) : 0, preferred_[d] == 0};
    if (worth > best) continue;
    if (worth < best) count = 0;
    best = worth;
    candidates_[count++] = static_cast<std::uint8_t>(d);
  }
  return std::span(candidates_).first(count);
}

bool PartialSchedule::is_candidate(std::uint32_t op, std::uint8_t device) {
  const std::uint32_t unit = units_.grouping.unit_of_op[op];
  if (placed_[unit] > 0) return unit_device_[unit] == device;
  if (units_.grouping.allowed[unit * units_.devices + device] == 0) return false;
  if (preferred_[device] != 0 && overflow_with(unit, device) == 0) return true;  // nothing is better
  const auto all = candidates(op);
  return std::find(all.begin(), all.end(), device) != all.end();
}

Ticks PartialSchedule::arrival(std::uint32_t tensor, std::uint8_t from, Ticks finish, std::uint8_t to) const {
  if (from == to) return finish;
  const std::int32_t route = problem_.route_class[from * units_.devices + to];
  if (route < 0) return std::max(finish, total_limit);
  return finish + problem_.transfer_time[tensor * problem_.route_classes.size() + static_cast<std::size_t>(route)];
}

Ticks PartialSchedule::first_gap(std::uint8_t device, Ticks from, Ticks duration) const {
  return gaps_[device].first_fit(from, duration).value_or(std::max(from, end_[device]));
}

void PartialSchedule::borrow(std::uint32_t op, std::uint8_t device, Ticks start) {
  EMPLACE_CHECK(start_[op] < 0 && duration(op, device) != cannot_run);
  const Ticks finish = start + duration(op, device);
  IdleTimes& gaps = gaps_[device];
  const auto keep = [&](Ticks begin, Ticks end) {
    if (end - begin >= shortest_[device]) gaps.insert({begin, end});
  };
  if (start >= end_[device]) {
    borrowed_ = {device, finish, end_[device], 0};
    keep(end_[device], start);
    end_[device] = finish;
    return;
  }
  const auto gap = gaps.at_or_before(start);
  EMPLACE_CHECK(gap && finish <= gap->end, "op {} is placed over another", problem_.op_names[op]);
  borrowed_ = {device, finish, gap->begin, gap->end};
  gaps.erase(gap->begin);
  keep(gap->begin, start);
  keep(finish, gap->end);
}

void PartialSchedule::give_back() {
  IdleTimes& gaps = gaps_[borrowed_.device];
  gaps.erase(borrowed_.gap_begin);
  if (borrowed_.gap_end == 0) {
    end_[borrowed_.device] = borrowed_.gap_begin;
    return;
  }
  gaps.erase(borrowed_.finish);
  gaps.insert({borrowed_.gap_begin, borrowed_.gap_end});
}

void PartialSchedule::place(std::uint32_t op, std::uint8_t device, Ticks start) {
  borrow(op, device, start);
  device_[op] = device;
  start_[op] = start;
  ++placed_count_;
  const Ticks finish = start + duration(op, device);
  for (const std::uint32_t tensor : problem_.outputs[op]) {
    if (problem_.consumers[tensor].empty()) continue;
    for (std::size_t to = 0; to < units_.devices; ++to)
      arrivals_[to] = arrival(tensor, device, finish, static_cast<std::uint8_t>(to));
    for (const std::uint32_t consumer : problem_.consumers[tensor]) {
      Ticks* const ready = ready_.data() + consumer * units_.devices;
      for (std::size_t to = 0; to < units_.devices; ++to) ready[to] = std::max(ready[to], arrivals_[to]);
    }
  }
  const std::uint32_t unit = units_.grouping.unit_of_op[op];
  if (placed_[unit]++ == 0) {
    unit_device_[unit] = device;
    used_[device] += units_.memory(unit, view_);
  }
}

// U: the device of each unit. Units without a placed member go, in topological order, to the device that can run them
// and would end first, of those whose memory would be exceeded by least.
std::vector<std::uint8_t> PartialSchedule::balance_rest() const {
  std::vector<std::uint8_t> of_unit = unit_device_;
  std::vector<Ticks> end = end_;
  std::vector<Bytes> used = used_;
  for (std::size_t unit = 0; unit < units_.count(); ++unit) {
    if (placed_[unit] > 0) continue;
    const Bytes need = units_.memory(unit, view_);
    std::optional<std::tuple<Bytes, Ticks, std::size_t>> best;
    for (std::size_t d = 0; d < units_.devices; ++d) {
      if (!units_.grouping.allows(unit, d)) continue;
      const Bytes limit = problem_.devices[d].memory;
      const Bytes overflow = limit == no_memory_limit ? 0 : std::max<Bytes>(0, used[d] + need - limit);
      const std::tuple worth(overflow, end[d] + units_.time[unit * units_.devices + d], d);
      if (!best || worth < *best) best = worth;
    }
    const auto [overflow, ends, device] = *best;
    of_unit[unit] = static_cast<std::uint8_t>(device);
    end[device] = ends;
    used[device] += need;
  }
  return of_unit;
}

Placement PartialSchedule::placement() const {
  constexpr Ticks last = std::numeric_limits<Ticks>::max();
  Placement placement{device_, problem_.topological};
  if (placed_count_ < problem_.op_count()) placement.device = units_.grouping.expand(balance_rest()).device;
  const auto start = [&](std::uint32_t op) { return start_[op] < 0 ? last : start_[op]; };
  std::stable_sort(placement.order.begin(), placement.order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return start(a) < start(b); });
  return placement;
}

PlacerResult place_by_list(const PlacerRequest& request, const Deadline& deadline, std::span<const MemoryView> views,
                           const ListScheduler& schedule) {
  const Units units(*request.problem);
  Scorer scorer(request);
  std::size_t scheduled = request.problem->op_count();
  for (const MemoryView view : views) {
    ListPlacement made = schedule(units, view, deadline);
    scheduled = std::min(scheduled, made.scheduled);
    if (request.schedule == Schedule::fifo) made.placement.order.clear();
    scorer.score(std::move(made.placement));
    if (scorer.best().outcome.why != Infeasible::memory || scorer.exhausted() || deadline.passed()) break;
  }
  PlacerResult result = scorer.result();
  if (scheduled < request.problem->op_count())
    result.note =
        fmt::format("the time was over when {} of {} ops were scheduled; the others balance the devices' work",
                    scheduled, request.problem->op_count());
  return result;
}

}  // namespace emplace::search
