#include "learn/likelihood.hpp"

#include <algorithm>

#include "learn/samples.hpp"

namespace emplace::learn {

void refit(policy::Policy& policy, std::span<const policy::Rollout> elites, ChunkedGradient& chunks, Ascent& ascent,
           double progress, int steps) {
  if (policy.has_fit()) {
    policy.fit(elites);
    return;
  }
  if (elites.empty()) return;
  const double weight = 1 / static_cast<double>(sample_begins(elites).size() - 1);
  for (int step = 0; step < steps; ++step) {
    chunks.compute(
        policy, elites,
        [&](const ChunkedGradient::Chunk&, std::span<double> coefficients) {
          std::fill(coefficients.begin(), coefficients.end(), weight);
        },
        0);
    ascent.step(policy, progress);
  }
}

}  // namespace emplace::learn
