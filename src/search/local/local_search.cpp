#include "search/local/local_search.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "emplace/base/random.hpp"
#include "search/common/shuffle.hpp"
#include "search/local/move_budget.hpp"
#include "search/local/neighbourhood.hpp"
#include "search/local/unit_improver.hpp"

namespace emplace::search {

namespace {

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

// Makes one pass over the order moves of the critical path at its beginning. Returns how many moves were made.
std::uint64_t improve_order(Neighbourhood& neighbourhood, MoveBudget& budget, UnitImprover& improver) {
  std::uint64_t made = 0;
  const std::vector<OrderMove> moves = neighbourhood.critical().moves;
  for (const OrderMove& move : moves) {
    if (budget.spent()) break;
    if (!neighbourhood.can_pass(move)) continue;
    Change change;
    change.order = move;
    if (better(neighbourhood.guess(change), neighbourhood.outcome())) made += improver.accept_if_better(change);
  }
  return made;
}

}  // namespace

LocalSearchResult local_search(const Problem& problem, const Grouping& units, Schedule schedule, const Placement& start,
                               const LocalSearchOptions& options) {
  Neighbourhood neighbourhood(problem, units, schedule);
  MoveBudget budget(neighbourhood, options.evaluations, options.seconds, options.stop);
  neighbourhood.start(start);

  LocalSearchResult result;
  std::vector<std::uint32_t> order(units.count());
  Stream random({.seed = options.seed, .purpose = Purpose::search, .update = 0, .index = 1});
  UnitImprover improver(problem, neighbourhood, budget, random, options.guided);
  CriticalUnits critical(neighbourhood);
  for (std::uint64_t sweep = 0; !result.settled && !budget.spent(); ++sweep) {
    std::iota(order.begin(), order.end(), 0U);
    Stream of_sweep({.seed = options.seed, .purpose = Purpose::search, .update = sweep, .index = 0});
    shuffle(order, of_sweep);
    const std::uint64_t before = result.accepted;
    if (options.guided) critical.renew();
    for (const std::uint32_t unit : order) {
      if (budget.spent()) break;
      if (options.guided && !critical.contains(unit)) continue;
      result.accepted += improver.improve(unit);
    }
    if (neighbourhood.has_order() && !budget.spent()) result.accepted += improve_order(neighbourhood, budget, improver);
    result.settled = result.accepted == before && !budget.spent();
  }
  result.placement = neighbourhood.placement();
  result.outcome = neighbourhood.outcome();
  result.guesses = neighbourhood.guesses();
  result.checks = neighbourhood.checks();
  return result;
}

}  // namespace emplace::search
