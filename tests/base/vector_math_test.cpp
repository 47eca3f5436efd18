#include "base/vector_math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "emplace/base/random.hpp"

namespace emplace::vector_math_test {
namespace {

double exp_of(double x) {
  exp_all({&x, 1});
  return x;
}

TEST(ExpAll, IsWithinTwoUnitsInTheLastPlace) {
  Stream random{{.seed = 1}};
  std::vector<double> x;
  for (int i = 0; i < 200000; ++i) x.push_back((2 * random.uniform() - 1) * (i % 2 == 0 ? 700 : 3));
  std::vector<double> y = x;
  exp_all(y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::exp(x[i]);
    ASSERT_NEAR(y[i], exact, 2 * (std::nextafter(exact, HUGE_VAL) - exact)) << x[i];
  }
}

TEST(ExpAll, HasTheLimitsOfItsRange) {
  EXPECT_EQ(exp_of(0), 1);
  EXPECT_EQ(exp_of(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_EQ(exp_of(-701), 0);
  EXPECT_EQ(exp_of(1e300), exp_of(700));
}

TEST(ExpAll, GivesTheSameBitsWhereverAnElementStands) {
  std::vector<double> values;
  Stream random{{.seed = 2}};
  for (int i = 0; i < 103; ++i) values.push_back(20 * random.uniform() - 10);
  std::vector<double> all = values;
  exp_all(all);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(exp_of(values[i]), all[i]);
}

}  // namespace
}  // namespace emplace::vector_math_test
