// The entries that builtin.cpp lists; each is defined in its own source file.
#pragma once

#include "experiment/sweep/strategy.hpp"

namespace emplace::experiment {

SweepStrategyEntry grid_strategy();
SweepStrategyEntry random_strategy();
SweepStrategyEntry sobol_strategy();
SweepStrategyEntry tpe_strategy();
SweepStrategyEntry halving_strategy();
SweepStrategyEntry hyperband_strategy();
SweepStrategyEntry asha_strategy();

}  // namespace emplace::experiment
