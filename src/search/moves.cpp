#include "moves.hpp"

#include "units.hpp"

namespace emplace {

Moves::Moves(const Grouping& units) : units_(units) {
  const auto choices = device_choices(units);
  for (std::uint32_t unit = 0; unit < units.count(); ++unit)
    if (choices[unit].size() > 1) movable_.push_back(unit);
}

Move Moves::draw(const Neighbourhood& neighbourhood, Stream& random) const {
  const std::uint32_t unit = movable_[random.below(static_cast<std::uint32_t>(movable_.size()))];
  std::uint8_t choices[max_devices];
  std::uint32_t count = 0;
  for (std::size_t d = 0; d < units_.device_count(); ++d)
    if (neighbourhood.can_move(unit, static_cast<std::uint8_t>(d))) choices[count++] = static_cast<std::uint8_t>(d);
  return {unit, choices[random.below(count)]};
}

}  // namespace emplace
