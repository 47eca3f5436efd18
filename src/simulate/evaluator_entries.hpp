// The entries that evaluators.cpp lists, one a source file.
#pragma once

#include "emplace/simulate/evaluators.hpp"

namespace emplace {

EvaluatorEntry simulator_evaluator();
EvaluatorEntry command_evaluator();
EvaluatorEntry sleep_evaluator();

}  // namespace emplace
