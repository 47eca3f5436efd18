#include "learn/gradient.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "base/not_finite.hpp"
#include "emplace/base/error.hpp"
#include "learn/samples.hpp"
#include "learn/tree_sum.hpp"

namespace emplace::learn {

namespace {

void check_finite(const policy::LogProbabilities& log, std::span<const double> coefficients, double entropy_weight) {
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

void check_layout(const policy::LogProbabilities& log, const LearnerWorkers::Chunk& chunk) {
  EMPLACE_CHECK(log.begin.size() == chunk.end - chunk.begin + 1 && log.begin.back() == log.value.size() &&
                log.entropy.size() == chunk.end - chunk.begin);
}

void clear(policy::LogProbabilities& log) {
  log.begin.assign(1, 0);
  log.value.clear();
  log.entropy.clear();
}

// Concatenates the lists.
void join(std::span<const policy::LogProbabilities> parts, policy::LogProbabilities& log) {
  clear(log);
  for (const policy::LogProbabilities& part : parts) append(log, part);
}

}  // namespace

ChunkedGradient::ChunkedGradient(std::size_t samples) : samples_(samples) { EMPLACE_CHECK(samples > 0); }

std::vector<LearnerWorkers::Chunk> ChunkedGradient::chunks_of(std::span<const policy::Rollout> rollouts,
                                                              double entropy_weight,
                                                              std::span<const double> scale) const {
  std::vector<LearnerWorkers::Chunk> chunks;
  const std::vector<std::size_t> begins = sample_begins(rollouts);
  for (std::size_t s = 0, next = 0; s + 1 < begins.size(); s = next) {
    const std::size_t first = begins[s];
    next = s + 1;
    while (next < s + samples_ && next + 1 < begins.size() && (scale.empty() || scale[begins[next]] == scale[first]))
      ++next;
    chunks.push_back({first, begins[next], entropy_weight * (scale.empty() ? 1 : scale[first])});
  }
  return chunks;
}

void ChunkedGradient::forward_here(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                                   const LearnerWorkers::Chunk& chunk, policy::LogProbabilities& log) {
  stop_point();
  policy.forward(rollouts.subspan(chunk.begin, chunk.end - chunk.begin), part_);
  check_layout(part_, chunk);
  append(log, part_);
}

bool ChunkedGradient::prepare_forward(policy::Policy& policy, std::span<const policy::Rollout> rollouts) {
  if (to_prepare_.empty()) {
    to_prepare_ = chunks_of(rollouts, 0, {});
    prepared_ = 0;
    clear(prepared_log_);
  }
  if (prepared_ == to_prepare_.size()) return false;
  forward_here(policy, rollouts, to_prepare_[prepared_], prepared_log_);
  ++prepared_;
  return true;
}

void ChunkedGradient::gradient_here(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                                    std::span<const LearnerWorkers::Chunk> chunks, const LearnerWorkers::Weigh& weigh) {
  const std::span<float> gradient = policy.gradient();
  std::ranges::fill(gradient, 0.0f);
  if (chunks.empty()) return;
  TreeSum sum(chunks.size());
  for (std::size_t c = 0; c < chunks.size(); ++c) {
    const std::span<const policy::Rollout> part = rollouts.subspan(chunks[c].begin, chunks[c].end - chunks[c].begin);
    stop_point();
    policy.forward(part, part_);
    policy.backward(part, weigh(c, part_), chunks[c].entropy_weight);
    if (chunks.size() == 1) return;
    sum.add(0, c, std::span<const float>(gradient));
    std::ranges::fill(gradient, 0.0f);
  }
  std::ranges::copy(sum.total(), gradient.begin());
}

const policy::LogProbabilities& ChunkedGradient::compute(policy::Policy& policy,
                                                         std::span<const policy::Rollout> rollouts,
                                                         const Coefficients& coefficients, double entropy_weight,
                                                         std::span<const double> entropy_scale) {
  if (entropy_weight == 0) entropy_scale = {};
  EMPLACE_CHECK(entropy_scale.empty() || entropy_scale.size() == rollouts.size());
  const std::vector<LearnerWorkers::Chunk> chunks = chunks_of(rollouts, entropy_weight, entropy_scale);
  logs_.resize(chunks.size());
  const LearnerWorkers::Weigh weigh = [&](std::size_t c,
                                          const policy::LogProbabilities& log) -> std::span<const double> {
    const LearnerWorkers::Chunk& chunk = chunks[c];
    check_layout(log, chunk);
    coefficients_.assign(log.value.size(), 0.0);
    coefficients({chunk.begin, rollouts.subspan(chunk.begin, chunk.end - chunk.begin), &log}, coefficients_);
    check_finite(log, coefficients_, chunk.entropy_weight);
    logs_[c] = log;
    return coefficients_;
  };
  if (shares(policy, chunks))
    learner_workers_->gradient(policy, rollouts, chunks, weigh, policy.gradient());
  else
    gradient_here(policy, rollouts, chunks, weigh);
  join(logs_, log_);
  return log_;
}

void ChunkedGradient::forward(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                              policy::LogProbabilities& log) {
  if (!to_prepare_.empty()) {
    while (prepare_forward(policy, rollouts)) {
    }
    std::swap(log, prepared_log_);
    to_prepare_.clear();
    return;
  }
  const std::vector<LearnerWorkers::Chunk> chunks = chunks_of(rollouts, 0, {});
  if (!shares(policy, chunks)) {
    clear(log);
    for (const LearnerWorkers::Chunk& chunk : chunks) forward_here(policy, rollouts, chunk, log);
    return;
  }
  logs_.resize(chunks.size());
  learner_workers_->forward(policy, rollouts, chunks, [&](std::size_t c, const policy::LogProbabilities& part) {
    check_layout(part, chunks[c]);
    logs_[c] = part;
  });
  join(logs_, log);
}

void append(policy::LogProbabilities& to, const policy::LogProbabilities& from, std::size_t i) {
  const std::span<const double> heads = from.of(i);
  to.value.insert(to.value.end(), heads.begin(), heads.end());
  to.begin.push_back(to.value.size());
  to.entropy.push_back(from.entropy[i]);
}

void append(policy::LogProbabilities& to, const policy::LogProbabilities& from) {
  const std::size_t before = to.value.size();
  to.value.insert(to.value.end(), from.value.begin(), from.value.end());
  for (std::size_t i = 1; i < from.begin.size(); ++i) to.begin.push_back(before + from.begin[i]);
  to.entropy.insert(to.entropy.end(), from.entropy.begin(), from.entropy.end());
}

double mean_entropy(const policy::LogProbabilities& log) {
  double sum = 0;
  for (const double entropy : log.entropy) sum += entropy;
  return log.value.empty() ? 0 : sum / static_cast<double>(log.value.size());
}

}  // namespace emplace::learn
