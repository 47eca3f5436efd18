// Folders of sweeps and runs for tests of pages, with results that the test makes up.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "experiment/run/metrics_file.hpp"
#include "experiment/run/run_folder.hpp"
#include "experiment/sweep/coordinator.hpp"
#include "experiment/sweep/sweep_run.hpp"
#include "experiment/sweep/trial.hpp"
#include "tests/experiment/sweep/sweeps.hpp"

namespace emplace::test {

// A space with a chain of conditions; `strategy` goes before it.
inline std::string sweep_text(const std::string& strategy) {
  return strategy + "\nproblem = \"p.json\"\npolicy = \"post\"\nevaluations = 1000\n" + mixed_space;
}

// metrics.csv with one row per update of ten evaluations; NaN where nothing is feasible yet.
inline void write_metrics(const std::string& run, const std::vector<double>& best) {
  make_folder(run);
  experiment::MetricsFile metrics(run + "/metrics.csv", 0);
  for (std::size_t i = 0; i < best.size(); ++i) {
    const auto update = static_cast<double>(i + 1);
    metrics.add({{"update", update},
                 {"evaluations", 10 * update},
                 {"mean_reward", -1.5 * best[i]},
                 {"best_step_time", best[i]},
                 {"feasible_share", 0.75},
                 {"entropy", 1 / update},
                 {"kl", 0.01 * update},
                 {"wall_seconds", 0.5 * update}});
  }
}

// What came of a trial; none: it is still being trained when the folder is read.
using Outcomes =
    std::function<std::optional<experiment::TrialResult>(std::size_t trial, const experiment::Assignment& assignment)>;

// A sweep's folder as `emplace sweep` leaves it, with a curve of `updates` updates for each trial with an objective. At
// most `most` trials begin.
inline void write_sweep(const std::string& folder, const std::string& text, const Outcomes& outcome,
                        std::size_t most = SIZE_MAX, std::size_t updates = 8) {
  const experiment::Sweep sweep = sweep_of(text, {"run=" + folder});
  const experiment::RunFolder made = experiment::RunFolder::create(folder, sweep.resolved());
  experiment::SweepRun run(sweep, folder + "/record.jsonl");
  for (std::size_t begun = 0; begun < most; ++begun) {
    const std::optional<experiment::Work> work = run.next();
    if (!work) break;
    const std::optional<experiment::TrialResult> result = outcome(work->trial, run.strategy().assignment(work->trial));
    if (!result) continue;
    if (result->objective)
      for (const std::int64_t seed : sweep.seeds) {
        std::vector<double> best;
        for (std::size_t i = 0; i < updates; ++i)
          best.push_back(*result->objective *
                         (1 + 3.0 / static_cast<double>(1 + i) - 3.0 / static_cast<double>(updates)));
        write_metrics(experiment::run_of_seed(sweep, experiment::trial_folder(folder, work->trial), seed), best);
      }
    run.end(*work, *result);
  }
  made.set_status(run.finished() ? "finished" : "running");
}

inline experiment::TrialResult came_to(double objective) {
  return {.objective = objective, .seconds = 1.5, .updates = 8, .evaluations = 80};
}
inline experiment::TrialResult failed_with(const std::string& error) { return {.error = error, .seconds = 0.5}; }

// The data that a page carries.
inline nlohmann::json data_of(const std::string& html) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t from = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
}

}  // namespace emplace::test
