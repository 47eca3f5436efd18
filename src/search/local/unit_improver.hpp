// The move of hill climbing: a unit goes to the device with which the step becomes shorter.
#pragma once

#include <bitset>
#include <cstdint>

#include "emplace/base/random.hpp"
#include "emplace/problem/problem.hpp"
#include "search/local/move_budget.hpp"
#include "search/local/neighbourhood.hpp"

namespace emplace::search {

// All of them must outlive it.
class UnitImprover {
 public:
  // guided: units are tried only on the devices of their producers and consumers and on one random device, not their
  // own; while the placement is infeasible, on all.
  UnitImprover(const Problem& problem, Neighbourhood& neighbourhood, MoveBudget& budget, Stream& random, bool guided)
      : problem_(problem), neighbourhood_(neighbourhood), budget_(budget), random_(random), guided_(guided) {}

  // Moves the unit to the device with the best guess, if that is an improvement; if only memory prevents it, in
  // exchange for another unit. Returns whether the placement changed.
  bool improve(std::uint32_t unit);
  // Makes the change if an exact check confirms that it is an improvement.
  bool accept_if_better(const Change& change);

 private:
  [[nodiscard]] std::bitset<max_devices> devices_to_try(std::uint32_t unit);
  bool exchange(std::uint32_t unit, std::uint8_t device);

  const Problem& problem_;
  Neighbourhood& neighbourhood_;
  MoveBudget& budget_;
  Stream& random_;
  const bool guided_;
};

}  // namespace emplace::search
