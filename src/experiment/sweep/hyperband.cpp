// Hyperband: brackets of successive halving, from many trials with little budget to few trials with all of it, because
// it is not known how early a good trial can be recognised (Li et al. 2017, algorithm 1).
#include <algorithm>

#include "emplace/base/options.hpp"
#include "experiment/sweep/brackets.hpp"
#include "experiment/sweep/strategies.hpp"

namespace emplace::experiment {

namespace {

struct HyperbandOptions : RungOptions {
  HyperbandOptions() { rungs = 4; }
};
void describe(HyperbandOptions& o, OptionVisitor& visit) { describe(static_cast<RungOptions&>(o), visit); }

// The brackets of one round. A bracket with s + 1 rungs has n = ceil((s_max + 1) / (s + 1) x reduction^s) trials, which
// makes all brackets cost about the same.
std::vector<Brackets::Size> round_of_brackets(const Rungs& rungs) {
  std::vector<Brackets::Size> sizes;
  for (std::size_t s = rungs.count(); s-- > 0;) {
    std::size_t power = 1;
    for (std::size_t i = 0; i < s; ++i) power *= rungs.reduction();
    sizes.push_back({(rungs.count() * power + s) / (s + 1), rungs.count() - 1 - s});
  }
  return sizes;
}

}  // namespace

SweepStrategyEntry hyperband_strategy() {
  SweepStrategyEntry entry;
  entry.name = "hyperband";
  entry.summary =
      "Brackets of halving, from many trials with little budget to few with all of it; with `trials`, rounds of "
      "brackets are repeated up to this number, and the last bracket is cut.";
  entry.reference = "Li, Jamieson, DeSalvo, Rostamizadeh, Talwalkar: Hyperband (JMLR 2017)";
  entry.stops_early = true;
  entry.options = list_options<HyperbandOptions>;
  entry.make = [](const ConfigTable& table, const StrategySetup& setup) -> std::unique_ptr<SweepStrategy> {
    const auto options = read_options<HyperbandOptions>(table);
    const Rungs rungs(options, 1);
    const std::vector<Brackets::Size> round = round_of_brackets(rungs);
    std::vector<Brackets::Size> sizes = round;
    if (setup.trials > 0) {
      sizes.clear();
      std::size_t left = setup.trials;
      for (std::size_t i = 0; left > 0; ++i) {
        Brackets::Size size = round[i % round.size()];
        size.trials = std::min(size.trials, left);
        left -= size.trials;
        sizes.push_back(size);
      }
    }
    return std::make_unique<Brackets>(*setup.space, points_of(options.points, setup), rungs, sizes);
  };
  entry.resolve = [](const ConfigTable& table) { return echo_options(read_options<HyperbandOptions>(table)); };
  return entry;
}

}  // namespace emplace::experiment
