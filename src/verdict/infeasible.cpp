#include "verdict/infeasible.hpp"

#include "emplace/search/bound.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::verdict {

void explain_infeasible(Subject& subject, const Problem& problem, const Placement& placement,
                        const evaluate::Scoring& scoring) {
  if (subject.outcome.feasible()) return;
  Usage usage;  // how much memory is missing where
  if (scoring.objective == Objective::step)
    (void)simulate::make_exact_engine(problem, scoring.schedule)->evaluate(placement, {.usage = &usage});
  subject.reason = simulate::reason_of(scoring.objective, problem, subject.outcome, placement.device, usage);
  if (subject.why_nothing.empty())
    subject.why_nothing = search::lower_bounds(problem, scoring.objective, 0).infeasible.value_or("");
}

}  // namespace emplace::verdict
