#include "verdict/references.hpp"

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "search/common/deadline.hpp"
#include "search/common/predicted_time.hpp"

namespace emplace::verdict {

namespace {

constexpr std::uint64_t most_simulated_ops = 4'000'000;

// The placer's result, or nothing if it cannot place this problem or finds no feasible placement.
std::optional<Reference> reference_by(const std::string& method, const search::PlacerRequest& request,
                                      std::uint64_t& evaluations) {
  try {
    search::PlacerResult result = search::place_with(method, request, ConfigTable("verdict"));
    evaluations += result.evaluations;
    if (!result.outcome.feasible()) return std::nullopt;
    return Reference{method, std::move(result.placement), result.outcome};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::string device_with_most_ops(const Problem& problem, const Placement& placement) {
  std::vector<std::size_t> ops(problem.device_count());
  for (const std::uint8_t device : placement.device) ++ops[device];
  return problem.devices[static_cast<std::size_t>(std::ranges::max_element(ops) - ops.begin())].name;
}

// How many evaluations `single` and `expert` may make on a problem of this size.
std::uint64_t few_evaluations(const Problem& problem) {
  return std::max<std::uint64_t>(1, most_simulated_ops / problem.op_count());
}

}  // namespace

QuickReferences quick_references(const search::PlacerRequest& given, const QuickTime& time) {
  search::PlacerRequest request = given;
  request.seconds = std::nullopt;
  request.start = nullptr;
  request.on_progress = {};
  const Problem& problem = *request.problem;
  QuickReferences quick;
  // False once the evaluations are used up.
  const auto run = [&](const std::string& method, std::optional<std::uint64_t> most) {
    if (given.evaluations && quick.evaluations >= *given.evaluations) return false;
    request.evaluations = most;
    if (given.evaluations) {
      const std::uint64_t left = *given.evaluations - quick.evaluations;
      request.evaluations = std::min(left, most.value_or(left));
    }
    if (std::optional<Reference> reference = reference_by(method, request, quick.evaluations))
      quick.found.push_back(std::move(*reference));
    return true;
  };
  run("single", few_evaluations(problem));
  if (!problem.expert.empty()) run("expert", few_evaluations(problem));
  if (time.predicted <= 0) return quick;
  const search::Deadline deadline(std::isfinite(time.most) ? std::optional(time.most) : std::nullopt);
  double predicted = 0;
  for (const std::string& method : search::quick_placers_by_time(problem, request.objective)) {
    if (deadline.passed() || (request.stop && request.stop())) break;
    if (method == "single" || method == "expert") continue;
    const search::PredictedTime takes = search::predicted_time(method, problem);
    if (predicted + takes.first > time.predicted) continue;
    predicted += takes.first;
    if (std::isfinite(time.most)) request.seconds = std::max(deadline.left(), search::least_seconds);
    if (!run(method, std::nullopt)) break;
  }
  return quick;
}

References find_references(const search::PlacerRequest& given, const QuickTime& time) {
  const Problem& problem = *given.problem;
  References found;
  found.bound = search::lower_bound(problem, given.objective);
  search::PlacerRequest request = given;
  request.evaluations = std::nullopt;
  QuickReferences quick = quick_references(request, time);
  found.evaluations = quick.evaluations;
  found.tried_every_device = few_evaluations(problem) >= problem.device_count();
  for (Reference& each : quick.found) {
    if (each.method == "single") found.single = each;
    if (each.method == "expert") found.expert = each;
    if (!found.quick || each.outcome.makespan < found.quick->outcome.makespan) found.quick = std::move(each);
  }
  if (found.single) found.single_device = device_with_most_ops(problem, found.single->placement);
  return found;
}

}  // namespace emplace::verdict
