#include "app/plan_cost.hpp"

#include <fmt/core.h>

#include <unordered_map>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "deploy/exporter.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::app {

namespace {

source::LoadedProblem load(const deploy::ModelPlacement& placement, const source::SourceOptions& options,
                           const PlacedProblem& problem) {
  // The options are those with which the model is read; a problem's file was made with its own.
  if (!problem.source.empty())
    return source::load_problem(problem.source,
                                source::is_problem_file(problem.source) ? source::SourceOptions() : options);
  if (!source::is_graph_at_machine(placement.problem))
    throw InputError(placement.file, "does not name the machine; give --problem");
  const std::string machine = placement.problem.substr(placement.problem.rfind('@') + 1);
  return source::load_problem(placement.model, machine, options);
}

// The placement with the ops on the devices of the plan.
Placement in_plan(const Problem& problem, Placement placed, const deploy::ModelPlacement& placement,
                  const std::vector<std::string>& plan) {
  std::unordered_map<std::string_view, std::size_t> op_named, device_named;
  for (std::size_t i = 0; i < problem.op_count(); ++i) op_named.emplace(problem.op_names[i], i);
  for (std::size_t d = 0; d < problem.device_count(); ++d) device_named.emplace(problem.devices[d].name, d);
  for (std::size_t i = 0; i < plan.size(); ++i)  // both are of the same ops: the placement's file was read with both
    placed.device[op_named.at(placement.passed.graph.ops[i].name)] =
        static_cast<std::uint8_t>(device_named.at(plan[i]));
  return placed;
}

// Fills in what depends on the problem.
void judge(PlanCost& cost, const deploy::ModelPlacement& placement, const source::SourceOptions& options,
           PlacedProblem placed_problem, const std::vector<std::string>& plan) {
  source::LoadedProblem loaded = load(placement, options, placed_problem);
  cost.warnings = std::move(loaded.warnings);
  Problem& problem = loaded.problem;
  const formats::PlacementFile read = formats::read_placement_json(read_file(placement.file), placement.file, problem);
  if (cost.moved.empty()) return;
  const auto engine = [&] {
    return cost.objective == Objective::pipeline
               ? simulate::make_pipeline_engine(problem)
               : simulate::make_exact_engine(problem, read.schedule.value_or(Schedule::fifo));
  };
  const Placement planned = in_plan(problem, read.placement, placement, plan);
  const bool is_free_feasible = engine()->evaluate(planned).feasible();
  if (!placed_problem.is_given) placed_problem.constraints.apply(problem);
  Usage usage;
  cost.placement = engine()->evaluate(read.placement);
  cost.plan = engine()->evaluate(planned, {.usage = &usage});
  cost.problem = problem.name;
  if (cost.plan->feasible()) return;
  cost.reason = simulate::reason_of(cost.objective, problem, *cost.plan, planned.device, usage);
  if (is_free_feasible) cost.reason += " (under the constraints of the run)";
}

std::string time_of_plan(const Outcome& outcome, Objective objective) {
  if (!outcome.timed()) return "cannot run";
  return fmt::format("takes {} a {}", human_seconds(to_seconds(outcome.makespan)),
                     objective == Objective::pipeline ? "sample" : "step");
}

}  // namespace

PlanCost cost_of_plan(const deploy::ModelPlacement& placement, const source::SourceOptions& options,
                      const PlacedProblem& problem) {
  const std::vector<std::string> plan = placement.device_in_plan();
  PlanCost cost;
  cost.objective = problem.objective;
  for (std::size_t i = 0; i < plan.size(); ++i)
    if (plan[i] != placement.device_of_placed[i]) cost.moved.push_back(placement.passed.graph.ops[i].name);
  try {
    judge(cost, placement, options, problem, plan);
  } catch (const std::runtime_error& error) {  // InputError and EnvironmentError
    if (problem.is_given) throw;
    cost.reason = error.what();  // the files of the run's problem may be gone
  }
  return cost;
}

void say(const PlanCost& cost) {
  for (const std::string& warning : cost.warnings) log_warning("{}", warning);
  if (cost.moved.empty()) return;
  const std::string why = fmt::format(
      "frameworks run {} of the training step or of shared weights with their op of the model, not where "
      "placed: {}",
      deploy::counted(cost.moved.size(), "op"), deploy::listed(cost.moved));
  if (!cost.plan) {
    log_warning("the exported plan is not the placement ({}), and what it costs is not known: {}", why, cost.reason);
    return;
  }
  const std::string text =
      fmt::format("the exported plan {}, the placement {} (simulated: {}): {}{}",
                  time_of_plan(*cost.plan, cost.objective), time_of_plan(*cost.placement, cost.objective), cost.problem,
                  why, cost.reason.empty() ? "" : "; the plan is not feasible: " + cost.reason);
  if (!cost.plan->feasible() || cost.plan->makespan > cost.placement->makespan)
    log_warning("{}", text);
  else
    log_info("{}", text);
}

Json to_json(const PlanCost& cost) {
  if (cost.moved.empty()) return nullptr;
  const auto seconds = [](const std::optional<Outcome>& outcome) {
    return outcome && outcome->timed() ? Json(to_seconds(outcome->makespan)) : Json(nullptr);
  };
  return {{"moved", cost.moved.size()},
          {"problem", cost.problem.empty() ? Json(nullptr) : Json(cost.problem)},
          {"placement_s", seconds(cost.placement)},
          {"plan_s", seconds(cost.plan)},
          {"feasible", cost.plan ? Json(cost.plan->feasible()) : Json(nullptr)},
          {"reason", cost.reason.empty() ? Json(nullptr) : Json(cost.reason)}};
}

}  // namespace emplace::app
