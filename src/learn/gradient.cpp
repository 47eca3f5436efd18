#include "gradient.hpp"

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "emplace/base/not_finite.hpp"
#include "samples.hpp"

namespace emplace {

namespace {

void check_finite(const LogProbabilities& log, std::span<const double> coefficients, double entropy_weight) {
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    if (!std::isfinite(coefficients[i]))
      throw NotFinite("a coefficient of a log-probability is not finite ({})", coefficients[i]);
    if (std::isnan(log.value[i]) || (coefficients[i] != 0 && !std::isfinite(log.value[i])))
      throw NotFinite("a log-probability is not finite ({})", log.value[i]);
  }
  if (entropy_weight == 0) return;
  for (const double entropy : log.entropy)
    if (!std::isfinite(entropy)) throw NotFinite("an entropy is not finite ({})", entropy);
}

}  // namespace

ChunkedGradient::ChunkedGradient(std::size_t samples) : samples_(samples) { EMPLACE_CHECK(samples > 0); }

void ChunkedGradient::for_each_chunk(Policy& policy, std::span<const Rollout> rollouts, std::span<const double> scale,
                                     const std::function<void(const Chunk& chunk)>& use) {
  const std::vector<std::size_t> begins = sample_begins(rollouts);
  std::size_t first_head = 0;
  for (std::size_t s = 0, next = 0; s + 1 < begins.size(); s = next) {
    const std::size_t first = begins[s];
    next = s + 1;
    while (next < s + samples_ && next + 1 < begins.size() && (scale.empty() || scale[begins[next]] == scale[first]))
      ++next;
    const std::size_t end = begins[next];
    const std::span<const Rollout> part = rollouts.subspan(first, end - first);
    policy.forward(part, log_);
    EMPLACE_CHECK(log_.begin.size() == part.size() + 1 && log_.begin.back() == log_.value.size() &&
                  log_.entropy.size() == part.size());
    use({first, first_head, part, &log_});
    first_head += log_.value.size();
  }
}

void ChunkedGradient::compute(Policy& policy, std::span<const Rollout> rollouts, const Coefficients& coefficients,
                              double entropy_weight, std::span<const double> entropy_scale) {
  if (entropy_weight == 0) entropy_scale = {};
  EMPLACE_CHECK(entropy_scale.empty() || entropy_scale.size() == rollouts.size());
  const std::span<float> gradient = policy.gradient();
  std::ranges::fill(gradient, 0.0f);
  std::size_t chunks = 0;
  for_each_chunk(policy, rollouts, entropy_scale, [&](const Chunk& chunk) {
    const double weight = entropy_weight * (entropy_scale.empty() ? 1 : entropy_scale[chunk.first_rollout]);
    coefficients_.assign(chunk.log->value.size(), 0.0);
    coefficients(chunk, coefficients_);
    check_finite(*chunk.log, coefficients_, weight);
    // A single chunk needs no total.
    if (chunks == 1) total_.assign(gradient.begin(), gradient.end());
    if (chunks > 0) std::ranges::fill(gradient, 0.0f);
    policy.backward(chunk.rollouts, coefficients_, weight);
    if (chunks > 0)
      for (std::size_t i = 0; i < gradient.size(); ++i) total_[i] += gradient[i];
    ++chunks;
  });
  if (chunks > 1)
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>(total_[i]);
}

void ChunkedGradient::forward(Policy& policy, std::span<const Rollout> rollouts, LogProbabilities& log) {
  log.begin.assign(1, 0);
  log.value.clear();
  log.entropy.clear();
  for_each_chunk(policy, rollouts, {}, [&](const Chunk& chunk) {
    for (std::size_t s = 0; s < chunk.rollouts.size(); ++s)
      log.begin.push_back(chunk.first_head + chunk.log->begin[s + 1]);
    log.value.insert(log.value.end(), chunk.log->value.begin(), chunk.log->value.end());
    log.entropy.insert(log.entropy.end(), chunk.log->entropy.begin(), chunk.log->entropy.end());
  });
}

double mean_entropy(const LogProbabilities& log) {
  double sum = 0;
  for (const double entropy : log.entropy) sum += entropy;
  return log.value.empty() ? 0 : sum / static_cast<double>(log.value.size());
}

}  // namespace emplace
