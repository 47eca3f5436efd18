// Sobol' points: low discrepancy, so that even few trials leave no large part of the space empty. The only file that
// includes Boost's generator.
#include <boost/random/sobol.hpp>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "emplace/base/random.hpp"
#include "experiment/sweep/in_turn.hpp"
#include "experiment/sweep/points.hpp"
#include "experiment/sweep/strategies.hpp"

namespace emplace::experiment {

namespace {

using Engine = boost::random::sobol_engine<std::uint32_t, 32>;

class SobolPoints final : public Points {
 public:
  SobolPoints(const StrategySetup& setup, bool scrambled) : engine_(setup.space->size()), shift_(setup.space->size()) {
    for (std::size_t p = 0; scrambled && p < shift_.size(); ++p)
      shift_[p] = Stream({.seed = setup.seed,
                          .purpose = Purpose::sweep_strategy,
                          .update = 0,
                          .index = static_cast<std::uint32_t>(p)})
                      .bits32();
  }

  std::vector<double> point(std::size_t trial) override {
    std::vector<double> point(shift_.size());
    for (std::size_t p = 0; p < point.size(); ++p) {
      const std::uint32_t bits = trial == 0 ? 0 : engine_();  // Boost's sequence leaves out the origin
      point[p] = (bits ^ shift_[p]) * 0x1p-32;
    }
    return point;
  }

 private:
  Engine engine_;
  std::vector<std::uint32_t> shift_;
};

struct SobolOptions {
  bool scrambled = true;
};
void describe(SobolOptions& o, OptionVisitor& visit) {
  visit("scrambled", o.scrambled,
        {.help = "Shift the points by random bits from the seed; false: the sequence itself, from the origin on."});
}

class SobolStrategy final : public InTurn {
 public:
  SobolStrategy(const SobolOptions& options, const StrategySetup& setup)
      : InTurn(trials_wanted(setup, "sobol")), space_(*setup.space), points_(sobol_points(setup, options.scrambled)) {}

 private:
  Assignment make(std::size_t trial) override { return space_.decode(points_->point(trial)); }

  const Space& space_;
  std::unique_ptr<Points> points_;
};

}  // namespace

std::unique_ptr<Points> sobol_points(const StrategySetup& setup, bool scrambled) {
  constexpr std::size_t most = boost::random::default_sobol_table::max_dimension;
  if (setup.space->size() > most)
    throw InputError("", "Sobol' points have at most {} parameters, [space] has {}", most, setup.space->size());
  return std::make_unique<SobolPoints>(setup, scrambled);
}

SweepStrategyEntry sobol_strategy() {
  SweepStrategyEntry entry;
  entry.name = "sobol";
  entry.summary = "Sobol' points: spread more evenly than random ones; powers of two are the best numbers of trials.";
  entry.reference =
      "Sobol' (1967); Joe, Kuo: Constructing Sobol Sequences with Better Two-Dimensional Projections (2008)";
  entry.needs_results = false;
  make_from_options<SobolStrategy, SobolOptions>(entry);
  return entry;
}

}  // namespace emplace::experiment
