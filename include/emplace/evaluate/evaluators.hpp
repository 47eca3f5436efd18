// The list of evaluators that a recipe may name: the built-in simulator, the user's own program, stand-ins.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "emplace/base/registry.hpp"
#include "emplace/evaluate/evaluator.hpp"

namespace emplace::evaluate {

// What an evaluator is made for.
struct EvaluatorSetup {
  std::span<const Problem* const> problems;  // they (not the span) outlive the evaluator
  Scoring scoring;
  int rank = 0;  // of this process, for programs that choose a device by it
};

struct EvaluatorEntry : EntryInfo {
  // True: its times are measured, so that nothing is certain of them: no bound of the simulator's holds, a second
  // evaluation may say otherwise, and there are no start times of ops.
  bool measures = false;
  // `options`: the evaluator's own table of the recipe, as resolve() gives it. InputError where it cannot work here.
  std::function<std::unique_ptr<Evaluator>(const ConfigTable& options, const EvaluatorSetup& setup)> make;
  // The options with defaults filled in, and with what depends on the present folder written out.
  std::function<ConfigTable(const ConfigTable& options)> resolve;
};

// Every evaluator, in the order in which `emplace list evaluators` shows them.
std::span<const EvaluatorEntry> evaluators();

struct EvaluatorChoice {
  std::string name = "simulator";
  ConfigTable options;
};

// InputError for an unknown name.
const EvaluatorEntry& entry_of(const EvaluatorChoice& choice);
std::unique_ptr<Evaluator> make_evaluator(const EvaluatorChoice& choice, const EvaluatorSetup& setup);

}  // namespace emplace::evaluate
