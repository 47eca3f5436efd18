// An evaluator that keeps outcomes in a file, so that no placement is evaluated twice.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "emplace/evaluate/evaluator.hpp"

namespace emplace::evaluate {

// A digest, as 32 hexadecimal digits, of everything that an outcome depends on beside the placement: problems, scoring,
// the evaluator with its options and, unless it measures, this program's version.
std::string evaluation_identity(std::span<const Problem* const> problems, const Scoring& scoring,
                                const EvaluatorChoice& choice);

// A digest, as 32 hexadecimal digits, of everything in a problem that a training may read: devices, channels, ops,
// tensors and what the model says beside costs, but not the problem's name.
std::string problem_digest(const Problem& problem);

// Returns the outcomes of `file` for placements that were evaluated before, in this process or another, bit by bit the
// same. Calls `evaluator` for the others, once for equal placements of a batch, and adds their outcomes to the file. A
// file of another identity is renamed. A job that asks for start times is evaluated again, unless the evaluator
// `measures` and so has none.
std::unique_ptr<Evaluator> make_cached_evaluator(std::unique_ptr<Evaluator> evaluator, const std::string& file,
                                                 const std::string& identity, bool measures);

}  // namespace emplace::evaluate
