#include "nn/tape/parameters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "emplace/base/error.hpp"

namespace emplace::nn::parameters_test {
namespace {

using ::testing::Each;

TEST(ParameterLayout, PutsMatricesOneAfterTheOther) {
  ParameterLayout layout;
  layout.add("a", 2, 3, zeros);
  const Slice b = layout.add("b", 4, 1, constant(2.5));
  EXPECT_EQ(b.begin, 6);
  EXPECT_EQ(layout.size(), 10);
  EXPECT_EQ(layout.infos()[1].name, "b");
  std::vector<float> values(10, 7);
  layout.initialize<float>(values, 1);
  EXPECT_THAT(std::span(values).first(6), Each(0));
  EXPECT_THAT(std::span(values).subspan(6), Each(2.5F));
}

TEST(ParameterLayout, RefusesANameTwice) {
  ParameterLayout layout;
  layout.add("a", 2, 3, zeros);
  EXPECT_THROW(layout.add("a", 1, 1, zeros), BugError);
}

TEST(ParameterLayout, StartsFormerParametersAlikeWhenOneIsAdded) {
  ParameterLayout layout;
  layout.add("a", 20, 30, uniform(0.1));
  layout.add("b", 30, 20, glorot_uniform());
  std::vector<double> before(layout.size());
  layout.initialize<double>(before, 9);
  layout.add("c", 5, 5, normal(1));
  std::vector<float> after(layout.size());
  layout.initialize<float>(after, 9);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(after[i], static_cast<float>(before[i]));
  std::vector<double> other(layout.size());
  layout.initialize<double>(other, 10);
  EXPECT_NE(other[0], before[0]);
}

TEST(Initializers, HaveTheirBoundsAndMoments) {
  ParameterLayout layout;
  layout.add("uniform", 100, 200, uniform(0.1));
  layout.add("glorot", 100, 200, glorot_uniform());
  layout.add("normal", 100, 200, normal(0.5));
  std::vector<double> values(layout.size());
  layout.initialize<double>(values, 1);
  // Variances: 0.1^2 / 3; (6 / 300) / 3 = 2 / 300; 0.25. 20000 draws: standard errors of a variance are below 1 %.
  const double bounds[] = {0.1, std::sqrt(6.0 / 300), 3};
  const double variances[] = {0.01 / 3, 2.0 / 300, 0.25};
  for (std::size_t i = 0; i < 3; ++i) {
    double sum = 0, squares = 0, largest = 0;
    for (const double value : std::span(values).subspan(i * 20000, 20000)) {
      sum += value;
      squares += value * value;
      largest = std::max(largest, std::abs(value));
    }
    EXPECT_LE(largest, bounds[i]);
    EXPECT_NEAR(sum / 20000, 0, 0.03 * std::sqrt(variances[i]));
    EXPECT_NEAR(squares / 20000, variances[i], 0.04 * variances[i]);
  }
}

}  // namespace
}  // namespace emplace::nn::parameters_test
