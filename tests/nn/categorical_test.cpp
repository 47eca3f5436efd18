#include "nn/layers/categorical.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "emplace/base/error.hpp"
#include "tests/nn/gradient_check.hpp"

namespace emplace::nn::categorical_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Categorical, OfAHandWorkedExample) {
  // Logits log 1, log 2, log 5: p = 1/8, 2/8, 5/8.
  const std::vector<double> values = {std::log(1.0), std::log(2.0), std::log(5.0)};
  Tape<double> tape;
  tape.begin(values, {});
  const auto rows = categorical(tape, tape.parameter({0, 1, 3}), {});
  EXPECT_NEAR(rows.probability(0, 2), 0.625, 1e-15);
  EXPECT_NEAR(rows.log_probability(0, 1), std::log(0.25), 1e-15);
  EXPECT_NEAR(rows.log_normalizer[0], std::log(8.0), 1e-15);
  EXPECT_NEAR(rows.entropy[0], std::log(8.0) / 8 + std::log(4.0) / 4 + 5 * std::log(1.6) / 8, 1e-15);
}

TEST(Categorical, LeavesOutForbiddenColumnsAndLogitsOfMinusInfinity) {
  const std::vector<float> values = {100, 1, 1, -std::numeric_limits<float>::infinity()};
  const std::vector<std::uint8_t> allowed = {0, 1, 1, 1};
  std::vector<float> gradient(4);
  Tape<float> tape;
  tape.begin(values, gradient);
  const auto rows = categorical(tape, tape.parameter({0, 1, 4}), allowed);
  EXPECT_EQ(rows.probability(0, 0), 0);
  EXPECT_EQ(rows.probability(0, 1), 0.5F);
  EXPECT_EQ(rows.probability(0, 3), 0);
  EXPECT_EQ(rows.log_probability(0, 0), -infinity);
  EXPECT_EQ(rows.log_probability(0, 3), -infinity);
  EXPECT_NEAR(rows.entropy[0], std::log(2.0), 1e-7);
  const std::uint8_t action = 1;
  const double one = 1;
  seed<float>(tape, rows, {&action, 1}, {&one, 1}, 0.3);
  tape.backward();
  EXPECT_EQ(gradient[0], 0);
  EXPECT_NEAR(gradient[1], 0.5, 1e-6);
  EXPECT_NEAR(gradient[2], -0.5, 1e-6);
  EXPECT_EQ(gradient[3], 0);
}

TEST(Categorical, KeepsLargeLogitsApart) {
  const std::vector<float> values = {1e30F, -1e30F};
  Tape<float> tape;
  tape.begin(values, {});
  const auto rows = categorical(tape, tape.parameter({0, 1, 2}), {});
  EXPECT_EQ(rows.probability(0, 0), 1);
  EXPECT_EQ(rows.entropy[0], 0);
}

TEST(Categorical, RefusesRowsWithoutAnAllowedColumnAndLogitsThatAreNotNumbers) {
  const std::vector<float> values = {1, 2};
  const std::vector<float> nan = {1, std::numeric_limits<float>::quiet_NaN()};
  const std::vector<std::uint8_t> allowed = {0, 0};
  Tape<float> tape;
  tape.begin(values, {});
  EXPECT_THROW(categorical(tape, tape.parameter({0, 1, 2}), allowed), BugError);
  EXPECT_THROW(categorical(tape, tape.constant({nan.data(), 1, 2}), {}), BugError);
}

TEST(Categorical, RefusesARowOrAColumnThatIsNotThere) {
  const std::vector<float> values = {1, 2};
  Tape<float> tape;
  tape.begin(values, {});
  const auto rows = categorical(tape, tape.parameter({0, 1, 2}), {});
  EXPECT_NEAR(rows.log_probability(0, 1), -std::log1p(std::exp(-1.0)), 1e-6);
  EXPECT_THROW((void)rows.log_probability(0, 2), BugError);
  EXPECT_THROW((void)rows.log_probability(1, 0), BugError);
}

// sum_r coefficient[r] log p(r, action[r]) + weight sum_r H_r of 4 rows of 5 logits, one column forbidden in row 2.
struct Objective {
  std::vector<std::uint8_t> action = {4, 0, 2, 2};
  std::vector<double> coefficient = {1.5, -0.7, 0, 2};
  std::vector<std::uint8_t> allowed = std::vector<std::uint8_t>(20, 1);
  double weight = 0.3;

  Objective() { allowed[2 * 5 + 3] = 0; }

  double operator()(std::span<const double> values) const {
    Tape<double> tape;
    tape.begin(values, {});
    const auto rows = categorical(tape, tape.parameter({0, 4, 5}), allowed);
    double sum = 0;
    for (std::size_t r = 0; r < 4; ++r)
      sum += coefficient[r] * rows.log_probability(r, action[r]) + weight * rows.entropy[r];
    return sum;
  }

