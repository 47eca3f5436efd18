#include "experiment/run/placing_backend.hpp"
#include "dist/clients.hpp"

namespace emplace::experiment {

PlacingBackend make_placing_backend(dist::World* world, const Problem& problem, const evaluate::Scoring& scoring) {
  const Problem* const problems[] = {&problem};
  if (world == nullptr || !world->has_workers()) return {evaluate::make_local_evaluator(problems, scoring), nullptr};
  PlacingBackend placing{dist::make_mpi_evaluator(*world, problems, scoring), nullptr};
  placing.pool = dist::make_mpi_placer_pool(*world);
  return placing;
}

search::PlacerRequest request_for(const source::LoadedProblem& loaded, const evaluate::Scoring& scoring,
                                  const PlacingBackend& backend) {
  search::PlacerRequest request;
  request.problem = &loaded.problem;
  request.schedule = scoring.schedule;
  request.objective = scoring.objective;
  request.pipeline = scoring.pipeline;
  request.evaluator = backend.evaluator.get();
  request.pool = backend.pool.get();
  return request;
}

}  // namespace emplace::experiment
