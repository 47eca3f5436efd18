// Densities of one parameter on [0, 1], estimated from the values of some trials (Bergstra et al. 2011, section 4.2).
#pragma once

#include <span>
#include <vector>

#include "emplace/base/random.hpp"

namespace emplace::experiment {

// A mixture, with equal weights, of the uniform prior and a Gaussian at each of n values, truncated to [0, 1]. The
// standard deviation is the larger distance to a neighbouring value (0 and 1 count as values), within [1 / min(100, n +
// 1), 1].
class ParzenEstimator {
 public:
  explicit ParzenEstimator(std::vector<double> values);
  [[nodiscard]] double density(double x) const;
  [[nodiscard]] double draw(Stream& stream) const;

 private:
  struct Gaussian {
    double mean, deviation;
    double mass;  // its probability within [0, 1]
  };
  std::vector<Gaussian> gaussians_;
};

// For a parameter without order: frequencies, with the uniform prior counted as one value.
class FrequencyEstimator {
 public:
  FrequencyEstimator(std::span<const std::size_t> values, std::size_t count);
  [[nodiscard]] double density(std::size_t value) const { return share_[value]; }
  [[nodiscard]] std::size_t draw(Stream& stream) const;

 private:
  std::vector<double> share_;
};

}  // namespace emplace::experiment
