// The list of evaluators: a new one is a source file, a line in evaluator_entries.hpp and a line here.
#include "emplace/evaluate/evaluators.hpp"

#include "evaluate/evaluator_entries.hpp"

namespace emplace::evaluate {

std::span<const EvaluatorEntry> evaluators() {
  static const EvaluatorEntry entries[] = {
      simulator_evaluator(),
      command_evaluator(),
      sleep_evaluator(),
  };
  return entries;
}

const EvaluatorEntry& entry_of(const EvaluatorChoice& choice) {
  return find_entry(evaluators(), choice.name, "evaluator", choice.options.place());
}

std::unique_ptr<Evaluator> make_evaluator(const EvaluatorChoice& choice, const EvaluatorSetup& setup) {
  return entry_of(choice).make(choice.options, setup);
}

}  // namespace emplace::evaluate
