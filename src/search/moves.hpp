// Random moves of one unit to another device that can run it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emplace/base/random.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/search/neighbourhood.hpp"

namespace emplace {

struct Move {
  std::uint32_t unit;
  std::uint8_t device;
};

class Moves {
 public:
  explicit Moves(const Grouping& units);

  // False: every unit has one device.
  [[nodiscard]] bool any() const { return !movable_.empty(); }
  // A unit that has a choice, and one of its other devices, all equally likely. Requires any().
  [[nodiscard]] Move draw(const Neighbourhood& neighbourhood, Stream& random) const;

 private:
  const Grouping& units_;
  std::vector<std::uint32_t> movable_;
};

}  // namespace emplace
