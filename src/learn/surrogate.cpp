#include "surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "emplace/base/error.hpp"
#include "emplace/base/vector_math.hpp"

namespace emplace {

Surrogate::Surrogate(Policy& policy, std::span<const Rollout> rollouts, std::span<const double> advantages,
                     RatioKind ratio, double clip)
    : ratio_(ratio), clip_(clip), terms_(rollouts) {
  EMPLACE_CHECK(advantages.size() == rollouts.size());
  const bool merge = ratio == RatioKind::per_head && policy.independent_heads();
  if (merge) merge_equal_terms(rollouts, advantages);
  policy.forward(terms_, old_);
  if (merge) return;
  for (std::size_t s = 0; s < rollouts.size(); ++s) {
    const std::size_t heads = old_.of(s).size();
    plus_.insert(plus_.end(), heads, std::max(0.0, advantages[s]));
    minus_.insert(minus_.end(), heads, std::min(0.0, advantages[s]));
  }
}

// Where a head's ratio depends on its own action alone, all rollouts that took the same action there have the same
// ratio, and their advantages of one sign add up. So K rollouts become one a device, "every head takes device j".
void Surrogate::merge_equal_terms(std::span<const Rollout> rollouts, std::span<const double> advantages) {
  struct Rows {
    std::size_t heads = 0, devices = 0, begin = 0;
  };
  std::map<std::uint32_t, Rows> rows_of;
  for (const Rollout& rollout : rollouts) {
    Rows& rows = rows_of[rollout.problem];
    rows.heads = rollout.actions.size();
    for (const std::uint8_t action : rollout.actions) rows.devices = std::max<std::size_t>(rows.devices, action + 1u);
  }
  std::size_t size = 0;
  for (auto& [problem, rows] : rows_of) {
    rows.begin = size;
    size += rows.heads * rows.devices;
    for (std::size_t device = 0; device < rows.devices; ++device) {
      Rollout& term = merged_.emplace_back();
      term.problem = problem;
      term.actions.assign(rows.heads, static_cast<std::uint8_t>(device));
    }
  }
  plus_.assign(size, 0.0);
  minus_.assign(size, 0.0);
  for (std::size_t s = 0; s < rollouts.size(); ++s) {
    const Rows& rows = rows_of[rollouts[s].problem];
    std::vector<double>& side = advantages[s] > 0 ? plus_ : minus_;
    for (std::size_t head = 0; head < rows.heads; ++head)
      side[rows.begin + rollouts[s].actions[head] * rows.heads + head] += advantages[s];
  }
  terms_ = merged_;
}

double Surrogate::slope(double ratio, double plus, double minus) const {
  if (clip_ > 0 && ratio > 1 + clip_) plus = 0;
  if (clip_ > 0 && ratio < 1 - clip_) minus = 0;
  return ratio * (plus + minus);
}

void Surrogate::add_gradient(Policy& policy) {
  policy.forward(terms_, now_);
  const std::size_t count = now_.value.size();
  coefficients_.resize(count);
  for (std::size_t i = 0; i < count; ++i) coefficients_[i] = now_.value[i] - old_.value[i];
  if (ratio_ == RatioKind::per_head) {
    // A head that nobody weighs may be an impossible action, whose ratio is no number.
    for (std::size_t i = 0; i < count; ++i)
      if ((plus_[i] == 0) & (minus_[i] == 0)) coefficients_[i] = 0;
    exp_all(coefficients_);
    if (clip_ == 0)
      for (std::size_t i = 0; i < count; ++i) coefficients_[i] *= plus_[i] + minus_[i];
    else
      for (std::size_t i = 0; i < count; ++i) coefficients_[i] = slope(coefficients_[i], plus_[i], minus_[i]);
  } else {
    for (std::size_t s = 0; s < terms_.size(); ++s) {
      const std::size_t begin = now_.begin[s];
      const std::size_t end = now_.begin[s + 1];
      double log_ratio = 0;
      for (std::size_t i = begin; i < end; ++i) log_ratio += coefficients_[i];
      // Over hundreds of heads the joint ratio leaves the range of numbers; e^30 is as useless, but finite.
      const double ratio = std::exp(std::clamp(log_ratio, -30.0, 30.0));
      for (std::size_t i = begin; i < end; ++i) coefficients_[i] = slope(ratio, plus_[i], minus_[i]);
    }
  }
  policy.backward(terms_, coefficients_, 0);
}

}  // namespace emplace
