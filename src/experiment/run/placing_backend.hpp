// Who works for a placer: the ranks there are, or this process.
#pragma once

#include <memory>

#include "emplace/dist/world.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/source/load_problem.hpp"
#include "search/common/placer_pool.hpp"

namespace emplace::experiment {

struct PlacingBackend {
  std::unique_ptr<evaluate::Evaluator> evaluator;
  std::unique_ptr<search::PlacerPool> pool;  // null: nobody shares the work
};
// On the workers of `world` (null, or of one rank: in this process). The problem must outlive the backend.
PlacingBackend make_placing_backend(dist::World* world, const Problem& problem, const evaluate::Scoring& scoring);

// What a placer is told of the problem and its backend; budgets, seed and start are left to the caller. Both must
// outlive the request.
search::PlacerRequest request_for(const source::LoadedProblem& loaded, const evaluate::Scoring& scoring,
                                  const PlacingBackend& backend);

}  // namespace emplace::experiment
