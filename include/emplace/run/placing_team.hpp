// Who works for a placer: the ranks there are, or this process.
#pragma once

#include <memory>

#include "emplace/dist/world.hpp"
#include "emplace/run/problem_source.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/search/team.hpp"
#include "emplace/simulate/evaluator.hpp"

namespace emplace {

struct PlacingTeam {
  std::unique_ptr<Evaluator> evaluator;
  std::unique_ptr<Team> team;  // null: nobody shares the work
};
// On the workers of `world` (null, or of one rank: in this process). The problem must outlive the team.
PlacingTeam make_placing_team(World* world, const Problem& problem, const Scoring& scoring);

// What a placer is told of the problem and its team; budgets, seed and start are left to the caller. Both must outlive
// the request.
PlacerRequest request_for(const LoadedProblem& loaded, const Scoring& scoring, const PlacingTeam& team);

}  // namespace emplace
