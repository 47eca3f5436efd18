// Makes what a placer needs: an evaluator and a placer pool, on the other ranks or in this process.
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
  std::unique_ptr<search::PlacerPool> pool;  // null: this process does all the work
};
// Makes the backend on the workers of `world` (null or one rank: in this process). The problem must outlive it.
PlacingBackend make_placing_backend(dist::World* world, const Problem& problem, const evaluate::Scoring& scoring);

// The request to a placer for this problem and backend; the caller sets budgets, seed and start. Both must outlive the
// request.
search::PlacerRequest request_for(const source::LoadedProblem& loaded, const evaluate::Scoring& scoring,
                                  const PlacingBackend& backend);

}  // namespace emplace::experiment
