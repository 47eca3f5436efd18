#include "emplace/run/train_recipe.hpp"

#include "emplace/run/run_evaluator.hpp"

namespace emplace {

TrainedRecipe train_recipe(const ConfigTable& recipe, World* part, const JobLimits& limits) {
  std::optional<UnfinishedRun> begun = unfinished_run(recipe, lock_patience_s);
  const bool resume = begun.has_value();
  Training training(make_recipe(resume ? begun->config : recipe), resume && has_checkpoint(begun->folder.path()));
  const RunFolder folder = resume ? std::move(begun->folder)
                                  : RunFolder::create(training.recipe().options.run, training.recipe().resolved());
  const TrainingTeam team = make_team(part, training, folder);
  const Training::End end = training.run(folder, {.evaluator = *team.evaluator,
                                                  .crew = team.crew.get(),
                                                  .resume = resume,
                                                  .show_progress = false,
                                                  .stop = limits.stop,
                                                  .deadline = limits.deadline});
  return {end, training.best(), training.updates(), training.evaluations(), training.seconds()};
}

}  // namespace emplace
