// Slots: whole ops that have to run in a window of time. The bounds on work take ops as divisible; here one of m
// devices runs k + 1 of any k x m + 1 ops. If the step is to be short, transfers that take long keep ops on one device,
// which then count as one; so makespans are tried, and the largest one that is refuted is the bound.
#include <algorithm>

#include "search/bounds/context.hpp"
#include "search/bounds/slot_windows.hpp"

namespace emplace::search {

namespace {

constexpr double share = 0.1;  // of the time that is left

Ticks slots(BoundContext& context) {
  const Deadline deadline(context.deadline.left() * share, [&] { return context.deadline.passed(); });
  SlotWindows windows(context.problem, context.possible, context.times());
  Ticks refuted = context.best, step = std::max<Ticks>(1, refuted / 64);
  while (!deadline.passed() && windows.refutes(refuted + step, deadline)) refuted += step, step *= 2;
  for (step /= 2; step > 0 && !deadline.passed(); step /= 2)
    if (windows.refutes(refuted + step, deadline)) refuted += step;
  context.cut_short = context.cut_short || deadline.passed();
  return refuted > context.best ? refuted + 1 : 0;
}

}  // namespace

BoundEntry slots_bound() {
  BoundEntry entry;
  entry.name = "slots";
  entry.summary = "Whole ops, and those that transfers keep together, which have to run in a window of time.";
  entry.reference = "Dell'Amico, Martello (1995)";
  entry.bound = slots;
  return entry;
}

}  // namespace emplace::search
