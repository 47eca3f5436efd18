// With weights y_d >= 0 that sum to 1, the largest load is at least their mean of the devices' loads, and so at least
// the sum over ops of min_d y_d time(op, d): the dual of the linear program that spreads every op freely. Communication
// is left out.
#include <algorithm>
#include <cmath>
#include <vector>

#include "emplace/search/bound.hpp"

namespace emplace {

namespace {

// How many times longer an op can take on the reference than on each device, at most. Ops of one tick (a cost of 0) say
// nothing of a device's speed; any weights give a bound.
std::vector<double> weights_against(const Problem& p, std::size_t reference) {
  const std::size_t devices = p.device_count();
  std::vector<double> weight(devices, 0);
  for (std::size_t op = 0; op < p.op_count(); ++op) {
    const Ticks at_reference = p.op_time[op * devices + reference];
    if (at_reference <= 1) continue;  // cannot_run too
    for (std::size_t d = 0; d < devices; ++d) {
      const Ticks there = p.op_time[op * devices + d];
      if (there != cannot_run)
        weight[d] = std::max(weight[d], static_cast<double>(at_reference) / static_cast<double>(there));
    }
  }
  return weight;
}

double weighted_load(const Problem& p, const std::vector<double>& weight) {
  const std::size_t devices = p.device_count();
  double sum = 0;
  for (const double each : weight) sum += each;
  if (!(sum > 0)) return 0;
  double load = 0;
  for (std::size_t op = 0; op < p.op_count(); ++op) {
    double smallest = HUGE_VAL;
    for (std::size_t d = 0; d < devices; ++d)
      if (const Ticks time = p.op_time[op * devices + d]; time != cannot_run)
        smallest = std::min(smallest, weight[d] * static_cast<double>(time));
    load += smallest;
  }
  return load / sum;
}

}  // namespace

LowerBound pipeline_lower_bound(const Problem& problem) {
  const std::size_t devices = problem.device_count();
  Ticks longest = 0;
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    Ticks fastest = total_limit;
    for (std::size_t d = 0; d < devices; ++d)
      if (const Ticks time = problem.op_time[op * devices + d]; time != cannot_run) fastest = std::min(fastest, time);
    longest = std::max(longest, fastest);
  }
  double load = weighted_load(problem, std::vector<double>(devices, 1));
  for (std::size_t reference = 0; reference < devices; ++reference)
    load = std::max(load, weighted_load(problem, weights_against(problem, reference)));
  // Each sum of n doubles is right to n half units in the last place: stay below by more than that.
  const double slack = 4 * static_cast<double>(problem.op_count() + devices) * 0x1p-52;
  const auto certain = static_cast<Ticks>(std::floor(load * (1 - slack)));
  return longest >= certain ? LowerBound{longest, "longest op"} : LowerBound{certain, "load"};
}

}  // namespace emplace
