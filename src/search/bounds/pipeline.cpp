// Bounds on a pipeline's load: only the compute time of the busiest device, by the weights of load_weights.hpp (in
// docs/papers/tarnawski.md, section 7 item 6, by those against one reference). Memory has other rules than in a step,
// so every device that can run a unit is assumed to be able to hold it. Communication is left out.
#include <algorithm>

#include "search/bounds/context.hpp"

namespace emplace::search {

namespace {

UnitTimes units_of(const Problem& problem) {
  std::vector<std::uint8_t> runs;
  for (const Ticks time : problem.op_time) runs.push_back(time != cannot_run);
  return unit_times(problem, runs);
}

Ticks quick(BoundContext& context) { return pipeline_lower_bound(context.problem).ticks; }

Ticks pipeline_linear_bound(BoundContext& context) {
  const UnitTimes units = units_of(context.problem);
  return best_load_weights(units, quick_load_weights(units), context.deadline).bound;
}

}  // namespace

LowerBound pipeline_lower_bound(const Problem& problem) {
  const UnitTimes units = units_of(problem);
  Ticks longest = 0;
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    Ticks fastest = total_limit;
    for (std::size_t d = 0; d < units.devices; ++d)
      if (const Ticks time = units.time[unit * units.devices + d]; time != cannot_run)
        fastest = std::min(fastest, time);
    longest = std::max(longest, fastest);
  }
  const Ticks load = quick_load_weights(units).bound;
  return longest >= load ? LowerBound{longest, "longest op"} : LowerBound{load, "load"};
}

BoundEntry pipeline_load_bound() {
  BoundEntry entry;
  entry.name = "weighted-load";
  entry.summary = "The larger of the longest op and the work divided among devices weighted by their speed.";
  entry.reference = "Tarnawski et al. 2020";
  entry.objective = Objective::pipeline;
  entry.bound = quick;
  return entry;
}

BoundEntry pipeline_linear_load_bound() {
  BoundEntry entry = load_bound();
  entry.objective = Objective::pipeline;
  entry.bound = pipeline_linear_bound;
  return entry;
}

}  // namespace emplace::search
