#include "report/page_head.hpp"

#include "emplace/evaluate/evaluator.hpp"
#include "experiment/run/placing_backend.hpp"
#include "verdict/infeasible.hpp"

namespace emplace::report {

namespace {

// The best feasible row of another placer; none if there is no such row.
std::optional<verdict::Reference> best_of_rows(const Json& baselines) {
  std::optional<verdict::Reference> best;
  for (const Json& row : baselines) {
    if (row["learned"].get<bool>() || !row["feasible"].get<bool>() || row["time"].is_null()) continue;
    Outcome outcome;
    outcome.makespan = row["time"].get<Ticks>();
    if (!best || better(outcome, best->outcome))
      best = verdict::Reference{row["method"].get<std::string>(), {}, outcome};
  }
  return best;
}

verdict::References references_of(const FoundPlacement& found, const Json& baselines, const search::LowerBound& bound) {
  const experiment::PlacingBackend backend = experiment::make_placing_backend(nullptr, found.problem(), found.scoring);
  verdict::References references =
      verdict::find_references(experiment::request_for(*found.loaded, found.scoring, backend), {.predicted = 0});
  references.bound = bound;
  references.is_quick_bound = false;
  std::optional<verdict::Reference> best = best_of_rows(baselines);
  if (best && (!references.quick || better(best->outcome, references.quick->outcome)))
    references.quick = std::move(best);
  return references;
}

}  // namespace

verdict::Verdict head_of(const FoundPlacement& found, const Outcome& outcome, const LearnedCurve& curve,
                         const Json& baselines, const search::LowerBound& bound) {
  verdict::Subject subject = found.subject;
  subject.outcome = outcome;
  subject.measured = evaluate::entry_of({found.recipe.options.evaluator, {}}).measures;
  subject.curve = curve.facts;
  subject.seconds = curve.seconds;
  verdict::explain_infeasible(subject, found.problem(), found.placement, found.scoring);
  verdict::Verdict head = verdict::judge(found.scoring.objective, subject, references_of(found, baselines, bound));
  if (subject.measured) {
    head.sentences.clear();
    head.next.clear();
  }
  return head;
}

}  // namespace emplace::report
