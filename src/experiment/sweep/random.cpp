// Random search: every trial is drawn independently.
#include "emplace/base/options.hpp"
#include "experiment/sweep/in_turn.hpp"
#include "experiment/sweep/points.hpp"
#include "experiment/sweep/strategies.hpp"

namespace emplace::experiment {

namespace {

struct RandomOptions {};
void describe(RandomOptions&, OptionVisitor&) {}

class RandomStrategy final : public InTurn {
 public:
  RandomStrategy(const RandomOptions&, const StrategySetup& setup)
      : InTurn(trials_wanted(setup, "random")), space_(*setup.space), points_(random_points(setup)) {}

 private:
  Assignment make(std::size_t trial) override { return space_.decode(points_->point(trial)); }

  const Space& space_;
  std::unique_ptr<Points> points_;
};

}  // namespace

SweepStrategyEntry random_strategy() {
  SweepStrategyEntry entry;
  entry.name = "random";
  entry.summary = "Draws every trial independently, uniformly over each parameter's range or its logarithm.";
  entry.reference = "Bergstra, Bengio: Random Search for Hyper-Parameter Optimization (JMLR 2012)";
  entry.needs_results = false;
  make_from_options<RandomStrategy, RandomOptions>(entry);
  return entry;
}

}  // namespace emplace::experiment
