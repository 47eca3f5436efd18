// Critical path: the largest value over all ops of the earliest end plus the rest of the step, on the device where that
// sum is least. Transfers count if no choice of devices avoids them.
#include <algorithm>

#include "search/bounds/context.hpp"

namespace emplace::search {

namespace {

// Every op is on some device, where it cannot end earlier, and the rest of the step cannot be shorter (earliest.hpp).
Ticks critical_path(BoundContext& context) {
  const std::size_t devices = context.problem.device_count();
  const EarliestTimes& times = context.earliest;
  Ticks longest = 0;
  for (std::size_t op = 0; op < context.problem.op_count(); ++op) {
    Ticks through = never;
    for (std::size_t d = 0; d < devices; ++d)
      through = std::min(through, later(times.end[op * devices + d], times.tail[op * devices + d]));
    if (through != never) longest = std::max(longest, through);
  }
  return longest;
}

}  // namespace

BoundEntry critical_path_bound() {
  BoundEntry entry;
  entry.name = "critical-path";
  entry.summary =
      "The longest path, every op on the best device for it, with the transfers that no placement can avoid.";
  entry.reference = "Kwok and Ahmad (1999)";
  entry.bound = critical_path;
  return entry;
}

}  // namespace emplace::search
