// The proximal objectives: probability ratios to the policy at sampling time, weighted by advantages, with clipping or
// a KL penalty that keeps the two policies near each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "learn/gradient.hpp"

namespace emplace::learn {

enum class RatioKind : std::uint8_t { per_head, joint };

struct SurrogateOptions {
  RatioKind ratio = RatioKind::per_head;
  double clip = 0;  // 0: the plain form
  double kl_weight = 0;
  double entropy_weight = 0;
  double divisor = 1;        // usually the number of samples, of all problems or of one
  bool over_heads = false;   // also divide each sample's terms by its number of heads; not with a KL penalty
  std::size_t problems = 1;  // in the rollouts, with equal numbers of samples
};

// With r = p / p_old, of each head or (joint) of all heads of a rollout together, the sum over rollouts n of
//   plain: sum_h r_nh A_n
//   clip:  sum_h min(r_nh A_n, clamp(r_nh, 1 - c, 1 + c) A_n)
// minus kl_weight x the sum over samples of KL(p_old || p) over all heads, plus entropy_weight x the sum of entropies,
// all divided by the divisor. With over_heads a sample's terms and its entropy are also divided by the number of heads
// of all its rounds, so that samples of large and small graphs have equal weight (docs/papers/gdp.md, section 2.6). A
// clipped term has no gradient; that of any other is r A times that of log p. The KL divergence is exact if the policy
// can compute it (then over all its problems with equal weight). Otherwise it is the estimate sum_h (r - 1 - log r)
// over the sample's heads, which is never negative, unbiased, and has r - 1 times the gradient of log p (Schulman 2020,
// k3).
class Surrogate {
 public:
  // `old`: log-probabilities of the rollouts before the update; the policy's reference must be its distribution of that
  // time. Rollouts and `old` must outlive this.
  Surrogate(const policy::Policy& policy, std::span<const policy::Rollout> rollouts,
            const policy::LogProbabilities& old, std::span<const double> advantages, const SurrogateOptions& options);

  // policy.gradient() becomes the objective's gradient at the present parameters.
  void gradient(policy::Policy& policy, ChunkedGradient& chunks);
  // KL(p_old || p) per head at the parameters of the last gradient(), exact or estimated, nats.
  [[nodiscard]] double kl(const policy::Policy& policy) const;

 private:
  void merge_equal_terms(std::span<const policy::Rollout> rollouts, const policy::LogProbabilities& old,
                         std::span<const double> advantages);
  void coefficients(const ChunkedGradient::Chunk& chunk, std::span<double> result) const;
  [[nodiscard]] double slope(double ratio, double plus, double minus) const;

  SurrogateOptions options_;
  bool estimates_kl_;
  std::size_t samples_;
  std::vector<policy::Rollout> merged_;     // see merge_equal_terms
  std::vector<double> merged_old_;          // of merged_
  std::span<const policy::Rollout> terms_;  // the rollouts or merged_
  std::span<const double> old_;             // of terms_, by head
  std::vector<std::size_t> begin_;          // terms + 1: where the heads of each begin
  std::vector<double> scale_;               // by rollout, 1 / heads of its sample; empty without over_heads
  std::vector<double> plus_, minus_;        // positive and negative advantages / divisor, by term and head
  double kl_ = 0;                           // estimated
};

// KL(p_old || p) per head at the present parameters, nats: exact if the policy can compute it, else estimated on the
// rollouts.
double mean_kl(policy::Policy& policy, ChunkedGradient& chunks, std::span<const policy::Rollout> rollouts,
               const policy::LogProbabilities& old);

// The weight of the KL penalty after an update with this divergence (Schulman et al. 2017, section 4;
// docs/papers/post.md, section 2.4): doubled above 1.5 x the target, halved below target / 1.5, within [1/64, 64].
double adapted_kl_weight(double weight, double kl, double target);

}  // namespace emplace::learn
