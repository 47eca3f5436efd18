#include "app/training_result.hpp"

#include <fmt/core.h>

#include "app/compared_placers.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/search/bound.hpp"
#include "experiment/run/run_subject.hpp"
#include "verdict/infeasible.hpp"

namespace emplace::app {

namespace {

// What the metrics say about the end of a training on one problem; nothing for several, whose curves are mixed.
std::optional<verdict::CurveFacts> curve_of(const experiment::Training& training) {
  if (training.problems().size() != 1) return std::nullopt;
  const auto column = [&](const char* name) {
    const auto found = training.history().find(name);
    return found == training.history().end() ? std::vector<double>() : found->second;
  };
  return verdict::curve_facts({.best = column("best_step_time"),
                               .low = column("step_time_q10"),
                               .median = column("step_time_q50"),
                               .high = column("step_time_q90")});
}

bool is_trained_on(const experiment::Training& training, std::size_t p) { return p < training.problems().size(); }

// A problem's simulated result beside one device, the expert, quick placers and the bound. `found` are further
// placements to compare with.
struct Judged {
  verdict::References references;
  verdict::Verdict verdict;
};
Judged judge_result(const experiment::Training& training, const experiment::RunFolder& folder,
                    const PlacementReport& report, std::size_t p, std::vector<verdict::Reference> found = {}) {
  const evaluate::Scoring scoring{training.schedule(), training.objective()};
  const auto local = evaluate::make_local_evaluator(std::span(&report.problem, 1), scoring);
  search::PlacerRequest request;
  request.problem = report.problem;
  request.schedule = scoring.schedule;
  request.objective = scoring.objective;
  request.evaluator = local.get();
  Judged judged{
      stop_requested() ? verdict::find_references(request, {.predicted = 0}) : verdict::find_references(request), {}};
  for (verdict::Reference& each : found)
    if (each.outcome.feasible() && (!judged.references.quick || better(each.outcome, judged.references.quick->outcome)))
      judged.references.quick = std::move(each);
  verdict::Subject subject = experiment::subject_of_run(
      training.recipe(),
      {.run = folder.path(), .position = p, .problem = report.problem, .placement = report.placement});
  subject.method = report.method;
  subject.outcome = report.outcome;
  subject.proved_optimal = report.proved_optimal;
  subject.seconds = training.seconds();
  if (is_trained_on(training, p)) subject.curve = curve_of(training);
  verdict::explain_infeasible(subject, *report.problem, *report.placement, scoring);
  judged.verdict = verdict::judge(training.objective(), subject, judged.references);
  return judged;
}

const learn::Best& best_of(const experiment::Training& training, std::size_t p) {
  const std::size_t trained_on = training.problems().size();
  return p < trained_on ? training.best()[p] : training.held_out_best()[p - trained_on];
}

PlacementReport report_of(const experiment::Training& training, const Problem& problem, std::size_t p) {
  const learn::Best& best = best_of(training, p);
  PlacementReport report{.method = training.recipe().options.policy,
                         .problem = &problem,
                         .placement = &best.placement,
                         .outcome = best.outcome,
                         .schedule = training.schedule(),
                         .objective = training.objective(),
                         .evaluations = is_trained_on(training, p) ? training.evaluations() : best.evaluation,
                         .seconds = training.seconds()};
  // The lower bound holds for simulated times only, not for measured ones.
  if (!evaluate::entry_of(training.evaluator()).measures)
    report.lower_bound = search::lower_bound(problem, training.objective()).ticks;
  report.proved_optimal = best.outcome.feasible() && best.outcome.makespan == report.lower_bound;
  return report;
}

Json object_of(const experiment::Training& training, const experiment::RunFolder& folder, PlacementReport report,
               std::size_t p) {
  if (report.placement == nullptr) return {};
  std::optional<Judged> judged;
  if (report.lower_bound) judged = judge_result(training, folder, report, p);
  if (judged) {
    report.references = &judged->references;
    report.verdict = &judged->verdict;
  }
  Json json = to_json(report);
  if (!is_trained_on(training, p)) json["held_out"] = true;
  if (const auto staleness = training.staleness())
    json["staleness"] = {{"mean", staleness->mean}, {"most", staleness->most}};
  return json;
}

}  // namespace

std::vector<PlacementReport> reports_of(const experiment::Training& training) {
  std::vector<PlacementReport> reports;
  for (const Problem* problem : training.problem_list()) {
    const std::size_t p = reports.size();
    const bool any = best_of(training, p).any;
    if (!any) log_warning("no update trained on {}, so there is no placement of it", quote(problem->name));
    reports.push_back(any ? report_of(training, *problem, p) : PlacementReport());
  }
  return reports;
}

bool all_feasible(const experiment::Training& training) {
  return std::ranges::all_of(training.best(),
                             [](const learn::Best& best) { return !best.any || best.outcome.feasible(); });
}

Json training_json(const experiment::Training& training, const experiment::RunFolder& folder,
                   const std::vector<PlacementReport>& reports) {
  if (reports.size() == 1) return object_of(training, folder, reports.front(), 0);
  Json json = Json::array();
  for (std::size_t p = 0; p < reports.size(); ++p) json.push_back(object_of(training, folder, reports[p], p));
  return json;
}

void print_training(const experiment::Training& training, const experiment::RunFolder& folder,
                    evaluate::Evaluator& evaluator, const std::vector<PlacementReport>& reports) {
  const search::Deadline deadline = deadline_of_comparisons(training.recipe());
  for (std::size_t p = 0; p < reports.size(); ++p) {
    const PlacementReport& report = reports[p];
    if (report.placement == nullptr) continue;
    const bool trained_on = is_trained_on(training, p);
    fmt::print("\n{}: {} ops, {} devices{}\n\n", printable(report.problem->name), report.problem->op_count(),
               report.problem->device_count(), trained_on ? "" : ", held out");
    const bool pipeline = training.objective() == Objective::pipeline;
    TextTable table({"placement", pipeline ? "load" : "step time", "feasible", "evaluations"});
    ComparedPlacers compared = compare_with_placers(training, evaluator, report, p, reports.size(), deadline, table);
    table.add(compared_row(report.method + (trained_on ? " (learned)" : " (never trained on it)"), report,
                           *report.placement, report.outcome, report.evaluations));
    fmt::print("{}\n", table.str());
    if (const std::string missing = compared.missing(training.recipe()); !missing.empty()) log_info("{}", missing);
    // Measured times have no bound, and each further measurement may take minutes.
    if (report.lower_bound)
      fmt::print("{}\n",
                 verdict::text_of(judge_result(training, folder, report, p, std::move(compared.found)).verdict));
  }
  if (const auto staleness = training.staleness())
    fmt::print("staleness of a gradient: {:.2f} updates on average, {:.0f} at most\n", staleness->mean,
               staleness->most);
  fmt::print("{} of training; files in {}/: best.placement.json, metrics.csv, checkpoint.h5, config.toml\n",
             human_seconds(training.seconds()), folder.path());
}

}  // namespace emplace::app
