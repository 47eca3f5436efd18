#include "emplace/experiment/train_recipe.hpp"

#include "base/log.hpp"
#include "experiment/run/training_backend.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::experiment {

namespace {

// Ends the run's log after a failure too: the process may go on and log what is not about this run.
class LogOfRun {
 public:
  LogOfRun() = default;
  ~LogOfRun() { log::to_file(""); }
  LogOfRun(const LogOfRun&) = delete;
  LogOfRun& operator=(const LogOfRun&) = delete;
};

std::vector<std::optional<TrainedPlacement>> placements_of(const std::vector<learn::Best>& bests,
                                                           const std::deque<Problem>& problems, Objective objective) {
  std::vector<std::optional<TrainedPlacement>> placements;
  for (std::size_t p = 0; p < bests.size(); ++p) {
    const learn::Best& best = bests[p];
    placements.emplace_back();
    if (best.any)
      placements.back() = {best.placement, best.outcome, best.evaluation,
                           simulate::reason_of(objective, problems[p], best.outcome, best.placement.device, {})};
  }
  return placements;
}

// The names of the first `count` problems.
std::vector<std::string> names_of(const std::deque<Problem>& problems, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t p = 0; p < count; ++p) names.push_back(problems[p].name);
  return names;
}

}  // namespace

TrainedRecipe train_recipe(const ConfigTable& recipe, dist::World* workers, const JobLimits& limits, FolderUse use) {
  std::optional<UnfinishedRun> begun =
      use.resume ? unfinished_run(recipe, use.wait ? lock_patience_s : 0) : std::nullopt;
  const bool resume = begun.has_value();
  Training training(make_recipe(resume ? begun->config : recipe), resume && has_checkpoint(begun->folder.path()));
  training.check_ranks(workers);
  const RunFolder folder = resume ? std::move(begun->folder)
                                  : RunFolder::create(training.recipe().options.run, training.recipe().resolved());
  const TrainingBackend backend = make_training_backend(workers, training, folder);
  const LogOfRun log_of_run;
  Training::Session session = backend.session();
  session.resume = resume;
  session.show_progress = false;
  session.between_checkpoints = use.between_checkpoints;
  session.stop = limits.stop;
  session.deadline = limits.deadline;
  const Training::End end = training.run(folder, session);
  return {.finished = end == Training::End::finished,
          .best = placements_of(training.best(), training.problems(), training.objective()),
          .updates = training.updates(),
          .evaluations = training.evaluations(),
          .seconds = training.seconds(),
          .held_out = placements_of(training.held_out_best(), training.held_out(), training.objective()),
          .problem_names = names_of(training.problems(), training.best().size()),
          .held_out_names = names_of(training.held_out(), training.held_out_best().size())};
}

}  // namespace emplace::experiment
