#include "search/local/region_start.hpp"

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"

namespace emplace::search {

void RegionStart::set_path(std::span<const CriticalOp> path) {
  double mean = 0;  // time of an op with what it waited for, in ticks
  for (const CriticalOp& each : path) mean += static_cast<double>(each.duration + each.queued + each.sent);
  mean = std::max(1.0, mean / static_cast<double>(std::max<std::size_t>(1, path.size())));
  path_.clear();
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto scaled = [mean](Ticks time) { return std::log1p(static_cast<double>(time) / mean); };
    const double at = static_cast<double>(i) / static_cast<double>(path.size());
    path_.push_back({scaled(path[i].duration), scaled(path[i].queued), scaled(path[i].sent),
                     path[i].sent > 0 ? 1.0 : 0.0, at, at * at});
  }
  renew();
}

std::size_t RegionStart::draw(Stream& random) {
  EMPLACE_CHECK(!path_.empty());
  const auto found = std::ranges::upper_bound(until_, random.uniform() * until_.back());
  const std::size_t at = std::min(static_cast<std::size_t>(found - until_.begin()), path_.size() - 1);
  for (std::size_t f = 0; f < facts_; ++f) drawn_[f] = path_[at][f] - mean_[f];
  return at;
}

void RegionStart::report(bool helped) {
  constexpr double decay = 0.002, least = 0.001, most = 0.5;
  constexpr std::uint32_t renew_every = 32;
  const double reward = helped ? 1 : 0;
  const double advantage = (reward - helped_share_) / std::sqrt(helped_share_ * (1 - helped_share_));
  helped_share_ = std::clamp(helped_share_ + decay * (reward - helped_share_), least, most);
  for (std::size_t f = 0; f < facts_; ++f) weights_[f] += rate_ * advantage * drawn_[f];
  if (++reports_ % renew_every == 0) renew();
}

void RegionStart::renew() {
  constexpr double most = 8;  // of |w . x|, so that no op is as good as never drawn
  until_.clear();
  mean_ = {};
  double sum = 0;
  for (const Facts& facts : path_) {
    double score = 0;
    for (std::size_t f = 0; f < facts_; ++f) score += weights_[f] * facts[f];
    const double weight = std::exp(std::clamp(score, -most, most));
    until_.push_back(sum += weight);
    for (std::size_t f = 0; f < facts_; ++f) mean_[f] += weight * facts[f];
  }
  for (double& each : mean_) each /= sum;
}

}  // namespace emplace::search
