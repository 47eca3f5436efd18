// Successive halving: all trials get a little of the budget, the best of them more, and so on (Jamieson, Talwalkar
// 2016; with a reduction of any number and whole rungs as in the inner loop of Li et al. 2017, algorithm 1).
#include "emplace/base/options.hpp"
#include "experiment/sweep/brackets.hpp"
#include "experiment/sweep/strategies.hpp"

namespace emplace::experiment {

namespace {

struct HalvingOptions : RungOptions {};
void describe(HalvingOptions& o, OptionVisitor& visit) { describe(static_cast<RungOptions&>(o), visit); }

}  // namespace

SweepStrategyEntry halving_strategy() {
  SweepStrategyEntry entry;
  entry.name = "halving";
  entry.summary = "Gives all trials a small share of the budget, then the best of them more, rung by rung.";
  entry.reference =
      "Jamieson, Talwalkar: Non-stochastic Best Arm Identification and Hyperparameter Optimization (AISTATS 2016)";
  entry.stops_early = true;
  entry.options = list_options<HalvingOptions>;
  entry.make = [](const ConfigTable& table, const StrategySetup& setup) -> std::unique_ptr<SweepStrategy> {
    const auto options = read_options<HalvingOptions>(table);
    const std::size_t trials = trials_wanted(setup, "halving");
    return std::make_unique<Brackets>(*setup.space, points_of(options.points, setup), Rungs(options, trials),
                                      std::vector{Brackets::Size{trials, 0}});
  };
  entry.resolve = [](const ConfigTable& table) { return echo_options(read_options<HalvingOptions>(table)); };
  return entry;
}

}  // namespace emplace::experiment
