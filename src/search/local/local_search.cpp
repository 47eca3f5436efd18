#include "search/local/local_search.hpp"

#include <algorithm>
#include <bitset>
#include <numeric>
#include <utility>
#include <vector>

#include "emplace/base/random.hpp"
#include "search/common/deadline.hpp"
#include "search/local/moves.hpp"
#include "search/local/neighbourhood.hpp"

namespace emplace::search {

namespace {

class Budget {
 public:
  Budget(const LocalSearchOptions& options, const Neighbourhood& neighbourhood)
      : options_(options), neighbourhood_(neighbourhood), deadline_(options.seconds, options.stop) {}

  // Looks at the clock only now and then, because a guess may take as little time as that.
  [[nodiscard]] bool spent() {
    constexpr std::uint64_t ops_between_looks = 8192, ops_of_guess = 16;  // about 0.2 ms; a guess without any op
    const std::uint64_t evaluations = neighbourhood_.evaluations();
    if (options_.evaluations && evaluations >= *options_.evaluations) return true;
    const std::uint64_t simulated = neighbourhood_.guessed_ops() + ops_of_guess * evaluations +
                                    neighbourhood_.checks() * neighbourhood_.units().unit_of_op.size();
    if (passed_ || simulated < next_look_) return passed_;
    next_look_ = simulated + ops_between_looks;
    return passed_ = deadline_.passed();
  }

 private:
  const LocalSearchOptions& options_;
  const Neighbourhood& neighbourhood_;
  const Deadline deadline_;
  std::uint64_t next_look_ = 0;
  bool passed_ = false;
};

void shuffle(std::vector<std::uint32_t>& items, Stream random) {
  for (auto left = static_cast<std::uint32_t>(items.size()); left > 1; --left)
    std::swap(items[left - 1], items[random.below(left)]);
}

// The state of a search: random stream, counts and budget.
struct Climb {
  const Problem& problem;
  Neighbourhood& neighbourhood;
  Budget& budget;
  Stream& random;
  bool guided;
};

// Which units have an op on the critical path, or a tensor that is sent on it.
class CriticalUnits {
 public:
  explicit CriticalUnits(Neighbourhood& neighbourhood)
      : neighbourhood_(neighbourhood), is_critical_(neighbourhood.units().count(), 0) {}

  // Of the current placement; contains() may later use a path that is some moves old.
  void renew() { mark(neighbourhood_.critical()); }
  // True for all units where memory or a route is missing, because the path does not show what would help.
  bool contains(std::uint32_t unit) {
    if (!neighbourhood_.outcome().feasible()) return true;
    const CriticalChoices& critical = neighbourhood_.recently_critical();
    if (neighbourhood_.critical_serial() != serial_) mark(critical);
    return is_critical_[unit] != 0;
  }

 private:
  void mark(const CriticalChoices& critical) {
    serial_ = neighbourhood_.critical_serial();
    std::ranges::fill(is_critical_, 0);
    for (const auto* ops : {&critical.ops, &critical.ends})
      for (const std::uint32_t op : *ops) is_critical_[neighbourhood_.units().unit_of_op[op]] = 1;
  }

