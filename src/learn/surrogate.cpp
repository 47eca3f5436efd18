#include "learn/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/not_finite.hpp"
#include "base/vector_math.hpp"
#include "emplace/base/error.hpp"
#include "learn/samples.hpp"

namespace emplace::learn {

namespace {

// By rollout: 1 / the number of heads of all rounds of its sample; 0 where it has none.
std::vector<double> one_over_heads(std::span<const policy::Rollout> rollouts, const policy::LogProbabilities& log) {
  const std::vector<std::size_t> begins = sample_begins(rollouts);
  std::vector<double> scale;
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    const std::size_t heads = log.begin[begins[s + 1]] - log.begin[begins[s]];
    scale.insert(scale.end(), begins[s + 1] - begins[s], heads > 0 ? 1 / static_cast<double>(heads) : 0);
  }
  return scale;
}

// KL(p_old || p) per head, estimated from samples of p_old.
double estimated_kl(std::span<const double> now, std::span<const double> old) {
  double sum = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const double log_ratio = now[i] - old[i];
    sum += std::expm1(log_ratio) - log_ratio;
  }
  return now.empty() ? 0 : sum / static_cast<double>(now.size());
}

}  // namespace

Surrogate::Surrogate(const policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                     const policy::LogProbabilities& old, std::span<const double> advantages,
                     const SurrogateOptions& options)
    : options_(options),
      estimates_kl_(!policy.has_exact_kl()),
      samples_(sample_begins(rollouts).size() - 1),
      terms_(rollouts),
      old_(old.value),
      begin_(old.begin) {
  EMPLACE_CHECK(advantages.size() == rollouts.size() && old.begin.size() == rollouts.size() + 1);
  EMPLACE_CHECK(!options.over_heads || options.kl_weight == 0);
  if (options.over_heads) scale_ = one_over_heads(rollouts, old);
  // Terms can be merged only if they do not depend on the sample (joint ratio, entropy, estimated KL) or on a round's
  // observation.
  if (options.ratio == RatioKind::per_head && options.entropy_weight == 0 && !estimates_kl_ &&
      policy.independent_heads() && samples_ == rollouts.size()) {
    merge_equal_terms(rollouts, old, advantages);
    return;
  }
  for (std::size_t s = 0; s < rollouts.size(); ++s) {
    const std::size_t heads = old.of(s).size();
    const double advantage = advantages[s] / options.divisor * (scale_.empty() ? 1 : scale_[s]);
    plus_.insert(plus_.end(), heads, std::max(0.0, advantage));
    minus_.insert(minus_.end(), heads, std::min(0.0, advantage));
  }
}

// If a head's ratio depends only on its own action, all rollouts that took the same action there have the same ratio,
// and their advantages of the same sign can be added up. So K rollouts are replaced by one for each device, in which
// every head takes that device. A term whose action no rollout took has weight 0, and its old probability is not used.
void Surrogate::merge_equal_terms(std::span<const policy::Rollout> rollouts, const policy::LogProbabilities& old,
                                  std::span<const double> advantages) {
  struct Rows {
    std::size_t heads = 0, devices = 0, begin = 0;
  };
  std::map<std::uint32_t, Rows> rows_of;
  for (const policy::Rollout& rollout : rollouts) {
    Rows& rows = rows_of[rollout.problem];
    rows.heads = rollout.actions.size();
    for (const std::uint8_t action : rollout.actions) rows.devices = std::max<std::size_t>(rows.devices, action + 1u);
  }
  std::size_t size = 0;
  begin_.assign(1, 0);
  for (auto& [problem, rows] : rows_of) {
    rows.begin = size;
    for (std::size_t device = 0; device < rows.devices; ++device) {
      begin_.push_back(size += rows.heads);
      policy::Rollout& term = merged_.emplace_back();
      term.problem = problem;
      term.actions.assign(rows.heads, static_cast<std::uint8_t>(device));
    }
  }
  plus_.assign(size, 0.0);
  minus_.assign(size, 0.0);
  merged_old_.assign(size, 0.0);
  for (std::size_t s = 0; s < rollouts.size(); ++s) {
    const Rows& rows = rows_of[rollouts[s].problem];
    const std::span<const double> log = old.of(s);
    EMPLACE_CHECK(log.size() == rollouts[s].actions.size());
    const double advantage = advantages[s] / options_.divisor * (scale_.empty() ? 1 : scale_[s]);
    std::vector<double>& side = advantage > 0 ? plus_ : minus_;
    for (std::size_t head = 0; head < rows.heads; ++head) {
      const std::size_t cell = rows.begin + rollouts[s].actions[head] * rows.heads + head;
      if (side[cell] == 0) merged_old_[cell] = log[head];  // the same in all rollouts with this action
      side[cell] += advantage;
    }
  }
  terms_ = merged_;
  old_ = merged_old_;
}

