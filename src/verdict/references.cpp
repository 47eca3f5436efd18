#include "verdict/references.hpp"

#include <algorithm>

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

}  // namespace

References find_references(const search::PlacerRequest& given, const QuickTime& time) {
  search::PlacerRequest request = given;
  request.seconds = std::nullopt;
  request.evaluations = std::max<std::uint64_t>(1, most_simulated_ops / given.problem->op_count());
  request.start = nullptr;
  request.on_progress = {};
  const Problem& problem = *request.problem;
  References found;
  found.bound = search::lower_bound(problem, request.objective);
  const auto consider = [&](const std::optional<Reference>& reference) {
    if (reference && (!found.quick || reference->outcome.makespan < found.quick->outcome.makespan))
      found.quick = reference;
  };
  found.tried_every_device = *request.evaluations >= problem.device_count();
  found.single = reference_by("single", request, found.evaluations);
  if (found.single) found.single_device = device_with_most_ops(problem, found.single->placement);
  if (!problem.expert.empty()) found.expert = reference_by("expert", request, found.evaluations);
  consider(found.single);
  consider(found.expert);
  if (time.predicted <= 0) return found;
  const search::Deadline deadline(time.most);
  request.evaluations = std::nullopt;
  double predicted = 0;
  for (const std::string& method : search::quick_placers_by_time(problem, request.objective)) {
    if (deadline.passed() || (request.stop && request.stop())) break;
    if (method == "single" || method == "expert") continue;
    const search::PredictedTime takes = search::predicted_time(method, problem);
    if (predicted + takes.first > time.predicted) continue;
    predicted += takes.first;
    request.seconds = std::max(deadline.left(), search::least_seconds);
    consider(reference_by(method, request, found.evaluations));
  }
  return found;
}

}  // namespace emplace::verdict
