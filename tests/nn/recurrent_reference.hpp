// LSTM and attention one element after the other, in double.
#pragma once

#include <cmath>
#include <vector>

#include "nn/tape/tape.hpp"

namespace emplace::nn::test {

struct LstmState {
  std::size_t width;
  std::vector<double> h, c;  // B x H
  LstmState(std::size_t batch, std::size_t hidden) : width(hidden), h(batch * hidden), c(batch * hidden) {}
};

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

inline void lstm_step_reference(Matrix<const double> x, Matrix<const double> w, const double* bias, double beta,
                                LstmState& state) {
  const std::size_t h = state.width;
  for (std::size_t b = 0; b < x.rows; ++b) {
    std::vector<double> z(4 * h);
    for (std::size_t j = 0; j < 4 * h; ++j) {
      if (bias != nullptr) z[j] = bias[j];
      for (std::size_t i = 0; i < x.columns; ++i) z[j] += x(b, i) * w(i, j);
      for (std::size_t i = 0; i < h; ++i) z[j] += state.h[b * h + i] * w(x.columns + i, j);
    }
    for (std::size_t j = 0; j < h; ++j) {
      double& c = state.c[b * h + j];
      c = sigmoid(z[h + j] + beta) * c + sigmoid(z[j]) * std::tanh(z[3 * h + j]);
      state.h[b * h + j] = sigmoid(z[2 * h + j]) * std::tanh(c);
    }
  }
}

// One query's context.
inline std::vector<double> attend_reference(std::span<const double> query, Matrix<const double> keys,
                                            Matrix<const double> memory, std::span<const double> v) {
  std::vector<double> weights(keys.rows), context(memory.columns);
  double sum = 0;
  for (std::size_t i = 0; i < keys.rows; ++i) {
    double u = 0;
    for (std::size_t j = 0; j < v.size(); ++j) u += std::tanh(keys(i, j) + query[j]) * v[j];
    weights[i] = std::exp(u);
    sum += weights[i];
  }
  for (std::size_t i = 0; i < keys.rows; ++i)
    for (std::size_t j = 0; j < context.size(); ++j) context[j] += weights[i] / sum * memory(i, j);
  return context;
}

}  // namespace emplace::nn::test
