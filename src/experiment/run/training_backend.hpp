// What a training works with: the evaluator that its recipe names, and processes that share the learning.
#pragma once

#include <memory>

#include "emplace/evaluate/evaluator.hpp"
#include "experiment/run/run_folder.hpp"
#include "experiment/run/training.hpp"

namespace emplace::experiment {

// What a training works with.
struct TrainingBackend {
  std::unique_ptr<evaluate::Evaluator> evaluator;
  std::unique_ptr<learn::LearnerWorkers> learner_workers;  // null: the learning is done in this process
};
// The evaluator that the training chose, on the workers of `world` (null: in this process), with what its recipe and
// its run folder add to it; and learner workers where the recipe and the world have one.
TrainingBackend make_training_backend(dist::World* world, const Training& training, const RunFolder& folder);

}  // namespace emplace::experiment
