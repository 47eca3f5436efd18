// m-ETF and m-SCT in their plainest form: at every step, all ready ops are tried on all devices, in tables without any
// order. The reference for src/search/list/earliest_task.cpp.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include "search/list/earliest_task.hpp"
#include "search/list/partial_schedule.hpp"

namespace emplace::search::plain {

class EarliestTaskFirst {
 public:
  EarliestTaskFirst(const Problem& problem, const Units& units, MemoryView view,
                    const std::vector<std::uint32_t>& favourite)
      : problem_(problem),
        favourite_(favourite),
        devices_(units.devices),
        schedule_(problem, units, view, accelerators(problem)),
        level_(problem.op_count(), 0),
        arrived_(problem.op_count(), std::vector<Ticks>(devices_, none)),
        arrives_(arrived_),
        everywhere_(arrived_),
        kept_(devices_) {
    for (std::size_t i = problem.op_count(); i-- > 0;) {
      const std::uint32_t op = problem.topological[i];
      for (const std::uint32_t tensor : problem.outputs[op])
        for (const std::uint32_t consumer : problem.consumers[tensor])
          level_[op] = std::max(level_[op], level_[consumer]);
      level_[op] += schedule_.duration(op, units.fastest[units.grouping.unit_of_op[op]]);
    }
  }

  ListPlacement run() {
    offer();
    while (schedule_.placed_count() < problem_.op_count()) {
      for (best_.reset(); !best_; offer())
        for (std::size_t device = 0; device < devices_; ++device) try_on(static_cast<std::uint8_t>(device));
      place(*best_);
      offer();
    }
    return list_placement(schedule_);
  }

 private:
  using Table = std::vector<std::vector<Ticks>>;  // N x D: a time of each op that is offered to the device, else `none`
  static constexpr Ticks none = std::numeric_limits<Ticks>::max();

  // An op on a device; the least is chosen.
  struct Choice {
    Ticks start, minus_level;
    std::uint8_t device;
    std::uint32_t op;
    auto operator<=>(const Choice&) const = default;
  };

  [[nodiscard]] bool is_ready(std::uint32_t op) const {
    return !schedule_.is_placed(op) && std::ranges::all_of(problem_.inputs[op], [&](std::uint32_t tensor) {
      return schedule_.is_placed(static_cast<std::uint32_t>(problem_.producer[tensor].index()));
    });
  }
  [[nodiscard]] bool is_offered(std::uint32_t op) const {
    const auto is_time = [](Ticks time) { return time != none; };
    return std::ranges::any_of(arrived_[op], is_time) || std::ranges::any_of(arrives_[op], is_time);
  }

  // Offers the ready ops that no device has been offered, or that all have turned down.
  void offer() {
    ready_.clear();
    for (std::uint32_t op = 0; op < problem_.op_count(); ++op) {
      if (!is_ready(op)) continue;
      ready_.push_back(op);
      if (is_offered(op)) continue;
      const auto candidates = schedule_.candidates(op);
      Ticks everywhere = 0;
      for (const std::uint8_t device : candidates) everywhere = std::max(everywhere, schedule_.ready(op, device));
      for (const std::uint8_t device : candidates) {
        arrives_[op][device] = schedule_.ready(op, device);
        everywhere_[op][device] = std::min(everywhere_[op][device], everywhere);
      }
    }
  }

  // The op with the least time in the table, of equals the one with the highest level. What comes first and cannot go
  // there any more is turned down.
  std::optional<std::uint32_t> first_of(Table& table, std::uint8_t device) {
    for (;;) {
      const auto key = [&](std::uint32_t op) { return std::tuple(table[op][device], -level_[op], op); };
      const auto first = std::ranges::min_element(ready_, {}, key);
      if (first == ready_.end() || table[*first][device] == none) return std::nullopt;
      if (schedule_.is_candidate(*first, device)) return *first;
      table[*first][device] = none;
    }
  }

  void try_on(std::uint8_t device) {
    const Ticks free = schedule_.end(device);
    for (const std::uint32_t op : ready_)
      if (arrives_[op][device] <= free) {
        arrives_[op][device] = none;
        if (schedule_.is_candidate(op, device)) arrived_[op][device] = 0;
      }
    const auto choose = [&](std::uint32_t op, Ticks start, Ticks level) {
      const Choice choice{start, -level, device, op};
      if (!best_ || choice < *best_) best_ = choice;
    };
    const auto [awaited, until] = kept_[device];
    const bool awake = until > free && !schedule_.is_placed(awaited);
    const Ticks from = awake ? until : free;
    if (const auto op = first_of(arrived_, device)) choose(*op, from, level_[*op]);
    if (const auto op = first_of(arrives_, device)) choose(*op, std::max(from, arrives_[*op][device]), level_[*op]);
    if (!awake) return;
    if (is_ready(awaited) && schedule_.is_candidate(awaited, device))
      choose(awaited, std::max(free, schedule_.ready(awaited, device)), std::numeric_limits<Ticks>::max());
    if (const auto op = first_of(everywhere_, device))
      choose(*op, std::max(free, everywhere_[*op][device]), level_[*op]);
  }

  void place(const Choice& choice) {
    schedule_.place(choice.op, choice.device, choice.start);
    kept_[choice.device] = {};
    if (favourite_.empty() || favourite_[choice.op] == problem_.op_count()) return;
    Ticks travel = 0;
    const std::size_t classes = problem_.route_classes.size();
    for (const std::uint32_t tensor : problem_.outputs[choice.op])
      for (std::size_t c = 0; c < classes; ++c) travel = std::max(travel, problem_.transfer_time[tensor * classes + c]);
    kept_[choice.device] = {favourite_[choice.op], schedule_.end(choice.device) + travel};
  }

  struct Kept {
    std::uint32_t awaited = 0;
    Ticks until = 0;
  };

  const Problem& problem_;
  const std::vector<std::uint32_t>& favourite_;
  const std::size_t devices_;
  PartialSchedule schedule_;
  std::vector<Ticks> level_;          // N: the longest way to the end
  Table arrived_;                     // 0 where the data had arrived when the device became free
  Table arrives_;                     // when they arrive, of the other ops
  Table everywhere_;                  // when they could be on every device to which the op was offered
  std::vector<std::uint32_t> ready_;  // all ready ops
  std::vector<Kept> kept_;            // D: for the favourite of the last op
  std::optional<Choice> best_;
};

}  // namespace emplace::search::plain
