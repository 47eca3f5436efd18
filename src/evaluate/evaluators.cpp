// The list of evaluators: a new one is a source file, a line in evaluator_entries.hpp and a line here.
#include "emplace/evaluate/evaluator.hpp"

#include "evaluate/evaluator_entries.hpp"

namespace emplace::evaluate {

namespace {

Registry<EvaluatorEntry>& registry() {
  static Registry<EvaluatorEntry> all("evaluator", {
                                                       simulator_evaluator(),
                                                       command_evaluator(),
                                                       sleep_evaluator(),
                                                   });
  return all;
}

}  // namespace

std::span<const EvaluatorEntry> evaluators() { return registry().entries(); }
void register_evaluator(EvaluatorEntry entry) { registry().add(std::move(entry)); }

const EvaluatorEntry& entry_of(const EvaluatorChoice& choice) {
  return find_entry(evaluators(), choice.name, "evaluator", choice.options.place());
}

std::unique_ptr<Evaluator> make_evaluator(const EvaluatorChoice& choice, const EvaluatorSetup& setup) {
  return entry_of(choice).make(choice.options, setup);
}

}  // namespace emplace::evaluate
