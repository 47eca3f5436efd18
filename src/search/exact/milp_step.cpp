// The step time by an integer program (CBC), over the devices and orders of the model of branch and bound, with which
// it is compared.
#include "search/exact/milp_step.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "search/common/search_session.hpp"
#include "search/common/units.hpp"
#include "search/exact/solver_options.hpp"
#include "search/exact/step_program.hpp"
#include "search/methods.hpp"

namespace emplace::search {

std::string too_large_for_step_program(const Problem& problem) {
  constexpr std::size_t most = 20;  // CBC needs minutes for that many; rows grow with the square
  if (problem.op_count() <= most) return "";
  return fmt::format(
      "{} ops are more than the {} that the integer program of a step takes; branch-and-bound and best take more",
      problem.op_count(), most);
}

namespace {

// A time by which some schedule ends: all ops one after the other, and every tensor sent to every device. Problems for
// which that exceeds total_limit have been refused before.
Ticks one_after_the_other(const Problem& problem) {
  Ticks sum = longest_compute(problem);
  const std::size_t classes = problem.route_classes.size();
  for (std::size_t tensor = 0; tensor < problem.tensor_count(); ++tensor) {
    Ticks slowest = 0;
    for (std::size_t c = 0; c < classes; ++c) slowest = std::max(slowest, problem.transfer_time[tensor * classes + c]);
    sum += slowest * static_cast<Ticks>(problem.device_count());
  }
  return sum;
}

}  // namespace

PlacerResult place_step_by_milp(const PlacerRequest& request, const ConfigTable& table) {
  const auto o = read_options<SolverOptions>(table);
  const Problem& problem = *request.problem;
  const Deadline deadline(request.seconds.value_or(o.seconds), request.stop);
  SearchSession session(request, "milp", std::numeric_limits<std::uint64_t>::max());
  session.begin();
  const auto ended = [&](const std::string& note) {
    PlacerResult result = session.result();
    result.steps.clear();
    result.note = note;
    return result;
  };
  if (session.exhausted()) return ended("the budget ended before the solver began");

  const StepModel model(problem, deadline);
  const Ticks latest = session.outcome().feasible() ? session.outcome().makespan : one_after_the_other(problem);
  const StepProgram program(problem, model, latest);
  const IntegerAnswer answer = minimise(program.program(), limits_of(o, request, deadline.left()));
  double bound = program.ticks_of(answer.bound);
  if (answer.solution.empty()) {
    if (answer.finished && !session.outcome().feasible())
      return ended("the solver found that no placement is feasible");
    if (answer.finished) bound = static_cast<double>(latest);
  } else {
    if (answer.finished) bound = program.ticks_of(answer.objective);
    Placement placement = program.placement_of(answer.solution);
    if (request.schedule == Schedule::fifo) placement.order.clear();
    const evaluate::EvaluationJob job{0, &placement};
    const Outcome outcome = request.evaluator->evaluate({&job, 1}).front();
    session.searched(1);
    session.offer(placement, outcome);
  }
  const double certain = std::clamp(bound, 0.0, static_cast<double>(latest)) * (1 - StepProgram::resolution);
  session.bound({static_cast<Ticks>(std::ceil(certain)), {}});
  PlacerResult result = ended("");
  if (result.proved_optimal) return result;
  const bool feasible = result.outcome.feasible();
  const double gap = feasible ? 1 - certain / static_cast<double>(result.outcome.makespan) : 1;
  result.proved_optimal = answer.finished && gap <= 3 * StepProgram::resolution;
  if (!result.proved_optimal)
    result.note =
        answer.finished
            ? fmt::format("the program is solved, but it leaves out {}", left_out_of_model(problem, request.schedule))
            : fmt::format("the solver {}: no step is below {} (gap {:.2f} %)", answer.failed ? "failed" : "ended early",
                          human_seconds(certain / ticks_per_second), 100 * gap);
  return result;
}

}  // namespace emplace::search
