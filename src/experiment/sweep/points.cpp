#include "experiment/sweep/points.hpp"

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"

namespace emplace::experiment {

namespace {

class RandomPoints final : public Points {
 public:
  explicit RandomPoints(const StrategySetup& setup) : seed_(setup.seed), size_(setup.space->size()) {}

  std::vector<double> point(std::size_t trial) override {
    std::vector<double> point(size_);
    for (std::size_t p = 0; p < size_; ++p)
      point[p] = Stream({.seed = seed_,
                         .purpose = Purpose::sweep_assignment,
                         .update = trial,
                         .index = static_cast<std::uint32_t>(p)})
                     .uniform();
    return point;
  }

 private:
  std::uint64_t seed_;
  std::size_t size_;
};

}  // namespace

std::unique_ptr<Points> random_points(const StrategySetup& setup) { return std::make_unique<RandomPoints>(setup); }

void describe_points(std::string& kind, OptionVisitor& visit) {
  visit("points", kind, {.choices = {"random", "sobol"}, .help = "How new configurations are drawn."});
}

std::unique_ptr<Points> points_of(const std::string& kind, const StrategySetup& setup) {
  return kind == "sobol" ? sobol_points(setup, true) : random_points(setup);
}

std::size_t trials_wanted(const StrategySetup& setup, const char* strategy) {
  if (setup.trials == 0) throw InputError("", "strategy '{}' needs `trials`: how many configurations to try", strategy);
  return setup.trials;
}

}  // namespace emplace::experiment
