#include "experiment/sweep/parzen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace emplace::experiment::parzen_test {
namespace {

TEST(ParzenEstimator, OfNoValuesIsTheUniformPrior) {
  const ParzenEstimator prior({});
  EXPECT_EQ(prior.density(0), 1);
  EXPECT_EQ(prior.density(0.7), 1);
}

TEST(ParzenEstimator, MixesThePriorWithAGaussianAtEachValue) {
  // One value at 0.5, half a unit from both ends: deviation 0.5, and erf(1 / sqrt 2) = 0.6827 of it within [0, 1].
  const ParzenEstimator one({0.5});
  const double peak = 1 / (0.5 * std::sqrt(2 * std::numbers::pi)) / std::erf(1 / std::numbers::sqrt2);
  EXPECT_NEAR(one.density(0.5), (1 + peak) / 2, 1e-12);
  EXPECT_NEAR(one.density(1), (1 + peak * std::exp(-0.5)) / 2, 1e-12);
}

TEST(ParzenEstimator, IsADensity) {
  for (const std::vector<double>& values : {std::vector<double>{0}, {0.2, 0.21, 0.9}, {0.5, 0.5, 0.5, 0.5, 1}}) {
    const ParzenEstimator estimator(values);
    double sum = 0;
    constexpr int steps = 20000;
    for (int i = 0; i < steps; ++i) sum += estimator.density((i + 0.5) / steps) / steps;
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST(ParzenEstimator, DrawsByItsDensity) {
  const ParzenEstimator estimator({0.2, 0.25, 0.8});
  Stream stream({.seed = 3});
  constexpr int draws = 40000;
  constexpr int bins = 20;
  std::vector<double> share(bins);
  for (int i = 0; i < draws; ++i) {
    const double x = estimator.draw(stream);
    ASSERT_TRUE(x >= 0 && x <= 1);
    share[static_cast<std::size_t>(std::min(x * bins, bins - 1.0))] += 1.0 / draws;
  }
  for (int bin = 0; bin < bins; ++bin) {
    double wanted = 0;
    for (int i = 0; i < 100; ++i) wanted += estimator.density((bin + (i + 0.5) / 100) / bins) / (100 * bins);
    EXPECT_NEAR(share[static_cast<std::size_t>(bin)], wanted, 5 * std::sqrt(wanted / draws));
  }
}

TEST(FrequencyEstimator, CountsThePriorAsOneValue) {
  // Two of a, none of b, one of c, and a third each from the prior: (2 + 1/3) / 4, (1/3) / 4, (1 + 1/3) / 4.
  const std::size_t values[] = {0, 2, 0};
  const FrequencyEstimator estimator(values, 3);
  EXPECT_NEAR(estimator.density(0), 7.0 / 12, 1e-15);
  EXPECT_NEAR(estimator.density(1), 1.0 / 12, 1e-15);
  EXPECT_NEAR(estimator.density(2), 4.0 / 12, 1e-15);
  Stream stream({.seed = 3});
  double first = 0;
  for (int i = 0; i < 10000; ++i) first += estimator.draw(stream) == 0;
  EXPECT_NEAR(first / 10000, 7.0 / 12, 0.02);
}

}  // namespace
}  // namespace emplace::experiment::parzen_test
