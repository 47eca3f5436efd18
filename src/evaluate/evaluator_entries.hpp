// The entries that evaluators.cpp lists, one per source file.
#pragma once

#include "emplace/evaluate/evaluator.hpp"

namespace emplace::evaluate {

EvaluatorEntry simulator_evaluator();
EvaluatorEntry command_evaluator();
EvaluatorEntry sleep_evaluator();

}  // namespace emplace::evaluate