  template <class T>
  std::vector<T> gradient(std::span<const T> values, bool folded) const {
    std::vector<T> result(20);
    Tape<T> tape;
    tape.begin(values, result);
    const auto rows = categorical(tape, tape.parameter({0, 4, 5}), allowed);
    if (folded) {
      std::vector<T> weights(20);
      for (std::size_t r = 0; r < 4; ++r) weights[r * 5 + action[r]] = static_cast<T>(coefficient[r]);
      seed_folded<T>(tape, rows, {weights.data(), 4, 5}, weight);
    } else {
      seed<T>(tape, rows, action, coefficient, weight);
    }
    tape.backward();
    return result;
  }
};

TEST(Seed, IsTheGradientOfLogProbabilitiesAndEntropies) {
  const Objective objective;
  std::vector<double> values = test::random_values<double>(20, 1, 2);
  for (const bool folded : {false, true}) {
    const std::vector<double> gradient = objective.gradient<double>(values, folded);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double slope = test::slope_at_zero([&](double step) {
        std::vector<double> moved = values;
        moved[i] += step;
        return objective(moved);
      });
      EXPECT_NEAR(gradient[i], slope, 1e-8) << i;
    }
  }
}

TEST(Seed, InFloatAgreesWithDouble) {
  const Objective objective;
  const std::vector<float> values = test::random_values<float>(20, 1, 2);
  const std::vector<double> wide(values.begin(), values.end());
  for (const bool folded : {false, true}) {
    const auto quick = objective.gradient<float>(values, folded);
    const auto exact = objective.gradient<double>(wide, folded);
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(quick[i], exact[i], 1e-5) << i;
  }
}

TEST(Seed, OfLargeLogitsIsThatOfTheSameLogitsMovedToZero) {
  // 1e6 + k is exact in float, so that probabilities and gradients are those of the logits k.
  const Objective objective;
  std::vector<float> small(20), large(20);
  for (std::size_t i = 0; i < small.size(); ++i) {
    small[i] = static_cast<float>(i * 7 % 4);
    large[i] = 1e6F + small[i];
  }
  for (const bool folded : {false, true}) {
    const auto there = objective.gradient<float>(large, folded);
    const auto here = objective.gradient<float>(small, folded);
    for (std::size_t i = 0; i < small.size(); ++i) EXPECT_NEAR(there[i], here[i], 1e-6) << i;
  }
}

TEST(Seed, OfAnActionThatIsCertainIsZeroHoweverLargeItsLogit) {
  // p = (1, 0), H = 0: d = coefficient (1 - p) - weight p (log p + H) = 0.
  const std::vector<float> values = {1e30F, -1e30F};
  std::vector<float> gradient(2);
  Tape<float> tape;
  tape.begin(values, gradient);
  const auto rows = categorical(tape, tape.parameter({0, 1, 2}), {});
  const std::uint8_t action = 0;
  const double one = 1;
  seed<float>(tape, rows, {&action, 1}, {&one, 1}, 0.3);
  tape.backward();
  EXPECT_EQ(gradient, (std::vector<float>{0, 0}));
}

TEST(Seed, WithoutAMaskIsThatOfAMaskThatAllowsAll) {
  Objective masked, bare;
  masked.allowed.assign(20, 1);
  bare.allowed.clear();
  const std::vector<double> values = test::random_values<double>(20, 1, 2);
  for (const bool folded : {false, true})
    EXPECT_EQ(bare.gradient<double>(values, folded), masked.gradient<double>(values, folded));
}

TEST(Seed, RefusesAForbiddenAction) {
  Objective objective;
  objective.action[2] = 3;
  const std::vector<double> values(20);
  EXPECT_THROW(objective.gradient<double>(values, false), BugError);
}

TEST(Categorical, LeavesNoGradientThatFloatsDoNotHoldInFull) {
  // The odds of the second column: e^-60, about 1e-26.
  const std::vector<float> values = {60, 0};
  for (const bool folded : {false, true}) {
    std::vector<float> gradient(2);
    Tape<float> tape;
    tape.begin(values, gradient);
    const Categorical<float> rows = categorical<float>(tape, tape.parameter({0, 1, 2}), {});
    EXPECT_GT(rows.probability(0, 1), 0);
    const std::vector<float> weight = {1, 0};
    if (folded)
      seed_folded<float>(tape, rows, Matrix<const float>{weight.data(), 1, 2}, 0);
    else
      seed<float>(tape, rows, std::vector<std::uint8_t>{0}, std::vector<double>{1}, 0);
    tape.backward();
    EXPECT_EQ(gradient, (std::vector<float>{0, 0}));
  }
}

}  // namespace
}  // namespace emplace::nn::categorical_test
