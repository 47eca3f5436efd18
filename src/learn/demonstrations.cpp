#include "learn/demonstrations.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/interrupt.hpp"
#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/search/placer.hpp"

namespace emplace::learn {

void describe(TeacherOptions& o, OptionVisitor& visit) {
  visit(
      "teacher", o.teacher,
      {.help = "A placer (`emplace list placers`) whose placement of each problem's units is one more sample of every "
               "batch; the policy must decide a device for each unit. Empty: none."});
  visit("teacher_moves", o.teacher_moves,
        {.min = 1,
         .max = 1e6,
         .unit = "evaluations",
         .help = "The teacher's budget for each unit of a problem.",
         .only_with = {{"teacher", {""}, true}}});
}

namespace {

bool interchangeable(const Problem& p, std::size_t a, std::size_t b) {
  const std::size_t devices = p.device_count();
  if (p.devices[a].kind != p.devices[b].kind || p.devices[a].memory != p.devices[b].memory) return false;
  const auto route = [&](std::size_t from, std::size_t to) { return p.route_class[from * devices + to]; };
  if (route(a, b) != route(b, a)) return false;
  for (std::size_t d = 0; d < devices; ++d)
    if (d != a && d != b && (route(a, d) != route(b, d) || route(d, a) != route(d, b))) return false;
  for (std::size_t op = 0; op < p.op_count(); ++op)
    if (p.op_time[op * devices + a] != p.op_time[op * devices + b]) return false;
  return true;
}

}  // namespace

void order_equal_devices(const policy::PolicyProblem& of, std::vector<std::uint8_t>& device) {
  const Problem& p = *of.problem;
  const std::size_t devices = p.device_count();
  std::vector<std::uint32_t> position(p.op_count());
  for (std::uint32_t i = 0; i < p.op_count(); ++i) position[p.topological[i]] = i;
  std::vector<double> sum(devices, 0.0), count(devices, 0.0);
  for (std::size_t op = 0; op < p.op_count(); ++op) {
    const std::uint8_t d = device[of.grouping.unit_of_op[op]];
    sum[d] += position[op];
    ++count[d];
  }
  const auto mean = [&](std::size_t d) {
    return count[d] > 0 ? sum[d] / count[d] : std::numeric_limits<double>::infinity();
  };
  std::vector<std::uint8_t> number(devices);
  std::vector<bool> done(devices, false);
  for (std::size_t first = 0; first < devices; ++first) {
    if (done[first]) continue;
    std::vector<std::size_t> equal;
    for (std::size_t d = first; d < devices; ++d)
      if (!done[d] && (d == first || interchangeable(p, first, d))) equal.push_back(d);
    std::vector<std::size_t> sorted = equal;
    std::ranges::stable_sort(sorted, {}, mean);
    for (std::size_t i = 0; i < equal.size(); ++i) {
      number[sorted[i]] = static_cast<std::uint8_t>(equal[i]);
      done[equal[i]] = true;
    }
  }
  for (std::uint8_t& d : device) d = number[d];
}

policy::Rollout Demonstrations::find(std::uint32_t number) const {
  const policy::PolicyProblem& of = setup_.problems[number];
  const Problem problem = with_groups(*of.problem, of.grouping);
  const Problem* const problems[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(problems, setup_.scoring);
  search::PlacerRequest request;
  request.problem = &problem;
  request.schedule = setup_.scoring.schedule;
  request.objective = setup_.scoring.objective;
  request.pipeline = setup_.scoring.pipeline;
  request.seed = setup_.seed;
  request.evaluations = static_cast<std::uint64_t>(options_.teacher_moves) * of.grouping.count();
  request.evaluator = evaluator.get();
  request.stop = end_at_stop;
  const search::PlacerResult found = search::place_with(options_.teacher, request, ConfigTable("teacher"));
  policy::Rollout rollout;
  rollout.problem = number;
  rollout.outcome = found.outcome;
  for (std::size_t unit = 0; unit < of.grouping.count(); ++unit)
    rollout.actions.push_back(found.placement.device[of.grouping.members[unit].front()]);
  // Devices of equal figures may still share channels with different others: the order is kept only if it is no worse.
  std::vector<std::uint8_t> ordered = rollout.actions;
  order_equal_devices(of, ordered);
  Placement placement = of.grouping.expand(ordered);
  placement.order = found.placement.order;
  const evaluate::EvaluationJob job{0, &placement};
  const Outcome outcome = evaluator->evaluate({&job, 1}).front();
  if (!better(found.outcome, outcome)) {
    rollout.actions = std::move(ordered);
    rollout.outcome = outcome;
  }
  return rollout;
}

const policy::Rollout* Demonstrations::of(std::uint32_t problem, const policy::Policy& policy) {
  if (!policy.independent_heads())
    throw InputError("cross-entropy.teacher", "the policy's decisions are not one device for each unit");
  std::optional<policy::Rollout>& found = found_.at(problem);
  if (!found) found = find(problem);
  return found->outcome.feasible() ? &*found : nullptr;
}

}  // namespace emplace::learn
