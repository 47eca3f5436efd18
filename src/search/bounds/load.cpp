// Load: the linear program that divides the ops freely among unrelated machines.
#include "search/bounds/context.hpp"

namespace emplace::search {

namespace {

Ticks load(BoundContext& context) {
  const UnitTimes units = unit_times(context.problem, context.possible);
  context.weights = best_load_weights(units, quick_load_weights(units), context.deadline);
  return context.weights->bound;
}

}  // namespace

BoundEntry load_bound() {
  BoundEntry entry;
  entry.name = "load";
  entry.summary = "The work divided freely among unlike devices, by linear program.";
  entry.reference = "Lenstra, Shmoys, Tardos (1990)";
  entry.bound = load;
  return entry;
}

}  // namespace emplace::search
