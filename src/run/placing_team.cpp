#include "emplace/run/placing_team.hpp"

namespace emplace {

PlacingTeam make_placing_team(World* world, const Problem& problem, const Scoring& scoring) {
  const Problem* const problems[] = {&problem};
  if (world == nullptr || !world->has_workers()) return {make_local_evaluator(problems, scoring), nullptr};
  PlacingTeam placing{make_mpi_evaluator(*world, problems, scoring), nullptr};
  placing.team = make_mpi_team(*world);
  return placing;
}

PlacerRequest request_for(const LoadedProblem& loaded, const Scoring& scoring, const PlacingTeam& team) {
  PlacerRequest request;
  request.problem = &loaded.problem;
  request.schedule = scoring.schedule;
  request.objective = scoring.objective;
  request.pipeline = scoring.pipeline;
  request.expert = loaded.expert;
  request.evaluator = team.evaluator.get();
  request.team = team.team.get();
  return request;
}

}  // namespace emplace
