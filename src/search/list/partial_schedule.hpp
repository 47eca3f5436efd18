// A schedule that a list scheduler builds op by op: the busy times of each device, and the arrival times of data.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/search/placer.hpp"
#include "search/common/deadline.hpp"
#include "search/common/units.hpp"
#include "search/list/idle_times.hpp"

namespace emplace::search {

// Transfers take their route's time and do not wait for channels, as in the papers of these methods; the resulting
// placement is scored by the evaluator, which simulates that waiting. Without a route, data arrive at total_limit,
// later than over any route; all that follows takes less than another total_limit, so no time overflows.
class PartialSchedule {
 public:
  // `preferred`: D, 1 for devices that are used as long as one can run the unit and has memory for it; empty: all.
  PartialSchedule(const Problem& problem, const Units& units, MemoryView view,
                  std::vector<std::uint8_t> preferred = {});

  // The devices to which the op may go, ascending; valid until the next call. This is the device of its group if a
  // member is placed; else all devices that can run the whole unit and have memory left for it, or, if there are none,
  // those whose memory would be exceeded by least. Of these only the preferred ones, if there are any.
  std::span<const std::uint8_t> candidates(std::uint32_t op);
  // Whether candidates(op) has the device; mostly in constant time.
  [[nodiscard]] bool is_candidate(std::uint32_t op, std::uint8_t device);
  // Whether the device has this much memory left, so that no unit up to this size exceeds it.
  [[nodiscard]] bool has_room(std::uint8_t device, Bytes bytes) const {
    return view_ == MemoryView::none || problem_.devices[device].memory == no_memory_limit ||
           used_[device] + bytes <= problem_.devices[device].memory;
  }
  // When all inputs from ops placed so far would have arrived on the device.
  [[nodiscard]] Ticks ready(std::uint32_t op, std::uint8_t device) const {
    return ready_[op * units_.devices + device];
  }
  // When the tensor would arrive on `to` if its producer ended on `from` at `finish`.
  [[nodiscard]] Ticks arrival(std::uint32_t tensor, std::uint8_t from, Ticks finish, std::uint8_t to) const;
  // The earliest start at or after `from` for which the device is idle for `duration`.
  [[nodiscard]] Ticks first_gap(std::uint8_t device, Ticks from, Ticks duration) const;
  // Of the op's candidate devices, each with the first gap into which the op fits, the slot with the least value(slot),
  // the first of equals. Where the value `grows` with the start of a slot (or stays), no gap is looked for on devices
  // that would not be better if they were idle.
  struct Slot {
    std::uint8_t device = 0;
    Ticks start = 0, end = 0;
  };
  enum class Value : std::uint8_t { any, grows };
  template <class Worth>
  Slot best_slot(std::uint32_t op, Worth&& value, Value kind = Value::grows) {
    const auto open = candidates(op);
    // Copied, because value() may call candidates() itself.
    std::array<std::uint8_t, max_devices> devices;
    std::ranges::copy(open, devices.begin());
    std::optional<std::pair<decltype(value(Slot{})), Slot>> best;
    for (const std::uint8_t device : std::span(devices).first(open.size())) {
      const Ticks arrived = ready(op, device), time = duration(op, device);
      if (kind == Value::grows && best && !(value(Slot{device, arrived, arrived + time}) < best->first)) continue;
      const Ticks start = first_gap(device, arrived, time);
      const Slot slot{device, start, start + time};
      if (auto worth = value(slot); !best || worth < best->first) best.emplace(std::move(worth), slot);
    }
    return best->second;
  }
  [[nodiscard]] Ticks duration(std::uint32_t op, std::uint8_t device) const {
    return problem_.op_time[op * units_.devices + device];
  }
  // The end of the device's last op.
  [[nodiscard]] Ticks end(std::uint8_t device) const { return end_[device]; }
  [[nodiscard]] bool is_placed(std::uint32_t op) const { return start_[op] >= 0; }
  // Places the op; the device must be idle for its duration from `start` on.
  void place(std::uint32_t op, std::uint8_t device, Ticks start);
  // Makes the device busy for the op until give_back() is called; only const functions may be called between.
  void borrow(std::uint32_t op, std::uint8_t device, Ticks start);
  void give_back();

  // The devices of all ops and their order by start. Ops that are not placed, if the time was over before, come last in
  // topological order; their units go to devices as balance_rest() says.
  [[nodiscard]] Placement placement() const;
  [[nodiscard]] std::size_t placed_count() const { return placed_count_; }

 private:
  [[nodiscard]] Bytes overflow_with(std::size_t unit, std::size_t device) const;
  [[nodiscard]] std::vector<std::uint8_t> balance_rest() const;

  const Problem& problem_;
  const Units& units_;
  const MemoryView view_;
  const std::vector<std::uint8_t> preferred_;
  std::vector<std::uint8_t> device_;       // N
  std::vector<Ticks> start_;               // N, -1: not placed
  std::vector<Ticks> ready_;               // N x D
  std::vector<std::uint32_t> placed_;      // U: number of members placed; if above 0, the unit is on unit_device_
  std::vector<std::uint8_t> unit_device_;  // U
  std::vector<Bytes> used_;                // D
  std::vector<Ticks> end_, shortest_;      // D; shortest_: of the ops that the device can run
  std::vector<IdleTimes> gaps_;            // D: the idle times before end_ into which some op fits
  std::size_t placed_count_ = 0;           // ops
  std::vector<std::uint8_t> candidates_;   // D: where candidates() writes its result
  std::vector<Ticks> arrivals_;            // D: of the tensor that is sent
  struct Borrowed {
    std::uint8_t device = 0;
    Ticks finish = 0;
    Ticks gap_begin = 0, gap_end = 0;  // idle time that it uses; gap_end 0: it was appended
  } borrowed_;
};

// A list scheduler's placement.
struct ListPlacement {
  Placement placement;
  std::size_t scheduled = 0;  // number of ops that were placed before the time was over
};
inline ListPlacement list_placement(const PartialSchedule& schedule) {
  return {schedule.placement(), schedule.placed_count()};
}

// Makes a placement with the given view of memory; soon after the deadline has passed, with the rest as
// PartialSchedule::placement() says.
using ListScheduler = std::function<ListPlacement(const Units& units, MemoryView view, const Deadline& deadline)>;

// Places with each of the given views of memory in turn until the result fits, and scores the results. `deadline` is
// the request's, started before any work for it.
PlacerResult place_by_list(const PlacerRequest& request, const Deadline& deadline, std::span<const MemoryView> views,
                           const ListScheduler& schedule);

// Memory is considered only if the schedule without it does not fit.
inline constexpr MemoryView if_needed[] = {MemoryView::none, MemoryView::resident, MemoryView::outputs};
// First all outputs are assumed to stay until the end, as in the forward pass of training; less cautious views are
// tried if the result does not fit.
inline constexpr MemoryView all_outputs_first[] = {MemoryView::outputs, MemoryView::resident, MemoryView::none};

}  // namespace emplace::search