  Neighbourhood& neighbourhood_;
  std::vector<std::uint8_t> is_critical_;  // U
  std::uint64_t serial_ = 0;
};

// The devices on which the unit is tried.
std::bitset<max_devices> devices_to_try(Climb& climb, std::uint32_t unit) {
  const Problem& problem = climb.problem;
  std::bitset<max_devices> devices;
  if (!climb.guided || !climb.neighbourhood.outcome().feasible()) return devices.set();
  const auto& at = climb.neighbourhood.placement().device;
  for (const std::uint32_t op : climb.neighbourhood.units().members[unit]) {
    for (const std::uint32_t tensor : problem.inputs[op]) devices.set(at[problem.producer[tensor].index()]);
    for (const std::uint32_t tensor : problem.outputs[op])
      for (const std::uint32_t consumer : problem.consumers[tensor]) devices.set(at[consumer]);
  }
  if (problem.device_count() > 1) {
    const std::uint32_t other = climb.random.below(static_cast<std::uint32_t>(problem.device_count()) - 1);
    const std::uint32_t home = at[climb.neighbourhood.units().members[unit].front()];
    devices.set(other < home ? other : other + 1);
  }
  return devices;
}

bool accept_if_better(Climb& climb, const Change& change) {
  if (climb.budget.spent() || !better(climb.neighbourhood.check(change), climb.neighbourhood.outcome())) return false;
  climb.neighbourhood.accept();
  return true;
}

// Exchanges the unit with the partner that has the best guess, if that is an improvement.
bool exchange(Climb& climb, std::uint32_t unit, std::uint8_t device) {
  Outcome best = climb.neighbourhood.outcome();
  Change change{unit, device, Change::none, {}};
  for (const std::uint32_t partner : partners(climb.neighbourhood, unit, device, climb.random)) {
    if (climb.budget.spent()) return false;
    const Outcome guess = climb.neighbourhood.guess({unit, device, partner, {}});
    if (!better(guess, best)) continue;
    best = guess;
    change.partner = partner;
  }
  return change.partner != Change::none && accept_if_better(climb, change);
}

// Moves the unit to the device with the best guess, if that is an improvement; if only memory prevents it, in exchange
// for another unit.
bool improve(Climb& climb, std::uint32_t unit) {
  Neighbourhood& neighbourhood = climb.neighbourhood;
  const std::bitset<max_devices> devices = devices_to_try(climb, unit);
  const Outcome now = neighbourhood.outcome();
  struct To {
    std::optional<std::uint8_t> device;
    Outcome outcome;
  };
  To best{{}, now}, overflowing;
  for (std::size_t d = 0; d < climb.problem.device_count() && !climb.budget.spent(); ++d) {
    const auto device = static_cast<std::uint8_t>(d);
    if (!devices[d] || !neighbourhood.can_move(unit, device)) continue;
    const Outcome guess = neighbourhood.guess(unit, device);
    if (better(guess, best.outcome)) best = {device, guess};
    const bool only_memory = neighbourhood.may_overflow() && (guess.makespan < now.makespan || !now.feasible());
    if (only_memory && (!overflowing.device || better(guess, overflowing.outcome))) overflowing = {device, guess};
  }
  if (climb.budget.spent()) return false;
  if (best.device) {
    const Outcome exact = neighbourhood.check(unit, *best.device);
    if (better(exact, now)) {
      neighbourhood.accept();
      return true;
    }
  }
  return overflowing.device && exchange(climb, unit, *overflowing.device);
}

// Makes one pass over the order moves of the critical path at its beginning. Returns how many moves were made.
std::uint64_t improve_order(Climb& climb) {
  std::uint64_t made = 0;
  const std::vector<OrderMove> moves = climb.neighbourhood.critical().moves;
  for (const OrderMove& move : moves) {
    if (climb.budget.spent()) break;
    if (!climb.neighbourhood.can_pass(move)) continue;
    Change change;
    change.order = move;
    if (better(climb.neighbourhood.guess(change), climb.neighbourhood.outcome()))
      made += accept_if_better(climb, change);
  }
  return made;
}

}  // namespace

LocalSearchResult local_search(const Problem& problem, const Grouping& units, Schedule schedule, const Placement& start,
                               const LocalSearchOptions& options) {
  Neighbourhood neighbourhood(problem, units, schedule);
  Budget budget(options, neighbourhood);
  neighbourhood.start(start);

  LocalSearchResult result;
  std::vector<std::uint32_t> order(units.count());
  Stream random({.seed = options.seed, .purpose = Purpose::search, .update = 0, .index = 1});
  Climb climb{problem, neighbourhood, budget, random, options.guided};
  CriticalUnits critical(neighbourhood);
  for (std::uint64_t sweep = 0; !result.settled && !budget.spent(); ++sweep) {
    std::iota(order.begin(), order.end(), 0U);
    shuffle(order, Stream({.seed = options.seed, .purpose = Purpose::search, .update = sweep, .index = 0}));
    const std::uint64_t before = result.accepted;
    if (options.guided) critical.renew();
    for (const std::uint32_t unit : order) {
      if (budget.spent()) break;
      if (options.guided && !critical.contains(unit)) continue;
      result.accepted += improve(climb, unit);
    }
    if (neighbourhood.has_order() && !budget.spent()) result.accepted += improve_order(climb);
    result.settled = result.accepted == before && !budget.spent();
  }
  result.placement = neighbourhood.placement();
  result.outcome = neighbourhood.outcome();
  result.guesses = neighbourhood.guesses();
  result.checks = neighbourhood.checks();
  return result;
}

}  // namespace emplace::search
