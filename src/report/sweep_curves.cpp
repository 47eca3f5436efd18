#include "report/sweep_curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "experiment/run/metrics.hpp"
#include "experiment/sweep/coordinator.hpp"
#include "experiment/sweep/trial.hpp"

namespace emplace::report {

namespace {

constexpr const char* best_column = "best_step_time";

std::vector<std::string> metrics_of(const experiment::SweepFolder& folder, std::size_t trial) {
  std::vector<std::string> files;
  for (const std::int64_t seed : folder.sweep.seeds)
    files.push_back(experiment::run_of_seed(folder.sweep, experiment::trial_folder(folder.path, trial), seed) +
                    "/metrics.csv");
  return files;
}

// Trials with a metrics.csv, best first; those without an objective last.
std::vector<const experiment::TrialRow*> candidates(const experiment::SweepFolder& folder) {
  std::vector<const experiment::TrialRow*> rows;
  for (const experiment::TrialRow& row : folder.rows)
    if (row.rung && std::ranges::any_of(metrics_of(folder, row.trial), file_exists)) rows.push_back(&row);
  const auto rank = [](const experiment::TrialRow* row) {
    return row->objective.value_or(std::numeric_limits<double>::infinity());
  };
  std::ranges::stable_sort(rows, {}, rank);
  return rows;
}

// The trials to draw: the best ones for a quarter of the lines, and for the rest trials at evenly spaced ranks down to
// the worst, so that the whole range of results is visible.
std::vector<const experiment::TrialRow*> chosen(const std::vector<const experiment::TrialRow*>& rows,
                                                std::size_t most) {
  if (rows.size() <= most) return rows;
  const std::size_t first = std::max<std::size_t>(1, most / 4), others = most - first, rest = rows.size() - first;
  std::vector<const experiment::TrialRow*> some(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t i = 0; i < others; ++i) some.push_back(rows[first + (i + 1) * rest / others - 1]);
  return some;
}

double last_best(const experiment::Metrics& metrics) {
  const std::vector<double>* best = metrics.find(best_column);
  if (best != nullptr)
    for (std::size_t i = best->size(); i-- > 0;)
      if (std::isfinite((*best)[i])) return (*best)[i];
  return std::numeric_limits<double>::infinity();
}

struct SeedMetrics {
  std::int64_t seed = 0;
  experiment::Metrics metrics;
};

// The metrics of the seed with the median result, among the seeds that have begun.
SeedMetrics middle_seed(const experiment::SweepFolder& folder, std::size_t trial, std::size_t points) {
  std::vector<SeedMetrics> all;
  const std::vector<std::string> files = metrics_of(folder, trial);
  for (std::size_t i = 0; i < files.size(); ++i)
    if (experiment::Metrics metrics = experiment::read_metrics(files[i], points); metrics.points() > 0)
      all.push_back({folder.sweep.seeds[i], std::move(metrics)});
  if (all.empty()) return {};
  std::ranges::stable_sort(all, {}, [](const SeedMetrics& each) { return last_best(each.metrics); });
  return std::move(all[(all.size() - 1) / 2]);
}

// The points at which the best step time changes, and the last one: a step line needs no others.
std::vector<std::size_t> corners(const std::vector<double>& best) {
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < best.size(); ++i) {
    if (!std::isfinite(best[i])) continue;
    if (points.empty() || i + 1 == best.size() || best[i] != best[points.back()]) points.push_back(i);
  }
  return points;
}

Json line_of(const SeedMetrics& of, std::size_t trial, bool several_seeds) {
  Json line = {{"trial", trial}};
  if (several_seeds) line["seed"] = of.seed;
  const std::vector<double>* best = of.metrics.find(best_column);
  const std::vector<std::size_t> points = best != nullptr ? corners(*best) : std::vector<std::size_t>{};
  const auto at_points = [&](const std::vector<double>& column) {
    Json list = Json::array();
    for (const std::size_t i : points) list.push_back(page_number(column[i]));
    return list;
  };
  line["x"] = Json::object();
  for (const char* name : {"update", "evaluations", "wall_seconds"})
    if (const std::vector<double>* column = of.metrics.find(name)) line["x"][name] = at_points(*column);
  line["best"] = best != nullptr ? at_points(*best) : Json::array();
  return line;
}

}  // namespace

SweepCurves sweep_curves(const experiment::SweepFolder& folder, const SweepPageLimits& limits) {
  EMPLACE_CHECK(limits.curves >= 1);
  const std::vector<const experiment::TrialRow*> all = candidates(folder);
  SweepCurves curves{.total = all.size(), .sampled = all.size() > limits.curves};
  for (const experiment::TrialRow* row : chosen(all, limits.curves)) {
    const SeedMetrics of = middle_seed(folder, row->trial, limits.points);
    Json line = line_of(of, row->trial, folder.sweep.seeds.size() > 1);
    if (line["best"].empty()) continue;  // nothing feasible, or no update yet
    curves.lines.push_back(std::move(line));
    ++curves.drawn;
  }
  return curves;
}

}  // namespace emplace::report
