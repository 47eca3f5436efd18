// Whole networks: gradients in double along random directions, and float against double.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "emplace/base/random.hpp"
#include "nn/layers/ops.hpp"

namespace emplace::test {

inline std::vector<double> random_doubles(std::size_t count, std::uint32_t index, double bound) {
  Stream random({.seed = 11, .purpose = Purpose::test, .update = 0, .index = index});
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<float>(bound * (2 * random.uniform() - 1));
  return values;
}

// `build` puts the network of the given parameters on a tape, for T double and float, and returns n x D logits. The
// objective is the log-probability of fixed actions plus 0.3 times the entropy. `h` is the step of finite differences:
// short for networks with relus, so that none of them switches within it.
template <class Build>
void check_network(std::size_t parameters, Build&& build, double h = 1e-4) {
  const std::vector<double> values = random_doubles(parameters, 1, 0.5);
  const auto objective = [&]<class T>(const std::vector<T>& at, std::vector<T>* gradient) {
    nn::Tape<T> tape;
    tape.begin(at, gradient == nullptr ? std::span<T>() : std::span<T>(*gradient));
    const nn::Var logits = build(tape);
    const nn::Categorical<T> rows = nn::categorical<T>(tape, logits, {});
    std::vector<std::uint8_t> actions;
    double sum = 0;
    for (std::size_t r = 0; r < rows.scores.rows; ++r) {
      actions.push_back(static_cast<std::uint8_t>((r * 7 + 3) % rows.scores.columns));
      sum += rows.log_probability(r, actions.back()) + 0.3 * rows.entropy[r];
    }
    if (gradient != nullptr) {
      nn::seed<T>(tape, rows, actions, std::vector<double>(actions.size(), 1.0), 0.3);
      tape.backward();
    }
    return sum;
  };
  std::vector<double> gradient(parameters, 0.0);
  const double wanted = objective(values, &gradient);
  for (std::uint32_t k = 0; k < 5; ++k) {
    const std::vector<double> direction = random_doubles(parameters, 10 + k, 1);
    const auto along = [&](double step) {
      std::vector<double> moved = values;
      for (std::size_t i = 0; i < parameters; ++i) moved[i] += step * direction[i];
      return objective(moved, static_cast<std::vector<double>*>(nullptr));
    };
    double slope = 0;
    for (std::size_t i = 0; i < parameters; ++i) slope += gradient[i] * direction[i];
    const double measured = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h);
    EXPECT_NEAR(slope, measured, 1e-6 * std::abs(measured));
    EXPECT_GT(std::abs(slope), 1e-2);
  }
  const std::vector<float> rounded(values.begin(), values.end());
  std::vector<float> quick(parameters, 0.0F);
  EXPECT_NEAR(objective(rounded, &quick), wanted, 1e-4 * std::max(1.0, std::abs(wanted)));
  double largest = 0;
  for (const double g : gradient) largest = std::max(largest, std::abs(g));
  for (std::size_t i = 0; i < parameters; ++i) EXPECT_NEAR(quick[i], gradient[i], 1e-4 * largest) << i;
}

}  // namespace emplace::test
