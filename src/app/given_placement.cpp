#include "app/given_placement.hpp"

#include <limits>

#include "experiment/run/next_commands.hpp"
#include "verdict/infeasible.hpp"

namespace emplace::app {

verdict::Subject subject_of(const GivenPlacement& given) {
  verdict::Subject subject{.method = given.file,
                           .was_given = true,
                           .outcome = given.outcome,
                           .commands = experiment::next_commands({.source = given.source,
                                                                  .options = given.options,
                                                                  .schedule = given.scoring.schedule,
                                                                  .objective = given.scoring.objective,
                                                                  .pipeline = given.scoring.pipeline,
                                                                  .file = given.file,
                                                                  .has_page = given.has_page,
                                                                  .is_simulated = given.is_simulated,
                                                                  .problem = given.problem,
                                                                  .placement = given.placement})};
  verdict::explain_infeasible(subject, *given.problem, *given.placement, given.scoring);
  return subject;
}

verdict::Verdict verdict_on(const GivenPlacement& given) {
  constexpr verdict::QuickTime moment{.predicted = 0.25, .most = std::numeric_limits<double>::infinity()};
  const auto local = evaluate::make_local_evaluator(std::span(&given.problem, 1), given.scoring);
  search::PlacerRequest request;
  request.problem = given.problem;
  request.schedule = given.scoring.schedule;
  request.objective = given.scoring.objective;
  request.pipeline = given.scoring.pipeline;
  request.evaluator = local.get();
  return verdict::judge(given.scoring.objective, subject_of(given), verdict::find_references(request, moment));
}

}  // namespace emplace::app
