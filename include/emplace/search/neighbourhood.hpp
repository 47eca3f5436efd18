// A placement and the placements one unit away from it: a quick guess of each neighbour, an exact check of the
// promising ones, a step to one of them. What hill climbing, tabu search, annealing and a list of the best moves share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emplace/problem/grouping.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"
#include "emplace/simulate/incremental.hpp"

namespace emplace {

// Guesses come from the incremental engine, in the order in which the placement's own run starts its ops. In-order,
// that is the placement's order, and a guess is exact but for memory. Under fifo and priority a move may change who
// overtakes whom: nearly all guesses are exact where devices mostly wait for data, few where many ops are ready at
// once. Where incremental_supports() is false every guess is a full exact simulation.
//
// The problem and the grouping must outlive it.
class Neighbourhood {
 public:
  Neighbourhood(const Problem& problem, const Grouping& units, Schedule schedule);

  // Simulates a placement (checked, with an order unless fifo) and makes it the current one. Returns its exact outcome.
  Outcome start(const Placement& placement);

  // Whether the unit can run there, and does not yet.
  [[nodiscard]] bool can_move(std::uint32_t unit, std::uint8_t device) const;
  // About the outcome after that move; knows of no memory overflow that only a simulation shows. Never accept on this
  // alone.
  Outcome guess(std::uint32_t unit, std::uint8_t device);
  // Exact, by the schedule and with memory: a full simulation, unless in-order and memory cannot run out.
  Outcome check(std::uint32_t unit, std::uint8_t device);
  // Makes the neighbour last checked the current placement.
  void accept();

  [[nodiscard]] const Placement& placement() const { return placement_; }
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }  // exact
  [[nodiscard]] const Grouping& units() const { return units_; }
  [[nodiscard]] std::uint64_t guesses() const { return guesses_; }
  // Ops simulated for all guesses so far, which says what they cost: from a few to all of them for a guess.
  [[nodiscard]] std::uint64_t guessed_ops() const { return guessed_ops_; }
  [[nodiscard]] std::uint64_t checks() const { return checks_; }  // those of start() included
  [[nodiscard]] std::uint64_t evaluations() const { return guesses_ + checks_; }

 private:
  [[nodiscard]] std::span<const std::uint32_t> members(std::uint32_t unit) const { return units_.members[unit]; }
  void put(std::uint32_t unit, std::uint8_t device);
  void put_back(std::uint32_t unit);
  void rebase();

  const Problem& problem_;
  const Grouping& units_;
  const Schedule schedule_;
  std::unique_ptr<Engine> exact_;
  std::unique_ptr<IncrementalEngine> incremental_;  // null where it does not support the problem
  Placement placement_;
  Outcome outcome_;
  Placement in_own_order_;  // placement_ with the order in which its ops start
  Timeline timeline_;
  std::vector<std::uint8_t> home_;  // of the members of the unit that is elsewhere for an evaluation
  struct Checked {
    std::uint32_t unit = 0;
    std::uint8_t device = 0;
    Outcome outcome;
  };
  Checked checked_;
  bool any_checked_ = false;
  std::uint64_t guesses_ = 0, guessed_ops_ = 0, checks_ = 0;
};

}  // namespace emplace
