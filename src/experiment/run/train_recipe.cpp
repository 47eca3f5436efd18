#include "emplace/experiment/train_recipe.hpp"

#include "experiment/run/training_backend.hpp"

namespace emplace::experiment {

TrainedRecipe train_recipe(const ConfigTable& recipe, dist::World* workers, const JobLimits& limits) {
  std::optional<UnfinishedRun> begun = unfinished_run(recipe, lock_patience_s);
  const bool resume = begun.has_value();
  Training training(make_recipe(resume ? begun->config : recipe), resume && has_checkpoint(begun->folder.path()));
  const RunFolder folder = resume ? std::move(begun->folder)
                                  : RunFolder::create(training.recipe().options.run, training.recipe().resolved());
  const TrainingBackend backend = make_training_backend(workers, training, folder);
  const Training::End end = training.run(folder, {.evaluator = *backend.evaluator,
                                                  .learner_workers = backend.learner_workers.get(),
                                                  .resume = resume,
                                                  .show_progress = false,
                                                  .stop = limits.stop,
                                                  .deadline = limits.deadline});
  TrainedRecipe trained{
      end == Training::End::finished, {}, training.updates(), training.evaluations(), training.seconds()};
  for (const learn::Best& best : training.best())
    trained.best.push_back(best.any ? std::optional(TrainedPlacement{best.placement, best.outcome, best.evaluation})
                                    : std::nullopt);
  return trained;
}

}  // namespace emplace::experiment
