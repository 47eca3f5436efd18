#include "search/local/moves.hpp"

#include <algorithm>

#include "search/common/units.hpp"

namespace emplace::search {

Moves::Moves(const Grouping& units, Schedule schedule)
    : units_(units), has_order_(schedule != Schedule::fifo), is_movable_(units.count(), 0) {
  const auto choices = device_choices(units);
  for (std::uint32_t unit = 0; unit < units.count(); ++unit)
    if (choices[unit].size() > 1) {
      movable_.push_back(unit);
      is_movable_[unit] = 1;
    }
}

Change Moves::draw(Neighbourhood& neighbourhood, Stream& random) const {
  if (!has_order_) return draw_device(neighbourhood, random);
  const std::uint64_t for_devices = neighbourhood.guessed_ops() - neighbourhood.ordered_ops();
  if (!movable_.empty() && for_devices <= neighbourhood.ordered_ops()) return draw_device(neighbourhood, random);
  Change change;
  if (!movable_.empty() && random.below(3) == 0) {
    change = draw_device(neighbourhood, random);
    const auto members = units_.members[change.unit];
    const std::uint32_t op = members[random.below(static_cast<std::uint32_t>(members.size()))];
    const bool behind = random.below(2) == 0;
    std::uint32_t past = neighbourhood.next_on(change.device, op, behind);
    if (past != OrderMove::none && random.below(2) == 0)
      if (const std::uint32_t second = neighbourhood.next_on(change.device, past, behind); second != OrderMove::none)
        past = second;
    if (past != OrderMove::none) change.order = {op, past};
    return change;
  }
  constexpr int attempts = 8;
  for (int i = 0; i < attempts; ++i) {
    change.order = draw_order(neighbourhood, random);
    if (neighbourhood.can_pass(change.order)) break;
  }
  return change;
}

Change Moves::draw_device(Neighbourhood& neighbourhood, Stream& random) const {
  std::uint32_t unit = movable_[random.below(static_cast<std::uint32_t>(movable_.size()))];
  if (has_order_ && random.below(2) == 0)
    if (const auto& critical = neighbourhood.recently_critical().ops; !critical.empty()) {
      const std::uint32_t op = critical[random.below(static_cast<std::uint32_t>(critical.size()))];
      if (is_movable_[units_.unit_of_op[op]] != 0) unit = units_.unit_of_op[op];
    }
  std::uint8_t choices[max_devices];
  std::uint32_t count = 0;
  for (std::size_t d = 0; d < units_.device_count(); ++d)
    if (neighbourhood.can_move(unit, static_cast<std::uint8_t>(d))) choices[count++] = static_cast<std::uint8_t>(d);
  return {.unit = unit, .device = choices[random.below(count)], .partner = Change::none, .order = {}};
}

OrderMove Moves::draw_order(Neighbourhood& neighbourhood, Stream& random) const {
  if (random.below(2) == 0)
    if (const auto& moves = neighbourhood.recently_critical().moves; !moves.empty())
      return moves[random.below(static_cast<std::uint32_t>(moves.size()))];
  const std::vector<std::uint32_t>& order = neighbourhood.placement().order;
  const std::uint32_t op = order[random.below(static_cast<std::uint32_t>(order.size()))];
  const bool behind = random.below(2) == 0;
  const std::uint8_t device = neighbourhood.placement().device[op];
  OrderMove move{op, op};
  for (std::uint32_t steps = 1 + random.below(3); steps > 0; --steps) {
    const std::uint32_t next = neighbourhood.next_on(device, move.past, behind);
    if (next == OrderMove::none) break;
    move.past = next;
  }
  return move;
}

std::vector<std::uint32_t> partners(const Neighbourhood& neighbourhood, std::uint32_t unit, std::uint8_t device,
                                    Stream& random) {
  constexpr std::uint32_t most = 16;
  const Grouping& units = neighbourhood.units();
  const auto& at = neighbourhood.placement().device;
  const std::uint8_t home = at[units.members[unit].front()];
  const auto count = static_cast<std::uint32_t>(units.count());
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < std::min(count, 4 * most) && found.size() < most; ++i) {
    const std::uint32_t other = count <= 4 * most ? i : random.below(count);
    if (other != unit && at[units.members[other].front()] == device && neighbourhood.can_move(other, home))
      found.push_back(other);
  }
  return found;
}

}  // namespace emplace::search