double Surrogate::slope(double ratio, double plus, double minus) const {
  if (options_.clip > 0 && ratio > 1 + options_.clip) plus = 0;
  if (options_.clip > 0 && ratio < 1 - options_.clip) minus = 0;
  return ratio * (plus + minus);
}

void Surrogate::coefficients(const ChunkedGradient::Chunk& chunk, std::span<double> result) const {
  const std::span<const double> now = chunk.log->value;
  const std::size_t count = now.size();
  const std::size_t first = begin_[chunk.first_rollout];
  const std::span<const double> old = old_.subspan(first, count);
  const std::span<const double> plus = std::span<const double>(plus_).subspan(first, count);
  const std::span<const double> minus = std::span<const double>(minus_).subspan(first, count);

  bool finite = true;
  for (std::size_t i = 0; i < count; ++i) {
    // A head of weight 0 may have an impossible action, whose ratio is not a number.
    const bool counts = estimates_kl_ || plus[i] != 0 || minus[i] != 0;
    result[i] = counts ? now[i] - old[i] : 0.0;
    finite = finite && result[i] < std::numeric_limits<double>::infinity();
  }
  if (!finite) throw NotFinite("a log-probability is not finite");
  std::vector<double> joint;  // log-ratios of whole rollouts
  if (options_.ratio == RatioKind::joint)
    for (std::size_t s = 0; s < chunk.rollouts.size(); ++s) {
      double log_ratio = 0;
      for (std::size_t i = chunk.log->begin[s]; i < chunk.log->begin[s + 1]; ++i) log_ratio += result[i];
      // Over hundreds of heads the joint ratio may overflow; e^30 is as far from any useful ratio, but finite.
      joint.push_back(std::exp(std::clamp(log_ratio, -30.0, 30.0)));
    }
  exp_all(result);
  if (joint.empty() && options_.clip == 0 && !estimates_kl_) {  // the case of Post's steps
    for (std::size_t i = 0; i < count; ++i) result[i] *= plus[i] + minus[i];
    return;
  }
  const double kl_weight = estimates_kl_ ? options_.kl_weight / options_.divisor : 0;
  for (std::size_t s = 0; s < chunk.rollouts.size(); ++s)
    for (std::size_t i = chunk.log->begin[s]; i < chunk.log->begin[s + 1]; ++i) {
      const double penalty = kl_weight * (result[i] - 1);
      result[i] = slope(joint.empty() ? result[i] : joint[s], plus[i], minus[i]) - penalty;
    }
}

void Surrogate::gradient(policy::Policy& policy, ChunkedGradient& chunks) {
  const policy::LogProbabilities& now = chunks.compute(
      policy, terms_,
      [this](const ChunkedGradient::Chunk& chunk, std::span<double> result) { coefficients(chunk, result); },
      options_.entropy_weight / options_.divisor, scale_);
  if (estimates_kl_) kl_ = estimated_kl(now.value, old_);
  if (options_.kl_weight > 0 && !estimates_kl_)
    policy.add_kl_gradient(-options_.kl_weight * (static_cast<double>(samples_) / options_.divisor) /
                           static_cast<double>(options_.problems));
}

double Surrogate::kl(const policy::Policy& policy) const { return estimates_kl_ ? kl_ : policy.kl(); }

double mean_kl(policy::Policy& policy, ChunkedGradient& chunks, std::span<const policy::Rollout> rollouts,
               const policy::LogProbabilities& old) {
  if (policy.has_exact_kl()) return policy.kl();
  policy::LogProbabilities now;
  chunks.forward(policy, rollouts, now);
  const double kl = estimated_kl(now.value, old.value);
  if (!std::isfinite(kl)) throw NotFinite("the KL divergence of the update is not finite");
  return kl;
}

double adapted_kl_weight(double weight, double kl, double target) {
  if (kl > 1.5 * target) return std::min(2 * weight, 64.0);
  if (kl < target / 1.5) return std::max(weight / 2, 1.0 / 64);
  return weight;
}

}  // namespace emplace::learn
