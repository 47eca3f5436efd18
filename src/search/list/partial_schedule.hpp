// A schedule that a list scheduler builds op by op: when each device is busy, and when data would be where.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/search/placer.hpp"
#include "search/common/units.hpp"

namespace emplace::search {

// Transfers take their route's time and wait for no channel, as in the papers of these methods; the evaluator knows
// better, and it is the evaluator that scores the placement. Where there is no route data come at total_limit, later
// than by any route; what follows from there lasts less than total_limit again, so no time overflows.
class PartialSchedule {
 public:
  // `preferred`: D, 1 for the devices to use as long as they can run a unit and hold it; empty: all.
  PartialSchedule(const Problem& problem, const Units& units, MemoryView view,
                  std::vector<std::uint8_t> preferred = {});

  // Where the op may go, ascending, until the next call: where its group is; else where all of its unit can run and
  // memory is left, and if that is nowhere the devices that would be over their memory by least. Of these the preferred
  // ones, if there are any.
  std::span<const std::uint8_t> candidates(std::uint32_t op);
  // When all inputs from ops placed so far would be there.
  [[nodiscard]] Ticks ready(std::uint32_t op, std::uint8_t device) const {
    return ready_[op * units_.devices + device];
  }
  // When the tensor would be there, if its producer ended on `from` at `finish`.
  [[nodiscard]] Ticks arrival(std::uint32_t tensor, std::uint8_t from, Ticks finish, std::uint8_t to) const;
  // The start of the first idle time that is long enough, not before `from`.
  [[nodiscard]] Ticks first_gap(std::uint8_t device, Ticks from, Ticks duration) const;
  // Of the op's candidates, each in the first gap that takes it, the one of the least value(slot), the first of equals.
  struct Slot {
    std::uint8_t device = 0;
    Ticks start = 0, end = 0;
  };
  template <class Value>
  Slot best_slot(std::uint32_t op, Value&& value) {
    const auto open = candidates(op);
    const std::vector<std::uint8_t> devices(open.begin(), open.end());  // value may ask for candidates itself
    std::optional<std::pair<decltype(value(Slot{})), Slot>> best;
    for (const std::uint8_t device : devices) {
      const Ticks start = first_gap(device, ready(op, device), duration(op, device));
      const Slot slot{device, start, start + duration(op, device)};
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
  // `start` is in idle time of the device.
  void place(std::uint32_t op, std::uint8_t device, Ticks start);
  // Makes the device busy for the op, until give_back(); nothing else may happen between but questions.
  void borrow(std::uint32_t op, std::uint8_t device, Ticks start);
  void give_back();

  // All ops placed: their devices, and their order by start.
  [[nodiscard]] Placement placement() const;

 private:
  [[nodiscard]] Bytes overflow_with(std::size_t unit, std::size_t device) const;

  const Problem& problem_;
  const Units& units_;
  const MemoryView view_;
  const std::vector<std::uint8_t> preferred_;
  std::vector<std::uint8_t> device_;          // N
  std::vector<Ticks> start_;                  // N, -1: not placed
  std::vector<Ticks> ready_;                  // N x D
  std::vector<std::uint32_t> placed_;         // U: members placed, which hold the unit to unit_device_
  std::vector<std::uint8_t> unit_device_;     // U
  std::vector<Bytes> used_;                   // D
  std::vector<Ticks> end_, shortest_;         // D; of the ops that the device can run
  std::vector<std::map<Ticks, Ticks>> gaps_;  // D: begin -> end of the idle times before end_ that some op fits in
  std::vector<std::uint8_t> candidates_;
  struct Borrowed {
    std::uint8_t device = 0;
    Ticks finish = 0;
    Ticks gap_begin = 0, gap_end = 0;  // of the idle time it took; gap_end 0: it was appended
  } borrowed_;
};

// Places with each view of memory from `views`, until the result fits; scores what comes out.
PlacerResult place_by_list(const PlacerRequest& request, std::span<const MemoryView> views,
                           const std::function<Placement(const Units& units, MemoryView view)>& schedule);

// Memory is looked at only where the schedule without it does not fit.
inline constexpr MemoryView if_needed[] = {MemoryView::none, MemoryView::resident, MemoryView::outputs};
// Every output is taken to stay until the end, as in a training's forward pass, and what that needs to fit; less
// cautious views follow where that does not fit.
inline constexpr MemoryView all_outputs_first[] = {MemoryView::outputs, MemoryView::resident, MemoryView::none};

}  // namespace emplace::search
