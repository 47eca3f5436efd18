#include "experiment/run/training_backend.hpp"
#include "dist/clients.hpp"

#include "evaluate/cached/cached_evaluator.hpp"
#include "evaluate/command/reporting_evaluator.hpp"

namespace emplace::experiment {

Training::Session TrainingBackend::session() const {
  return {.evaluator = *evaluator,
          .learner_workers = learner_workers.get(),
          .controllers = controllers.get(),
          .polish_pool = polish_pool.get()};
}

TrainingBackend make_training_backend(dist::World* world, const Training& training, const RunFolder& folder) {
  const auto problems = training.problem_list();
  const evaluate::Scoring scoring{training.schedule(), training.objective()};
  const evaluate::EvaluatorChoice choice = training.evaluator();
  const RecipeOptions& recipe = training.recipe().options;
  TrainingBackend backend;
  backend.evaluator = world != nullptr ? dist::make_mpi_evaluator(*world, problems, scoring, choice)
                                       : evaluate::make_evaluator(choice, {problems, scoring});
  const bool has_workers = world != nullptr && world->has_workers();
  if (training.polishes())
    backend.polish_pool = has_workers ? dist::make_mpi_polish_pool(*world)
                                      : search::make_local_polish_pool(problems, training.schedule());
  const bool measures = evaluate::entry_of(choice).measures;
  if (recipe.cache == "all" || (recipe.cache == "measured" && measures))
    backend.evaluator =
        evaluate::make_cached_evaluator(std::move(backend.evaluator), folder.file("evaluations"),
                                        evaluate::evaluation_identity(problems, scoring, choice), measures);
  if (measures) backend.evaluator = evaluate::make_reporting_evaluator(std::move(backend.evaluator));
  if (has_workers && recipe.workers == "simulate+learn")
    backend.learner_workers = dist::make_mpi_learner_workers(*world, training.policy_plan());
  if (const auto plan = training.controller_plan()) {
    training.check_ranks(world);
    backend.controllers = dist::make_mpi_controllers(*world, *plan);
  }
  return backend;
}

}  // namespace emplace::experiment
