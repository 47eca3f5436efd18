// Problems, and how they are evaluated, as bytes for the broadcast at the start of a job (Boost archive): in flight
// only, never on disk.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "emplace/simulate/evaluators.hpp"

namespace emplace {

struct SharedProblems {
  std::vector<Problem> problems;
  Scoring scoring;
  EvaluatorChoice evaluator;
};

std::vector<std::byte> archive_problems(std::span<const Problem* const> problems, const Scoring& scoring,
                                        const EvaluatorChoice& evaluator);
// `bytes` must come from archive_problems of the same program: the archive is not checked.
SharedProblems restore_problems(std::span<const std::byte> bytes);

}  // namespace emplace
