// Random changes of a placement: units move to other devices that can run them, and, if the schedule needs an order,
// ops move to other positions in it.
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

  // False if every unit has only one device and there is no order.
  [[nodiscard]] bool any() const { return !movable_.empty() || has_order_; }
  // Without an order, draws a unit that has several devices and one of its other devices, all equally likely. With an
  // order, half of the cost of guesses is spent on changes of the order: an op passes another op of its device (half of
  // the time by a move of the critical path), or moves to another device and passes one or two ops there; and half of
  // the units drawn are on the critical path. Requires any(). Some of the drawn changes are impossible.
  [[nodiscard]] Change draw(Neighbourhood& neighbourhood, Stream& random) const;

 private:
  [[nodiscard]] Change draw_device(Neighbourhood& neighbourhood, Stream& random) const;
  [[nodiscard]] OrderMove draw_order(Neighbourhood& neighbourhood, Stream& random) const;

  const Grouping& units_;
  const bool has_order_;
  std::vector<std::uint32_t> movable_;
  std::vector<std::uint8_t> is_movable_;  // U
};

// Of the guesses whose device may overflow, one in this many is tried as an exchange with one of partners().
inline constexpr std::uint32_t overflows_per_exchange = 4;

// Units on `device` that could move to the device of `unit` in exchange, for a `device` that is nearly full. All of
// them if there are few units, else some at random; at most 16.
std::vector<std::uint32_t> partners(const Neighbourhood& neighbourhood, std::uint32_t unit, std::uint8_t device,
                                    Stream& random);

}  // namespace emplace::search
