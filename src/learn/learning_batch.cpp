#include "learn/learning_batch.hpp"

#include <algorithm>
#include <numeric>

#include "learn/gradient.hpp"
#include "learn/samples.hpp"

namespace emplace::learn {

namespace {

// Appends the rounds of one sample.
void append_sample(LearningBatch& to, std::span<const policy::Rollout> rounds, std::span<const double> advantages) {
  for (const policy::Rollout& round : rounds) to.copies.push_back(decisions_of(round));
  to.advantages.insert(to.advantages.end(), advantages.begin(), advantages.end());
  to.begins.push_back(to.copies.size());
}

}  // namespace

LearningBatch used_samples(std::span<const policy::Rollout> rollouts, const AdvantageBatch& advantages) {
  LearningBatch batch;
  if (advantages.used.size() + 1 == advantages.begins.size()) {
    batch.rollouts = rollouts;
    batch.begins = advantages.begins;
    batch.advantages = advantages.value;
    return batch;
  }
  batch.begins.push_back(0);
  for (const std::size_t s : advantages.used) {
    const std::size_t begin = advantages.begins[s];
    const std::size_t count = advantages.begins[s + 1] - begin;
    append_sample(batch, rollouts.subspan(begin, count), std::span(advantages.value).subspan(begin, count));
  }
  batch.rollouts = batch.copies;
  return batch;
}

void take_old(LearningBatch& batch, policy::LogProbabilities all, const AdvantageBatch& advantages) {
  if (batch.copies.empty()) {
    batch.old = std::move(all);
    return;
  }
  batch.old = {};
  for (const std::size_t s : advantages.used)
    for (std::size_t i = advantages.begins[s]; i < advantages.begins[s + 1]; ++i) append(batch.old, all, i);
}

LearningBatch select(const LearningBatch& batch, std::span<const std::size_t> samples) {
  LearningBatch part;
  part.begins.push_back(0);
  for (const std::size_t s : samples) {
    const std::size_t begin = batch.begins[s];
    const std::size_t count = batch.begins[s + 1] - begin;
    append_sample(part, batch.rollouts.subspan(begin, count), std::span(batch.advantages).subspan(begin, count));
    for (std::size_t i = begin; i < begin + count; ++i) append(part.old, batch.old, i);
  }
  part.rollouts = part.copies;
  return part;
}

std::vector<std::vector<std::size_t>> minibatches(std::size_t samples, std::size_t parts, const StreamKey& key) {
  parts = std::clamp<std::size_t>(parts, 1, std::max<std::size_t>(1, samples));
  std::vector<std::size_t> order(samples);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (parts > 1) {
    Stream stream(key);
    for (std::size_t i = samples; i > 1; --i)
      std::swap(order[i - 1], order[stream.below(static_cast<std::uint32_t>(i))]);
  }
  std::vector<std::vector<std::size_t>> result;
  for (std::size_t part = 0; part < parts; ++part)
    result.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(samples * part / parts),
                        order.begin() + static_cast<std::ptrdiff_t>(samples * (part + 1) / parts));
  return result;
}

}  // namespace emplace::learn
