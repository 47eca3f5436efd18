#include "report/placement_json.hpp"

#include <fmt/core.h>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/search/bound.hpp"
#include "report/page.hpp"
#include "report/page_head.hpp"
#include "report/proved_bound.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::report {

namespace {

Json problem_json(const FoundPlacement& found) {
  const Problem& problem = found.problem();
  Json devices = Json::array(), warnings = Json::array();
  for (const Device& device : problem.devices)
    devices.push_back({{"name", page_text(device.name, 100)}, {"kind", page_text(device.kind, 50)}});
  for (const std::string& warning : found.loaded->warnings) warnings.push_back(page_text(warning, 500));
  return {{"name", page_text(problem.name, 200)}, {"ops", problem.op_count()},
          {"tensors", problem.tensor_count()},    {"edges", problem.edge_count()},
          {"channels", problem.channels.size()},  {"devices", std::move(devices)},
          {"warnings", std::move(warnings)}};
}

// Compute and transfer time of each device of a pipeline for a sample. Null if the placement has no load.
Json loads_json(const Problem& problem, const Placement& placement) {
  Json rows = Json::array();
  const std::vector<simulate::DeviceLoad> loads = simulate::pipeline_loads(problem, placement);
  for (std::size_t d = 0; d < loads.size(); ++d)
    rows.push_back({{"device", d},
                    {"compute", loads[d].forward.compute + loads[d].backward.compute},
                    {"transfers", loads[d].forward.transfer + loads[d].backward.transfer}});
  return rows.empty() ? Json() : rows;
}

// For a pipeline, only the outcome is set: it has no step to explain.
Explanation simulated(const FoundPlacement& found, const MoveLimits& moves) {
  const Problem& problem = found.problem();
  if (found.scoring.objective == Objective::step)
    return explain(problem, found.placement, found.scoring.schedule, moves);
  Explanation explanation;
  explanation.outcome =
      simulate::make_pipeline_engine(problem)->evaluate(found.placement, {.usage = &explanation.usage});
  explanation.reason =
      simulate::pipeline_reason_text(problem, explanation.outcome, found.placement.device, explanation.usage);
  return explanation;
}

}  // namespace

Json placement_json(const FoundPlacement& found, const LearnedCurve& curve, const PlacementLimits& limits) {
  Json json = {{"source", page_text(found.source, 300)}};
  json["missing"] = found.missing.empty() ? Json() : Json(page_text(found.missing, 1000));
  if (!found.missing.empty()) return json;

  const Problem& problem = found.problem();
  const bool step = found.scoring.objective == Objective::step;
  const Explanation explanation = simulated(found, limits.moves);
  const Outcome& outcome = explanation.outcome;
  const search::LowerBound bound = found.bound.method.empty()
                                       ? proved_bound(problem, found.scoring, limits.bound_seconds, found.bound_file)
                                       : found.bound;
  const evaluate::EvaluatorChoice evaluator{found.recipe.options.evaluator, {}};
  const ShownItems shown(problem, found.placement, explanation, limits);
  json["problem"] = problem_json(found);
  json["schedule"] = name_of(found.scoring.schedule);
  json["evaluator"] = evaluator.name;
  json["measured"] = evaluate::entry_of(evaluator).measures;
  json["time"] = outcome.timed() ? Json(outcome.makespan) : Json();
  json["feasible"] = outcome.feasible();
  json["reason"] = page_text(explanation.reason, 500);
  json["bound"] = bound.ticks;
  json["bound_method"] = verdict::proof_text(bound);
  json["limits"] = step ? limits_json(problem, found.placement, explanation) : Json();
  json["ops"] = ops_json(problem, found.placement, shown);
  json["timeline"] = step ? timeline_json(problem, found.placement, explanation, shown, limits) : Json();
  json["memory"] = step ? memory_json(problem, explanation, limits) : Json();
  json["loads"] = step ? Json() : loads_json(problem, found.placement);
  json["groups"] = groups_json(found, explanation, shown, limits);
  json["few_baselines"] = has_few_baselines(found, limits);
  // Times that the training measured cannot be compared with the simulated ones of the placers.
  const LearnedCurve compared = json["measured"].get<bool>() ? LearnedCurve{.evaluations = curve.evaluations} : curve;
  json["baselines"] = baselines_json(found, outcome, explanation.reason, compared, limits);
  json["head"] = head_json(found.head ? *found.head : head_of(found, outcome, curve, json["baselines"], bound));
  return json;
}

}  // namespace emplace::report
