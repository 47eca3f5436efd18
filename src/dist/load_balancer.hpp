// How much of the work that is left a worker gets next: about half of its share by speed, so that all workers end
// together, and nothing for slow workers at the end. Never more than an equal share, because a piece that took no time
// (its outcomes were in a cache) says little about the next one. This changes which worker computes what, never the
// results.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace emplace::dist {

class LoadBalancer {
 public:
  explicit LoadBalancer(std::size_t workers) : speed_(workers, 0.0) {}

  // The amount of work for this worker; `left` is the work that is left, `one` the work of the next item. 0 if the
  // others will finish everything before this worker could finish that item.
  [[nodiscard]] double amount(std::size_t worker, double left, double one) const {
    const double mine = speed_of(worker);
    const double all = known_ > 0 ? sum_ * static_cast<double>(speed_.size()) / static_cast<double>(known_)
                                  : static_cast<double>(speed_.size());
    const double fastest = known_ > 0 ? fastest_ : 1;
    if (one / mine > 2 * one / fastest + left / all) return 0;
    const double share = left * mine / all;
    const double most = std::max(one, left / static_cast<double>(speed_.size()));
    return share > 2 * one ? std::min(share / 2, most) : std::min(left, std::max(share, one));
  }
  // The same, counted in items of equal size.
  [[nodiscard]] std::size_t count(std::size_t worker, std::size_t left) const {
    if (left == 0) return 0;
    return std::min(left, static_cast<std::size_t>(std::ceil(amount(worker, static_cast<double>(left), 1))));
  }
  // The amount of work that the worker does in so many seconds.
  [[nodiscard]] double work_in(std::size_t worker, double seconds) const { return seconds * speed_of(worker); }
  // Whether the worker's speed was measured; until then it is taken as the mean of the others.
  [[nodiscard]] bool knows(std::size_t worker) const { return speed_[worker] > 0; }

  void took(std::size_t worker, double work, double seconds) {
    const double before = speed_[worker];
    const double measured = work / std::max(seconds, 1e-9);
    // The mean of the times per work, not of the speeds: so one time that is much too short at most doubles the speed.
    const double now = before == 0 ? measured : 2 / (1 / before + 1 / measured);
    speed_[worker] = now;
    sum_ += now - before;
    if (before == 0) ++known_;
    if (now >= fastest_)
      fastest_ = now;
    else if (before == fastest_)
      fastest_ = std::ranges::max(speed_);
  }

 private:
  // Work per second.
  [[nodiscard]] double speed_of(std::size_t worker) const {
    if (knows(worker)) return speed_[worker];
    return known_ > 0 ? sum_ / static_cast<double>(known_) : 1;
  }

  std::vector<double> speed_;  // 0: not measured yet
  double sum_ = 0, fastest_ = 0;
  std::size_t known_ = 0;  // the number of workers whose speed was measured
};

}  // namespace emplace::dist
