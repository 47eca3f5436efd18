// Makes what a training needs: the evaluator that its recipe names, and the workers that share the learning.
#pragma once

#include <memory>

#include "emplace/evaluate/evaluator.hpp"
#include "experiment/run/run_folder.hpp"
#include "experiment/run/training.hpp"

namespace emplace::experiment {

// What a training works with.
struct TrainingBackend {
  // For Training::run(), with all of these; the caller sets the rest. The backend must outlive it.
  [[nodiscard]] Training::Session session() const;

  std::unique_ptr<evaluate::Evaluator> evaluator;
  std::unique_ptr<learn::LearnerWorkers> learner_workers;  // null: the learning is done in this process
  std::unique_ptr<learn::Controllers> controllers;         // null: the training is synchronous
  std::unique_ptr<search::PolishPool> polish_pool;         // null: nothing is polished
};
// Makes the evaluator of the training's recipe, on the workers of `world` (null: in this process), with its cache and
// its warnings; what polishes, on the same workers; learner workers if the recipe asks for them and the world has
// workers; and asynchronous controllers if it asks for them (Training::check_ranks()).
TrainingBackend make_training_backend(dist::World* world, const Training& training, const RunFolder& folder);

}  // namespace emplace::experiment
