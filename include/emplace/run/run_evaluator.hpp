// What a run adds to its evaluator: evaluations are kept in the run folder and not made twice, and failures are said.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "emplace/run/run_folder.hpp"
#include "emplace/run/training.hpp"
#include "emplace/simulate/evaluators.hpp"

namespace emplace {

// What an evaluation's outcome depends on beside the placement, as 32 hexadecimal digits: problems, scoring, evaluator
// with its options, and for those that do not measure this program's version.
std::string evaluation_identity(std::span<const Problem* const> problems, const Scoring& scoring,
                                const EvaluatorChoice& choice);

// Answers from `file` what was evaluated before, in this process or another, with the same bits; asks `evaluator` for
// the rest, once for equal placements of a batch, and adds that. A file of another identity is set aside. A job that
// wants start times is evaluated anew unless the evaluator `measures`, which has none.
std::unique_ptr<Evaluator> make_cached_evaluator(std::unique_ptr<Evaluator> evaluator, const std::string& file,
                                                 const std::string& identity, bool measures);

// Warns of placements that could not be measured: of each reason once, with the first placement that it was given for,
// and where it is true that nothing could be measured in the first batch.
std::unique_ptr<Evaluator> make_reporting_evaluator(std::unique_ptr<Evaluator> evaluator);

// What a training works with.
struct TrainingTeam {
  std::unique_ptr<Evaluator> evaluator;
  std::unique_ptr<Crew> crew;  // null: the learning is done in this process
};
// The evaluator that the training chose, on the workers of `world` (null: in this process), with what its recipe and
// its run folder add to it; and a crew where the recipe and the world have one.
TrainingTeam make_team(World* world, const Training& training, const RunFolder& folder);

}  // namespace emplace
