// Problems, and how they are evaluated, as bytes for the broadcast at the start of a job (Boost archive): for messages
// only, never on disk.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::dist {

struct SharedProblems {
  std::vector<Problem> problems;
  evaluate::Scoring scoring;
  evaluate::EvaluatorChoice evaluator;
};

std::vector<std::byte> archive_problems(std::span<const Problem* const> problems, const evaluate::Scoring& scoring,
                                        const evaluate::EvaluatorChoice& evaluator);
// `bytes` must come from archive_problems of the same program: the archive is not checked.
SharedProblems restore_problems(std::span<const std::byte> bytes);

}  // namespace emplace::dist
