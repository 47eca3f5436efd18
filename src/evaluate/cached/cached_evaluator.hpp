// Evaluations that are kept in a file and not made twice.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "emplace/evaluate/evaluator.hpp"

namespace emplace::evaluate {

// What an evaluation's outcome depends on beside the placement, as 32 hexadecimal digits: problems, scoring, evaluator
// with its options, and for those that do not measure this program's version.
std::string evaluation_identity(std::span<const Problem* const> problems, const Scoring& scoring,
                                const EvaluatorChoice& choice);

// Answers from `file` what was evaluated before, in this process or another, with the same bits; asks `evaluator` for
// the rest, once for equal placements of a batch, and adds that. A file of another identity is set aside. A job that
// wants start times is evaluated anew unless the evaluator `measures`, which has none.
std::unique_ptr<Evaluator> make_cached_evaluator(std::unique_ptr<Evaluator> evaluator, const std::string& file,
                                                 const std::string& identity, bool measures);

}  // namespace emplace::evaluate
