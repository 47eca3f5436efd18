#include "search/local/unit_improver.hpp"

#include <optional>

#include "search/local/moves.hpp"

namespace emplace::search {

// The devices on which the unit is tried.
std::bitset<max_devices> UnitImprover::devices_to_try(std::uint32_t unit) {
  std::bitset<max_devices> devices;
  if (!guided_ || !neighbourhood_.outcome().feasible()) return devices.set();
  const auto& at = neighbourhood_.placement().device;
  for (const std::uint32_t op : neighbourhood_.units().members[unit]) {
    for (const std::uint32_t tensor : problem_.inputs[op]) devices.set(at[problem_.producer[tensor].index()]);
    for (const std::uint32_t tensor : problem_.outputs[op])
      for (const std::uint32_t consumer : problem_.consumers[tensor]) devices.set(at[consumer]);
  }
  if (problem_.device_count() > 1) {
    const std::uint32_t other = random_.below(static_cast<std::uint32_t>(problem_.device_count()) - 1);
    const std::uint32_t home = at[neighbourhood_.units().members[unit].front()];
    devices.set(other < home ? other : other + 1);
  }
  return devices;
}

bool UnitImprover::accept_if_better(const Change& change) {
  if (budget_.spent() || !better(neighbourhood_.check(change), neighbourhood_.outcome())) return false;
  neighbourhood_.accept();
  return true;
}

// Exchanges the unit with the partner that has the best guess, if that is an improvement.
bool UnitImprover::exchange(std::uint32_t unit, std::uint8_t device) {
  Outcome best = neighbourhood_.outcome();
  Change change{unit, device, Change::none, {}};
  for (const std::uint32_t partner : partners(neighbourhood_, unit, device, random_)) {
    if (budget_.spent()) return false;
    const Outcome guess = neighbourhood_.guess({unit, device, partner, {}});
    if (!better(guess, best)) continue;
    best = guess;
    change.partner = partner;
  }
  return change.partner != Change::none && accept_if_better(change);
}

bool UnitImprover::improve(std::uint32_t unit) {
  const std::bitset<max_devices> devices = devices_to_try(unit);
  const Outcome now = neighbourhood_.outcome();
  struct To {
    std::optional<std::uint8_t> device;
    Outcome outcome;
  };
  To best{{}, now}, overflowing;
  for (std::size_t d = 0; d < problem_.device_count() && !budget_.spent(); ++d) {
    const auto device = static_cast<std::uint8_t>(d);
    if (!devices[d] || !neighbourhood_.can_move(unit, device)) continue;
    const Outcome guess = neighbourhood_.guess(unit, device);
    if (better(guess, best.outcome)) best = {device, guess};
    const bool only_memory = neighbourhood_.may_overflow() && (guess.makespan < now.makespan || !now.feasible());
    if (only_memory && (!overflowing.device || better(guess, overflowing.outcome))) overflowing = {device, guess};
  }
  if (budget_.spent()) return false;
  if (best.device) {
    const Outcome exact = neighbourhood_.check(unit, *best.device);
    if (better(exact, now)) {
      neighbourhood_.accept();
      return true;
    }
  }
  return overflowing.device && exchange(unit, *overflowing.device);
}

}  // namespace emplace::search
