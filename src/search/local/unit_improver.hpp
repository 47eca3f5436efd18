// The move of hill climbing: a unit goes to the device with which the step becomes shorter.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>

#include "emplace/base/random.hpp"
#include "emplace/problem/problem.hpp"
#include "search/local/move_budget.hpp"
#include "search/local/neighbourhood.hpp"

namespace emplace::search {

// Whether to check a move exactly although its guess is no improvement. A guess keeps the order in which ops start, so
// under fifo and priority it is wrong where a move helps only because other ops then go first: in a placement on one
// device, for example, the ops after the consumer of a moved op wait for its transfer in the guess, not in the run.
class ByCost {
 public:
  explicit ByCost(std::uint64_t ops) : simulation_(check_by_guess * static_cast<double>(ops)) {}

  // Costs are in ops simulated by guesses.
  void guessed(std::uint64_t cost, Ticks gained) { by_guess_.add(static_cast<double>(cost), gained); }
  void checked_blindly(Ticks gained) { blind_.add(simulation_, gained); }
  // Whether a blind check pays: their share of the cost is to be their share of what both gain for a unit of cost. A
  // unit with more work can gain more, so it may exceed that share: `weight` is its work as a multiple of makespan /
  // units.
  [[nodiscard]] bool may_check_blindly(Ticks makespan, double weight) const;

 private:
  struct Route {
    double cost = 0, gained = 0;
    void add(double more, Ticks ticks) {
      cost += more;
      gained += static_cast<double>(ticks);
    }
  };
  // An op in a check counts as so many in a guess. With 1, half of the time goes to checks on problems where most
  // guesses are right, and searches end 2 % worse there.
  static constexpr double check_by_guess = 3;
  double simulation_;  // cost of a check
  Route by_guess_, blind_;
};

// All of them must outlive it.
class UnitImprover {
 public:
  // guided: units are tried only on the devices of their producers and consumers and on one random device, not their
  // own; while the placement is infeasible, on all. Some moves are checked although no guess promises anything. Where a
  // guess is a full simulation, most moves that an estimate calls longer are not guessed.
  UnitImprover(const Problem& problem, Neighbourhood& neighbourhood, MoveBudget& budget, Stream& random, bool guided)
      : problem_(problem),
        neighbourhood_(neighbourhood),
        budget_(budget),
        random_(random),
        guided_(guided),
        by_cost_(problem.op_count()) {}

  // Moves the unit to the device with the best guess, if that is an improvement; if only memory prevents it, in
  // exchange for another unit. Returns whether the placement changed.
  bool improve(std::uint32_t unit);
  // Makes the change if an exact check confirms that it is an improvement.
  bool accept_if_better(const Change& change);

 private:
  [[nodiscard]] std::bitset<max_devices> devices_to_try(std::uint32_t unit);
  [[nodiscard]] bool is_worth_a_guess(std::uint8_t device);
  bool exchange(std::uint32_t unit, std::uint8_t device);
  // Improves by a move that a guess promises.
  struct Tried {
    bool improved = false;
    std::optional<std::uint8_t> unpromising;  // the device with the best guess, if that is no improvement
  };
  Tried improve_by_guess(std::uint32_t unit);
  bool improve_blindly(std::uint32_t unit, std::uint8_t device);
  [[nodiscard]] double weight(std::uint32_t unit) const;

  const Problem& problem_;
  Neighbourhood& neighbourhood_;
  MoveBudget& budget_;
  Stream& random_;
  const bool guided_;
  ByCost by_cost_;
};

}  // namespace emplace::search
