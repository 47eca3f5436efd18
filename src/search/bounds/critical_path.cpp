// Critical path: the largest value over all ops of the earliest end plus the rest of the step, on the device where that
// sum is least. Transfers count if no choice of devices avoids them.
#include <algorithm>

#include "search/bounds/context.hpp"

namespace emplace::search {

namespace {

// Every op is on some device, where it cannot end earlier, and the rest of the step cannot be shorter (earliest.hpp).
Ticks longest_through(const Problem& problem, const EarliestTimes& times) {
  const std::size_t devices = problem.device_count();
  Ticks longest = 0;
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    Ticks through = never;
    for (std::size_t d = 0; d < devices; ++d)
      through = std::min(through, later(times.end[op * devices + d], times.tail[op * devices + d]));
    if (through != never) longest = std::max(longest, through);
  }
  return longest;
}

Ticks critical_path(BoundContext& context) { return longest_through(context.problem, context.earliest); }

// The quick effort is nearly free; each next one starts from the times of the one before.
constexpr JointEffort efforts[] = {{100, 0, 0}, {300, 1, 16}, {300, 1, 128}, {1000, 2, 64}};
constexpr double joint_share = 0.5;  // of the time that is left

Ticks joint_path(BoundContext& context) {
  const Deadline deadline(context.deadline.left() * joint_share, [&] { return context.deadline.passed(); });
  context.joint = context.earliest;
  for (const JointEffort& effort : efforts)
    if (!deadline.passed())
      context.joint = joint_times(context.problem, context.possible, *context.joint, deadline, effort);
  context.cut_short = context.cut_short || deadline.passed();
  return longest_through(context.problem, *context.joint);
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

BoundEntry joint_path_bound() {
  BoundEntry entry;
  entry.name = "joint-path";
  entry.summary =
      "The longest path, where ops that cannot wait for a transfer run one after the other on one device, and the "
      "transfers of a device wait for each other.";
  entry.reference = "Papadimitriou and Yannakakis (1990)";
  entry.bound = joint_path;
  return entry;
}

}  // namespace emplace::search
