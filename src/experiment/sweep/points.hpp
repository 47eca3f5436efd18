// Points of the unit cube from the number of a trial alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiment/sweep/strategy.hpp"

namespace emplace::experiment {

// A source of points, one coordinate a parameter of the space. Points are asked for in the order of trials, each once.
class Points {
 public:
  virtual ~Points() = default;
  virtual std::vector<double> point(std::size_t trial) = 0;
};

// Independent and uniform; a coordinate depends on (seed, trial, position of the parameter) alone.
std::unique_ptr<Points> random_points(const StrategySetup& setup);
// Sobol' points with the directions of Joe and Kuo 2008. `scrambled`: each coordinate is shifted by an XOR with random
// bits from the seed, which keeps the points' equidistribution (Owen 2003, section 4: digital shift). The sequence
// begins with the origin, without which 2^k points would not be balanced (Owen 2020). InputError beyond 3667
// parameters.
std::unique_ptr<Points> sobol_points(const StrategySetup& setup, bool scrambled);

// The option of strategies that draw their trials: `kind` is "random" or "sobol" (scrambled).
void describe_points(std::string& kind, OptionVisitor& visit);
std::unique_ptr<Points> points_of(const std::string& kind, const StrategySetup& setup);

// setup.trials; InputError if they were not given.
std::size_t trials_wanted(const StrategySetup& setup, const char* strategy);

}  // namespace emplace::experiment
