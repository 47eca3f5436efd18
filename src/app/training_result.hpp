// What `train` prints after a training: for each problem the step time of the learned placement, other placers' times
// and the verdict.
#pragma once

#include <memory>
#include <vector>

#include "app/result_json.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "experiment/run/run_folder.hpp"
#include "experiment/run/training.hpp"

namespace emplace::app {

// The best placement of each problem of the training, then of each that was held out. Its `placement` is null where no
// update trained on the problem, which a warning says.
std::vector<PlacementReport> reports_of(const experiment::Training& training);

// Whether the training found a feasible placement of each of its own problems that it trained on.
bool all_feasible(const experiment::Training& training);

// The object of --json, or a list of them for several problems.
Json training_json(const experiment::Training& training, const experiment::RunFolder& folder,
                   const std::vector<PlacementReport>& reports);

// Prints, for each problem, the step time of the learned placement and of each method of the recipe's `compare`, and
// the verdict; then the names of the run's files. `evaluator` is the training's. A requested stop ends the comparisons,
// and the rest is printed without them.
void print_training(const experiment::Training& training, const experiment::RunFolder& folder,
                    evaluate::Evaluator& evaluator, const std::vector<PlacementReport>& reports);

}  // namespace emplace::app
