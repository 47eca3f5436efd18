// A placement and the placements one change away from it: a quick guess of each neighbour, an exact check of the
// promising ones, a step to one of them. What hill climbing, tabu search, annealing and a list of the best moves share.
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
#include "simulate/incremental/incremental.hpp"

namespace emplace::search {

// What changes at once; a part that is none does not.
struct Change {
  static constexpr std::uint32_t none = OrderMove::none;
  std::uint32_t unit = none;  // goes to `device`
  std::uint8_t device = 0;
  std::uint32_t partner = none;  // goes to where `unit` was: an exchange, for devices that are nearly full
  OrderMove order = {};          // then an op passes another; it stays where it is if that is impossible

  [[nodiscard]] bool keeps_order() const { return order.is_none(); }
};

// Guesses of changes that keep the order come from the incremental engine, in the order in which the placement's own
// run starts its ops. In-order, that is the placement's order, and a guess is exact but for memory. Under fifo and
// priority a move may change who overtakes whom: nearly all guesses are exact where devices mostly wait for data, few
// where many ops are ready at once. Where incremental_supports() is false, or the order changes, a guess is a full
// exact simulation.
//
// The problem and the grouping must outlive it.
class Neighbourhood {
 public:
  Neighbourhood(const Problem& problem, const Grouping& units, Schedule schedule);

  // Simulates a placement (checked, with an order unless fifo) and makes it the current one. Returns its exact outcome.
  Outcome start(const Placement& placement);

  // Whether the unit can run there, and does not yet.
  [[nodiscard]] bool can_move(std::uint32_t unit, std::uint8_t device) const;
  // About the outcome after that change; knows of no memory overflow that only a simulation shows. Never accept on this
  // alone.
  Outcome guess(const Change& change);
  Outcome guess(std::uint32_t unit, std::uint8_t device) { return guess(Change{unit, device}); }
  // Whether the last guess exceeds some device's memory, or cannot exclude it: an exchange may then do what the change
  // cannot.
  [[nodiscard]] bool may_overflow() const { return may_overflow_; }
  // Exact, by the schedule and with memory: a full simulation, unless in-order and memory cannot run out.
  Outcome check(const Change& change);
  Outcome check(std::uint32_t unit, std::uint8_t device) { return check(Change{unit, device}); }
  // Makes the neighbour last checked the current placement.
  void accept();

  // Whether there is an order, which changes may change.
  [[nodiscard]] bool has_order() const { return schedule_ != Schedule::fifo; }
  // Whether the move changes the current order.
  bool can_pass(OrderMove move);
  // Of the current placement. Counts as no evaluation, although it costs several. In-order, it puts the order by when
  // ops start, which changes no outcome.
  const CriticalChoices& critical();
  // The same, perhaps of a placement some changes ago: it is made anew when since the last time enough has been
  // simulated to make its cost small.
  const CriticalChoices& recently_critical();
  // The next op behind `op` in the order that is on `device`, or before it; none where there is none near by.
  [[nodiscard]] std::uint32_t next_on(std::uint8_t device, std::uint32_t op, bool behind) const;

  [[nodiscard]] const Placement& placement() const { return placement_; }
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }  // exact
  [[nodiscard]] const Grouping& units() const { return units_; }
  [[nodiscard]] std::uint64_t guesses() const { return guesses_; }
  // Ops simulated for all guesses so far, which says what they cost: from a few to all of them for a guess.
  [[nodiscard]] std::uint64_t guessed_ops() const { return guessed_ops_; }
  // Those for guesses of changes of the order.
  [[nodiscard]] std::uint64_t ordered_ops() const { return ordered_ops_; }
  [[nodiscard]] std::uint64_t checks() const { return checks_; }  // those of start() included
  [[nodiscard]] std::uint64_t evaluations() const { return guesses_ + checks_; }

 private:
  [[nodiscard]] std::span<const std::uint32_t> members(std::uint32_t unit) const { return units_.members[unit]; }
  [[nodiscard]] bool incremental_check(const Change& change) const {
    return incremental_ != nullptr && schedule_ == Schedule::in_order && change.keeps_order();
  }
  [[nodiscard]] std::uint8_t device_of(std::uint32_t unit) const { return placement_.device[members(unit).front()]; }
  simulate::MoveEvaluation try_out(const Change& change);
  void make(const Change& change);
  void take_back();
  void put(std::uint32_t unit, std::uint8_t device);
  void rebase();
  void order_by_start();

  const Problem& problem_;
  const Grouping& units_;
  const Schedule schedule_;
  std::unique_ptr<simulate::Engine> exact_;
  std::unique_ptr<simulate::IncrementalEngine> incremental_;  // null where it does not support the problem
  Placement placement_;
  Outcome outcome_;
  Placement in_own_order_;  // placement_ with the order in which its ops start
  simulate::Timeline timeline_;
  OrderMover mover_;
  bool passed_ = false;                                       // the change that is made moved an op in the order
  std::vector<std::pair<std::uint32_t, std::uint8_t>> home_;  // ops that are elsewhere for an evaluation
  CriticalChoices critical_;
  bool critical_is_current_ = false;
  std::uint64_t critical_age_ = 0;  // guessed_ops_ when critical_ was made
  struct Checked {
    Change change;
    Outcome outcome;
  };
  Checked checked_;
  bool any_checked_ = false;
  bool may_overflow_ = false;
  std::uint64_t guesses_ = 0, guessed_ops_ = 0, ordered_ops_ = 0, checks_ = 0;
};

}  // namespace emplace::search
