// Makes what a training needs: the evaluator that its recipe names, and the workers that share the learning.
#pragma once

#include <memory>

#include "emplace/evaluate/evaluator.hpp"
#include "experiment/run/run_folder.hpp"
#include "experiment/run/training.hpp"

namespace emplace::experiment {

// The evaluator and the learner workers of a training.
struct TrainingBackend {
  std::unique_ptr<evaluate::Evaluator> evaluator;
  std::unique_ptr<learn::LearnerWorkers> learner_workers;  // null: the learning is done in this process
};
// Makes the evaluator of the training's recipe, on the workers of `world` (null: in this process), with its cache and
// its warnings; and learner workers if the recipe asks for them and the world has workers.
TrainingBackend make_training_backend(dist::World* world, const Training& training, const RunFolder& folder);

}  // namespace emplace::experiment
