// Draws from one row of logits: sampling, and its greedy counterpart.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"
#include "emplace/problem/grouping.hpp"

namespace emplace::policy {

// If no device can run a unit, every sample is infeasible; only the first device is then allowed, so that the
// distribution stays defined.
inline void allow_first_if_none(std::span<std::uint8_t> allowed) {
  for (const std::uint8_t each : allowed)
    if (each != 0) return;
  allowed.front() = 1;
}

// U x D: 1 where the unit can run; only on the first device if it can run on none.
inline std::vector<std::uint8_t> allowed_devices(const Grouping& units) {
  std::vector<std::uint8_t> allowed = units.allowed;
  const std::size_t devices = units.device_count();
  for (std::size_t unit = 0; unit < units.count(); ++unit)
    allow_first_if_none(std::span(allowed).subspan(unit * devices, devices));
  return allowed;
}

// The column of the largest logit among the allowed ones (empty: all are allowed); the first of equals.
template <class T>
std::uint8_t likeliest(std::span<const T> logits, std::span<const std::uint8_t> allowed) {
  std::size_t best = logits.size();
  for (std::size_t d = 0; d < logits.size(); ++d)
    if ((allowed.empty() || allowed[d] != 0) && (best == logits.size() || logits[d] > logits[best])) best = d;
  EMPLACE_CHECK(best < logits.size(), "nothing is allowed");
  return static_cast<std::uint8_t>(best);
}

// The random numbers of `count` decisions, or blocks of decisions.
inline std::vector<double> uniform_numbers(Stream& stream, std::size_t count) {
  std::vector<double> numbers(count);
  for (double& each : numbers) each = stream.uniform();
  return numbers;
}

// Inverse CDF of the softmax over the allowed columns, at `uniform` in [0, 1). `weights` is scratch memory of the same
// length.
template <class T>
std::uint8_t draw(std::span<const T> logits, std::span<const std::uint8_t> allowed, double uniform,
                  std::span<T> weights) {
  const T largest = logits[likeliest(logits, allowed)];
  T sum = 0;
  for (std::size_t d = 0; d < logits.size(); ++d) {
    weights[d] = allowed.empty() || allowed[d] != 0 ? std::exp(logits[d] - largest) : T{0};
    sum += weights[d];
  }
  const double wanted = uniform * static_cast<double>(sum);
  double below = 0;
  std::size_t last = 0;
  for (std::size_t d = 0; d < logits.size(); ++d) {
    if (weights[d] == 0) continue;
    last = d;
    below += static_cast<double>(weights[d]);
    if (below > wanted) break;
  }
  return static_cast<std::uint8_t>(last);  // if rounding leaves the sum short: the last possible one
}

// Draws from it, with one draw of the stream.
template <class T>
std::uint8_t draw(std::span<const T> logits, std::span<const std::uint8_t> allowed, Stream& stream,
                  std::span<T> weights) {
  return draw(logits, allowed, stream.uniform(), weights);
}

// Inverse CDF at `uniform`, in [0, 1), of probabilities that add up to 1 except for rounding.
template <class T>
std::uint8_t at_quantile(std::span<const T> probability, double uniform) {
  double below = 0;
  std::size_t last = 0;
  for (std::size_t d = 0; d < probability.size(); ++d) {
    if (probability[d] == 0) continue;
    last = d;
    below += static_cast<double>(probability[d]);
    if (below > uniform) break;
  }
  return static_cast<std::uint8_t>(last);
}

}  // namespace emplace::policy
