#include "search/local/unit_improver.hpp"

#include <algorithm>
#include <optional>

#include "search/local/moves.hpp"

namespace emplace::search {

namespace {

// Whether the guess is so little worse that the order of the ops may be the reason.
bool is_near(const Outcome& guess, const Outcome& now) {
  constexpr double near_by = 1.15;
  return guess.feasible() && static_cast<double>(guess.makespan) <= near_by * static_cast<double>(now.makespan);
}

}  // namespace

bool ByCost::may_check_blindly(Ticks makespan, double weight) const {
  // As if so many simulations had gained this part of the makespan before: a few failures say little. Guesses begin
  // with more, since on most problems they are right.
  constexpr double simulations_before = 20, guesses_gained = 0.001, blindly_gained = 0.0001;
  constexpr double least = 0.02, most = 0.9, heaviest = 4;
  const auto rate = [&](const Route& route, double gained) {
    return (gained * static_cast<double>(makespan) + route.gained) / (simulations_before * simulation_ + route.cost);
  };
  const double blind = rate(blind_, blindly_gained), by_guess = rate(by_guess_, guesses_gained);
  const double share = std::min(most, std::min(weight, heaviest) * std::max(least, blind / (blind + by_guess)));
  return blind_.cost <= share * (blind_.cost + by_guess_.cost);
}

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
  if (budget_.spent() || !neighbourhood_.improves(change)) return false;
  neighbourhood_.accept();
  return true;
}

// Whether a path near the considered unit is no longer than the step; at random if it is, because estimates of units
// with many ops miss half of the improvements.
bool UnitImprover::is_worth_a_guess(std::uint8_t device) {
  constexpr std::uint32_t odds = 32;
  return neighbourhood_.estimate(device) <= neighbourhood_.outcome().makespan || random_.below(odds) == 0;
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

UnitImprover::Tried UnitImprover::improve_by_guess(std::uint32_t unit) {
  const std::bitset<max_devices> devices = devices_to_try(unit);
  const Outcome now = neighbourhood_.outcome();
  const bool estimated = guided_ && now.feasible() && neighbourhood_.can_estimate();
  if (estimated) neighbourhood_.consider(unit);
  struct To {
    std::optional<std::uint8_t> device;
    Outcome outcome;
  };
  To best, overflowing;
  for (std::size_t d = 0; d < problem_.device_count() && !budget_.spent(); ++d) {
    const auto device = static_cast<std::uint8_t>(d);
    if (!devices[d] || !neighbourhood_.can_move(unit, device)) continue;
    if (estimated && !is_worth_a_guess(device)) continue;
    const Outcome guess = neighbourhood_.guess(unit, device);
    if (!best.device || better(guess, best.outcome)) best = {device, guess};
    const bool only_memory = neighbourhood_.may_overflow() && (guess.makespan < now.makespan || !now.feasible());
    if (only_memory && (!overflowing.device || better(guess, overflowing.outcome))) overflowing = {device, guess};
  }
  if (budget_.spent()) return {};
  const bool promising = best.device && better(best.outcome, now);
  if (promising && accept_if_better(Change{unit, *best.device})) return {true, {}};
  if (overflowing.device && exchange(unit, *overflowing.device)) return {true, {}};
  if (promising || !best.device || !is_near(best.outcome, now)) return {};
  return {false, best.device};
}

double UnitImprover::weight(std::uint32_t unit) const {
  const Grouping& units = neighbourhood_.units();
  double work = 0;
  for (const std::uint32_t op : units.members[unit])
    work += static_cast<double>(problem_.time(OpId{op}, DeviceId{neighbourhood_.placement().device[op]}));
  return work * static_cast<double>(units.count()) / static_cast<double>(neighbourhood_.outcome().makespan);
}

bool UnitImprover::improve_blindly(std::uint32_t unit, std::uint8_t device) {
  const Ticks before = neighbourhood_.outcome().makespan;
  if (!by_cost_.may_check_blindly(before, weight(unit))) return false;
  const bool improved = accept_if_better(Change{unit, device});
  by_cost_.checked_blindly(improved ? before - neighbourhood_.outcome().makespan : 0);
  return improved;
}

bool UnitImprover::improve(std::uint32_t unit) {
  const Outcome before = neighbourhood_.outcome();
  const std::uint64_t cost = neighbourhood_.simulated_ops();
  const Tried tried = improve_by_guess(unit);
  if (!guided_ || neighbourhood_.guesses_times_exactly()) return tried.improved;
  const Ticks gained = before.feasible() ? before.makespan - neighbourhood_.outcome().makespan : 0;
  by_cost_.guessed(neighbourhood_.simulated_ops() - cost, gained);
  return tried.improved || (before.feasible() && tried.unpromising && improve_blindly(unit, *tried.unpromising));
}

}  // namespace emplace::search
