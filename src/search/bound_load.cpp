// Load: the linear program that spreads the ops freely over unrelated machines.
#include "bound_context.hpp"

namespace emplace {

namespace {

Ticks load(BoundContext& context) {
  const UnitTimes units = unit_times(context.problem, context.possible);
  context.weights = best_load_weights(units, quick_load_weights(units), context.deadline);
  return context.weights->bound;
}

// Memory counts otherwise in a pipeline, so all that can run an op may hold it.
Ticks pipeline_load(BoundContext& context) {
  const Problem& problem = context.problem;
  std::vector<std::uint8_t> possible;
  for (const Ticks time : problem.op_time) possible.push_back(time != cannot_run);
  const UnitTimes units = unit_times(problem, possible);
  return best_load_weights(units, quick_load_weights(units), context.deadline).bound;
}

Ticks pipeline_quick(BoundContext& context) { return pipeline_lower_bound(context.problem).ticks; }

}  // namespace

BoundEntry load_bound() {
  BoundEntry entry;
  entry.name = "load";
  entry.summary = "The work spread freely over unlike devices, by linear program.";
  entry.reference = "Lenstra, Shmoys, Tardos (1990)";
  entry.bound = load;
  return entry;
}

BoundEntry pipeline_load_bound() {
  BoundEntry entry;
  entry.name = "weighted-load";
  entry.summary = "The longest op, and the work over devices weighted by their speed.";
  entry.reference = "Tarnawski et al. 2020";
  entry.objective = Objective::pipeline;
  entry.bound = pipeline_quick;
  return entry;
}

BoundEntry pipeline_linear_load_bound() {
  BoundEntry entry = load_bound();
  entry.objective = Objective::pipeline;
  entry.bound = pipeline_load;
  return entry;
}

}  // namespace emplace
