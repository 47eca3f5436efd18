// Points of the unit cube that depend only on the number of the trial and the seed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiment/sweep/strategy.hpp"

namespace emplace::experiment {

// A source of points with one coordinate for each parameter of the space. point() must be called in the order of
// trials, once for each.
class Points {
 public:
  virtual ~Points() = default;
  virtual std::vector<double> point(std::size_t trial) = 0;
};

// Independent and uniform; a coordinate depends only on (seed, trial, position of the parameter).
std::unique_ptr<Points> random_points(const StrategySetup& setup);
// Sobol' points with the directions of Joe and Kuo 2008. `scrambled`: each coordinate is shifted by an XOR with random
// bits from the seed, which keeps the points' equidistribution (Owen 2003, section 4: digital shift). The sequence
// begins with the origin, since without it 2^k points would not be balanced (Owen 2020). InputError for more than 3667
// parameters.
std::unique_ptr<Points> sobol_points(const StrategySetup& setup, bool scrambled);

// Describes the option `points` of strategies that draw their trials: `kind` is "random" or "sobol" (scrambled).
void describe_points(std::string& kind, OptionVisitor& visit);
std::unique_ptr<Points> points_of(const std::string& kind, const StrategySetup& setup);

// Returns setup.trials; InputError if it was not given.
std::size_t trials_wanted(const StrategySetup& setup, const char* strategy);

}  // namespace emplace::experiment
