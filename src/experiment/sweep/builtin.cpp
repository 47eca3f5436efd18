// The list of strategies: a new strategy needs a source file, a line in strategies.hpp and a line here.
#include "experiment/sweep/strategies.hpp"

namespace emplace::experiment {

std::span<const SweepStrategyEntry> sweep_strategies() {
  static const SweepStrategyEntry entries[] = {
      grid_strategy(),    random_strategy(),    sobol_strategy(), tpe_strategy(),
      halving_strategy(), hyperband_strategy(), asha_strategy(),
  };
  return entries;
}

}  // namespace emplace::experiment
