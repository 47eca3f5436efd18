// Why a placement that is judged is not feasible.
#pragma once

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "verdict/verdict.hpp"

namespace emplace::verdict {

// Sets `reason` and, if it is empty, `why_nothing` of a subject whose outcome is not feasible.
void explain_infeasible(Subject& subject, const Problem& problem, const Placement& placement,
                        const evaluate::Scoring& scoring);

}  // namespace emplace::verdict
