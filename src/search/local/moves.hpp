// Random changes of a placement: units to other devices that can run them, and, where the schedule needs one, ops to
// other places in the order.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/base/random.hpp"
#include "emplace/problem/grouping.hpp"
#include "search/local/neighbourhood.hpp"

namespace emplace::search {

class Moves {
 public:
  Moves(const Grouping& units, Schedule schedule);

  // False: every unit has one device, and there is no order.
  [[nodiscard]] bool any() const { return !movable_.empty() || has_order_; }
  // Without an order a unit that has a choice, and one of its other devices, all equally likely. With one, half of what
  // guesses cost goes to changes of the order: an op passes another of its device, half of the time as the critical
  // path wants it, or goes to another device and passes one or two there; and half of the units are of the critical
  // path. Requires any(). Now and then a change that is impossible.
  [[nodiscard]] Change draw(Neighbourhood& neighbourhood, Stream& random) const;

 private:
  [[nodiscard]] Change draw_device(Neighbourhood& neighbourhood, Stream& random) const;
  [[nodiscard]] OrderMove draw_order(Neighbourhood& neighbourhood, Stream& random) const;

  const Grouping& units_;
  const bool has_order_;
  std::vector<std::uint32_t> movable_;
  std::vector<std::uint8_t> is_movable_;  // U
};

// Units on `device` that could go to where `unit` is: what an exchange may bring back where `device` is nearly full.
// All of them where there are few units, else some at random; at most 16.
std::vector<std::uint32_t> partners(const Neighbourhood& neighbourhood, std::uint32_t unit, std::uint8_t device,
                                    Stream& random);

}  // namespace emplace::search
