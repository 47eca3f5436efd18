// Points of the unit cube from the number of a trial alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emplace/sweep/strategy.hpp"

namespace emplace {

// A source of points, one coordinate a parameter of the space. Points are asked for in the order of trials, each once.
class Points {
 public:
  virtual ~Points() = default;
  virtual std::vector<double> point(std::size_t trial) = 0;
};

// Independent and uniform; a coordinate depends on (seed, trial, position of the parameter) alone.
std::unique_ptr<Points> random_points(const StrategySetup& setup);

// setup.trials; InputError if they were not given.
std::size_t trials_wanted(const StrategySetup& setup, const char* strategy);

}  // namespace emplace
