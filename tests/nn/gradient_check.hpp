// Gradients of a network against central differences, in double.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "emplace/base/random.hpp"
#include "nn/layers/ops.hpp"

namespace emplace::nn::test {

// Uniform in [-bound, bound].
template <class T>
std::vector<T> random_values(std::size_t count, std::uint32_t index, double bound = 1) {
  Stream random({.seed = 3, .purpose = Purpose::test, .update = 0, .index = index});
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(bound * (2 * random.uniform() - 1));
  return values;
}

// f'(0) by fourth-order central differences, off by step^4 times the fifth derivative.
template <class F>
double slope_at_zero(F f, double step = 1e-3) {
  return (8 * (f(step) - f(-step)) - (f(2 * step) - f(-2 * step))) / (12 * step);
}

// All matrices, which stand one after the other in `values`, as parameters of a step; those without elements are none.
template <class T>
std::vector<Var> parameters(Tape<T>& tape, std::span<const Shape> shapes, std::span<const T> values,
                            std::span<T> gradient = {}) {
  tape.begin(values, gradient);
  std::vector<Var> vars;
  std::size_t begin = 0;
  for (const Shape& shape : shapes) {
    vars.push_back(shape.size() == 0 ? Var{} : tape.parameter({begin, shape.rows, shape.columns}));
    begin += shape.size();
  }
  return vars;
}
template <class T>
std::vector<Var> parameters(Tape<T>& tape, const std::vector<Shape>& shapes, const std::vector<T>& values) {
  return parameters<T>(tape, std::span(shapes), std::span(values));
}

// A network of matrices: all of them stand in one vector, so that inputs and parameters are checked alike. The results'
// weighted sum is the objective.
template <class T>
using Network = std::function<std::vector<Var>(Tape<T>&, std::span<const Var>)>;

template <class T>
struct Evaluation {
  double objective = 0;
  std::vector<T> gradient;
};

template <class T>
Evaluation<T> evaluate(Tape<T>& tape, std::span<const Shape> shapes, const Network<T>& network,
                       std::span<const T> values, bool with_gradient) {
  Evaluation<T> evaluation;
  evaluation.gradient.resize(values.size());
  const std::vector<Var> vars =
      parameters<T>(tape, shapes, values, with_gradient ? std::span<T>(evaluation.gradient) : std::span<T>());
  std::uint32_t index = 1000;
  for (const Var result : network(tape, vars)) {
    const Matrix<const T> value = tape.value(result);
    const std::vector<double> weights = random_values<double>(value.size(), index++);
    for (std::size_t i = 0; i < value.size(); ++i) {
      evaluation.objective += weights[i] * static_cast<double>(value.data[i]);
      if (with_gradient) tape.gradient(result).data[i] += static_cast<T>(weights[i]);
    }
  }
  if (with_gradient) tape.backward();
  return evaluation;
}

inline std::size_t total(std::span<const Shape> shapes) {
  std::size_t size = 0;
  for (const Shape& shape : shapes) size += shape.size();
  return size;
}

// Every element of every matrix, to 1e-6 of the gradient's size.
inline void expect_right_gradients(const std::vector<Shape>& shapes, const Network<double>& network,
                                   std::vector<double> values = {}) {
  if (values.empty()) values = random_values<double>(total(shapes), 1);
  Tape<double> tape;
  const std::vector<double> gradient = evaluate<double>(tape, shapes, network, values, true).gradient;
  double largest = 0;
  for (const double g : gradient) largest = std::max(largest, std::abs(g));
  EXPECT_GT(largest, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double slope = slope_at_zero([&](double step) {
      std::vector<double> moved = values;
      moved[i] += step;
      return evaluate<double>(tape, shapes, network, moved, false).objective;
    });
    ASSERT_NEAR(gradient[i], slope, 1e-6 * std::max({std::abs(slope), 0.01 * largest})) << "element " << i;
  }
}

// The same network in float gives the double values and gradients to 1e-4 of the largest.
inline void expect_float_agrees(const std::vector<Shape>& shapes, const Network<double>& exact,
                                const Network<float>& quick, std::vector<double> values = {}) {
  if (values.empty()) values = random_values<double>(total(shapes), 1);
  std::vector<float> rounded(values.begin(), values.end());
  values.assign(rounded.begin(), rounded.end());
  Tape<double> tape;
  Tape<float> float_tape;
  const Evaluation<double> wanted = evaluate<double>(tape, shapes, exact, values, true);
  const Evaluation<float> got = evaluate<float>(float_tape, shapes, quick, rounded, true);
  double largest = 0;
  for (const double g : wanted.gradient) largest = std::max(largest, std::abs(g));
  EXPECT_NEAR(got.objective, wanted.objective, 1e-4 * std::max(1.0, std::abs(wanted.objective)));
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_NEAR(got.gradient[i], wanted.gradient[i], 1e-4 * largest) << "element " << i;
}

// Both checks of one generic network.
template <class F>
void check_network(const std::vector<Shape>& shapes, F network, const std::vector<double>& values = {}) {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    return [network](Tape<T>& tape, std::span<const Var> v) -> std::vector<Var> { return network(tape, v); };
  };
  expect_right_gradients(shapes, as(0.0), values);
  expect_float_agrees(shapes, as(0.0), as(0.0F), values);
}

}  // namespace emplace::nn::test
