// A placement and its neighbours, the placements one change away: a quick guess of each neighbour, an exact check of
// the promising ones, and a step to one of them. For hill climbing, tabu search, annealing and lists of the best moves.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "emplace/problem/grouping.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"
#include "search/local/order_moves.hpp"
#include "simulate/estimate/move_estimates.hpp"
#include "simulate/incremental/incremental.hpp"

namespace emplace::search {

// One change; a part that is `none` does not change.
struct Change {
  static constexpr std::uint32_t none = OrderMove::none;
  std::uint32_t unit = none;  // moves to `device`
  std::uint8_t device = 0;
  std::uint32_t partner = none;  // moves to the device of `unit`: an exchange, for devices that are nearly full
  OrderMove order = {};          // then an op passes another; without effect if that is impossible

  [[nodiscard]] bool keeps_order() const { return order.is_none(); }
};

// Guesses of changes that keep the order come from the incremental engine, with the order in which the placement's own
// run starts its ops. Under in-order, that is the placement's order, and a guess is exact except for memory. Under fifo
// and priority a move may change the order in which ops start: nearly all guesses are exact if devices mostly wait for
// data, few if many ops are ready at the same time. If incremental_supports() is false, or the order changes, a guess
// is a full exact simulation.
//
// The problem and the grouping must outlive it.
class Neighbourhood {
 public:
  Neighbourhood(const Problem& problem, const Grouping& units, Schedule schedule);

  // Simulates a placement (checked, with an order unless fifo) and makes it the current one. Returns its exact outcome.
  Outcome start(const Placement& placement);

  // Whether the unit can run on the device and is not there yet.
  [[nodiscard]] bool can_move(std::uint32_t unit, std::uint8_t device) const;
  // An estimate of the outcome after the change, without memory overflows that only a simulation shows. Check a change
  // before accepting it.
  Outcome guess(const Change& change);
  Outcome guess(std::uint32_t unit, std::uint8_t device) { return guess(Change{unit, device}); }
  // Whether moves can be estimated: guesses are full simulations, and the current placement is timed.
  [[nodiscard]] bool can_estimate() const { return incremental_ == nullptr && outcome_.timed(); }
  // The unit whose moves estimate() is about; requires can_estimate().
  void consider(std::uint32_t unit);
  // About the longest path, in ticks, near the considered unit after its move to the device
  // (simulate::MoveEstimates::path_on). Takes a small part of the time of a guess, and is no evaluation.
  [[nodiscard]] Ticks estimate(std::uint8_t device) { return estimates_->path_on(device); }
  // Whether the last guessed change exceeds a device's memory, or may exceed it: an exchange may then be feasible.
  [[nodiscard]] bool may_overflow() const { return may_overflow_; }
  // The exact outcome under the schedule, with memory. It is a full simulation, except under in-order if memory cannot
  // be exceeded.
  Outcome check(const Change& change);
  Outcome check(std::uint32_t unit, std::uint8_t device) { return check(Change{unit, device}); }
  // Checks whether the change makes the outcome better.
  bool improves(const Change& change);
  // Makes the neighbour that was checked last the current placement.
  void accept();

  // Whether there is an order that can be changed.
  [[nodiscard]] bool has_order() const { return schedule_ != Schedule::fifo; }
  // Whether the move is possible and changes the current order.
  bool can_pass(OrderMove move);
  // The critical path of the current placement. Not counted as an evaluation, although it costs as much as several.
  // Under in-order it sorts the order by start times, which does not change the outcome.
  const CriticalChoices& critical();
  // The same, but possibly of a placement some changes ago: it is computed again only after so many simulations that
  // its cost is small in comparison.
  const CriticalChoices& recently_critical();
  // How often it has been computed.
  [[nodiscard]] std::uint64_t critical_serial() const { return critical_serial_; }
  // The next op on `device` after `op` in the order, or before it if `behind` is false; none if there is none near by.
  [[nodiscard]] std::uint32_t next_on(std::uint8_t device, std::uint32_t op, bool behind) const;

  [[nodiscard]] const Placement& placement() const { return placement_; }
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }  // exact
  [[nodiscard]] const Grouping& units() const { return units_; }
  [[nodiscard]] std::uint64_t guesses() const { return guesses_; }
  // Number of ops simulated for all guesses so far, a measure of their cost: a guess simulates from a few ops to all.
  [[nodiscard]] std::uint64_t guessed_ops() const { return guessed_ops_; }
  // The same with checks, which simulate all ops.
  [[nodiscard]] std::uint64_t simulated_ops() const { return guessed_ops_ + checks_ * problem_.op_count(); }
  // Whether guesses of changes that keep the order have the exact step time.
  [[nodiscard]] bool guesses_times_exactly() const {
    return incremental_ == nullptr || schedule_ == Schedule::in_order;
  }
  // The part of them for changes of the order.
  [[nodiscard]] std::uint64_t ordered_ops() const { return ordered_ops_; }
  [[nodiscard]] std::uint64_t checks() const { return checks_; }  // those of start() included
  [[nodiscard]] std::uint64_t evaluations() const { return guesses_ + checks_; }

 private:
  [[nodiscard]] std::span<const std::uint32_t> members(std::uint32_t unit) const { return units_.members[unit]; }
  [[nodiscard]] bool incremental_check(const Change& change) const {
    return incremental_ != nullptr && schedule_ == Schedule::in_order && change.keeps_order();
  }
  [[nodiscard]] std::uint8_t device_of(std::uint32_t unit) const { return placement_.device[members(unit).front()]; }
  Outcome check(const Change& change, Ticks memory_below);
  simulate::MoveEvaluation try_out(const Change& change);
  void take_starts();
  void make(const Change& change);
  void take_back();
  void put(std::uint32_t unit, std::uint8_t device);
  void rebase();
  void order_by_start();

  const Problem& problem_;
  const Grouping& units_;
  const Schedule schedule_;
  std::unique_ptr<simulate::Engine> exact_;
  std::unique_ptr<simulate::IncrementalEngine> incremental_;  // null if it does not support the problem
  Placement placement_;
  Outcome outcome_;
  Placement in_own_order_;  // placement_ with the order in which its ops start
  simulate::Timeline timeline_;
  OrderMover mover_;
  // Whether the change that is made moved an op in the order.
  bool passed_ = false;
  std::vector<std::pair<std::uint32_t, std::uint8_t>> home_;  // ops moved for an evaluation, with their own devices
  CriticalChoices critical_;
  bool critical_is_current_ = false;
  std::uint64_t critical_serial_ = 0;
  std::uint64_t critical_age_ = 0;  // guessed_ops_ when critical_ was made
  struct Checked {
    Change change;
    Outcome outcome;
  };
  Checked checked_;
  std::vector<Ticks> starts_;                           // of the ops in the last exact simulation of a whole step
  std::unique_ptr<simulate::MoveEstimates> estimates_;  // none before they are first wanted
  bool estimates_are_current_ = false;
  std::vector<Ticks> base_starts_;  // of the current placement, if guesses are full simulations
  bool any_checked_ = false;
  bool may_overflow_ = false;
  std::uint64_t guesses_ = 0, guessed_ops_ = 0, ordered_ops_ = 0, checks_ = 0;
};

}  // namespace emplace::search
