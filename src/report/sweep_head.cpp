#include "report/sweep_head.hpp"

#include "experiment/sweep/coordinator.hpp"
#include "experiment/sweep/sweep_table.hpp"
#include "experiment/sweep/trial.hpp"
#include "report/page_head.hpp"
#include "report/proved_bound.hpp"

namespace emplace::report {

verdict::Verdict head_of_sweep(const experiment::SweepFolder& folder, double bound_seconds) {
  const experiment::TrialRow* best = experiment::best_row(folder.rows);
  if (best == nullptr || folder.sweep.base.texts("problems").size() > 1) return {};
  ProblemCache shelf;
  const std::string run = experiment::run_of_seed(folder.sweep, experiment::trial_folder(folder.path, best->trial),
                                                  folder.sweep.seeds.front());
  FoundPlacement found = found_placements(run, 1, shelf).front();
  if (!found.missing.empty()) return {};
  Outcome outcome;  // with several seeds the objective is their median, which is of no single placement
  outcome.makespan = ticks_of_seconds(*best->objective);
  found.subject.commands.resume.clear();  // the next command is not to go on with one trial of many
  return head_of(found, outcome, {}, baselines_json(found, outcome, "", {}, {}),
                 proved_bound(found.problem(), found.scoring, bound_seconds, found.bound_file));
}

}  // namespace emplace::report
