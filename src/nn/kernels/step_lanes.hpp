// An optimiser's step for one instruction set (see lanes.hpp).
#pragma once

#include "nn/kernels/kernels.hpp"
#include "nn/kernels/lanes.hpp"

namespace emplace::nn {
namespace {

inline double squares(const float* p, const float* g, std::size_t n) {
  // Two independent sums, so that additions to one do not wait for the other: element j goes to lane j modulo 16.
  Wide<double> sums[2];
  constexpr std::size_t w = width<double>, lanes = 2 * Wide<double>::parts;
  const auto add = [&](const float* p_at, const float* g_at, std::size_t lane) {
    const Lanes<double> x = load_as_double(p_at), y = load_as_double(g_at), zero = {};
    const Lanes<double> kept = x - x == zero ? y : zero;
    Lanes<double>& sum = sums[lane / Wide<double>::parts].part[lane % Wide<double>::parts];
    sum = fma(kept, kept, sum);
  };
  std::size_t i = 0;
  for (; i + lanes * w <= n; i += lanes * w)
    for (std::size_t lane = 0; lane < lanes; ++lane) add(p + i + lane * w, g + i + lane * w, lane);
  float p_rest[lanes * w] = {}, g_rest[lanes * w] = {};
  for (std::size_t j = 0; i + j < n; ++j) {
    p_rest[j] = p[i + j];
    g_rest[j] = g[i + j];
  }
  for (std::size_t lane = 0; lane < lanes; ++lane) add(p_rest + lane * w, g_rest + lane * w, lane);
  return sums[0].total() + sums[1].total();
}

inline void adam(const AdamStep& step, float* p, const float* g, float* first, float* second, std::size_t n) {
  const Lanes<float> zero = {};
  over<float>(n, [=](auto part, std::size_t i) {
    const Lanes<float> before = load(part, p + i), slope = step.factor * load(part, g + i);
    const Lanes<float> m = step.keep1 * load(part, first + i) + step.take1 * slope;
    const Lanes<float> v = step.keep2 * load(part, second + i) + step.take2 * (slope * slope);
    const auto finite = before - before == zero;
    store(part, first + i, finite ? m : zero);
    store(part, second + i, finite ? v : zero);
    store(part, p + i, finite ? before - step.scale * m / (root(v) + step.epsilon) : before);
  });
}

}  // namespace
}  // namespace emplace::nn
