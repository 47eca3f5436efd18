// Search: for small graphs, the bound that branch and bound has proved when its time is over.
#include <algorithm>

#include "search/bounds/context.hpp"
#include "search/exact/schedule_search.hpp"

namespace emplace::search {

namespace {

constexpr std::size_t most_ops = 100;
constexpr std::size_t table_bytes = std::size_t{128} << 20;

Ticks search(BoundContext& context) {
  if (context.problem.op_count() > most_ops || context.deadline.passed()) return 0;
  const Deadline& deadline = context.deadline;
  const StepModel model(context.problem, deadline);
  const SearchLimits limits{std::numeric_limits<std::uint64_t>::max(), table_bytes, [&] { return deadline.passed(); }};
  const SearchResult result = search_schedules(model, never, limits, [](const Placement&, Ticks) { return true; });
  context.nothing_feasible = result.complete && result.best == never;
  return result.lower_bound == never ? 0 : result.lower_bound;
}

}  // namespace

BoundEntry search_bound() {
  BoundEntry entry;
  entry.name = "search";
  entry.summary =
      "Branch and bound over all schedules of up to 100 ops: the optimum, or the bound proved when the time is over.";
  entry.bound = search;
  return entry;
}

}  // namespace emplace::search
