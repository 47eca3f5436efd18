#include "app/compared_placers.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/interrupt.hpp"
#include "base/progress.hpp"
#include "emplace/base/error.hpp"
#include "emplace/search/placer.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::app {

namespace {

std::optional<double> seconds_of_comparisons(const experiment::Recipe& recipe) {
  constexpr double least = 5, share = 0.1;
  return recipe.options.seconds > 0 ? std::optional(least + share * recipe.options.seconds) : std::nullopt;
}

}  // namespace

search::Deadline deadline_of_comparisons(const experiment::Recipe& recipe) {
  return search::Deadline(seconds_of_comparisons(recipe));
}

std::string ComparedPlacers::missing(const experiment::Recipe& recipe) const {
  std::vector<std::string> parts;
  const auto add = [&](const std::vector<std::string>& methods, const char* what) {
    if (!methods.empty())
      parts.push_back(fmt::format("{} {} {}", join(methods, ", "), methods.size() == 1 ? "was" : "were", what));
  };
  add(ended_early, "ended early");
  add(left_out, "left out");
  if (parts.empty()) return {};
  const std::string ended = stop_requested() ? "were stopped on request"
                                             : fmt::format("ended after {} (5 s and a tenth of `seconds`)",
                                                           human_seconds(*seconds_of_comparisons(recipe)));
  return fmt::format("the comparisons {}: {}", ended, join(parts, "; "));
}

std::vector<std::string> compared_row(const std::string& name, const PlacementReport& report,
                                      const Placement& placement, const Outcome& outcome, std::uint64_t evaluations) {
  return {name, outcome.timed() ? human_seconds(to_seconds(outcome.makespan)) : "-",
          outcome.feasible()
              ? "yes"
              : "no: " + simulate::reason_of(report.objective, *report.problem, outcome, placement.device, {}),
          fmt::format("{}", evaluations)};
}

ComparedPlacers compare_with_placers(const experiment::Training& training, evaluate::Evaluator& evaluator,
                                     const PlacementReport& report, std::size_t p, std::size_t problems,
                                     const search::Deadline& deadline, TextTable& table) {
  const experiment::RecipeOptions& options = training.recipe().options;
  // With another evaluator than the simulator, an evaluation costs much more: `random` alone, with as many evaluations
  // as the training, would double the run's cost. The placers then search on the simulator, and only the placement that
  // each one finds is evaluated with the run's evaluator.
  const bool simulated = options.evaluator == evaluate::EvaluatorChoice().name;
  // With several problems, the workers' evaluator needs the problem's number, but placers always send number 0.
  std::unique_ptr<evaluate::Evaluator> local;
  if (problems > 1 || !simulated)
    local = evaluate::make_local_evaluator(std::span(&report.problem, 1), {report.schedule, report.objective});
  search::PlacerRequest request;
  request.problem = report.problem;
  request.schedule = report.schedule;
  request.objective = report.objective;
  request.seed = static_cast<std::uint64_t>(options.seed);
  request.evaluations = std::max<std::uint64_t>(1, report.evaluations);
  request.evaluator = local ? local.get() : &evaluator;
  const auto is_over = [&] { return stop_requested() || deadline.passed(); };
  request.stop = is_over;
  ComparedPlacers compared;
  Progress progress(true);
  const auto all = static_cast<double>(options.compare.size());
  std::size_t number = 0;
  for (const std::string& method : options.compare) {
    if (is_over()) {
      compared.left_out.push_back(method);
      continue;
    }
    const std::string doing = fmt::format("comparing with {} ({} of {})", method, number + 1, options.compare.size());
    const auto done = static_cast<double>(number++);
    progress.begin_part(done / all, doing);
    request.on_progress = [&](const search::PlacerProgress& news) {
      progress.update((done + std::min(news.progress, 0.999)) / all,
                      news.best.timed()
                          ? fmt::format("{}: {} so far", doing, human_seconds(to_seconds(news.best.makespan)))
                          : doing);
    };
    try {
      const search::PlacerResult result = search::place_with(method, request, ConfigTable("compare"));
      if (is_over()) compared.ended_early.push_back(method);
      const evaluate::EvaluationJob job{static_cast<std::uint32_t>(p), &result.placement};
      table.add(compared_row(method, report, result.placement,
                             simulated ? result.outcome : evaluator.evaluate(std::span(&job, 1)).front(),
                             result.evaluations));
      if (simulated) compared.found.push_back({method, result.placement, result.outcome});
    } catch (const InputError& error) {  // the method cannot place this problem: the table says why
      table.add({method, "-", fmt::format("no: {}", error.what()), "0"});
    }
  }
  progress.finish();
  return compared;
}

}  // namespace emplace::app
