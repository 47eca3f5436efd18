// Who gets how much of what is left: about half of a worker's share by its speed, so that all end together, and the
// slow ones nothing at the end. Never more than an equal share: a piece that took no time (a cache knew it) says little
// about the next. Steers who computes what, never what comes out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace emplace::dist {

class LoadBalancer {
 public:
  explicit LoadBalancer(std::size_t workers) : speed_(workers, 0.0) {}

  // Of `left` work, where the next item is `one`; 0: others will be done with all of it before this worker has done
  // that item.
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
  // The same of items of one size.
  [[nodiscard]] std::size_t count(std::size_t worker, std::size_t left) const {
    if (left == 0) return 0;
    return std::min(left, static_cast<std::size_t>(std::ceil(amount(worker, static_cast<double>(left), 1))));
  }
  // What the worker does in so much time.
  [[nodiscard]] double work_in(std::size_t worker, double seconds) const { return seconds * speed_of(worker); }
  // Whether it has been seen at work; until then it counts as the mean of the others.
  [[nodiscard]] bool knows(std::size_t worker) const { return speed_[worker] > 0; }

  void took(std::size_t worker, double work, double seconds) {
    const double before = speed_[worker];
    const double measured = work / std::max(seconds, 1e-9);
    // The mean of times for the work, not of speeds: one that was much too short doubles the speed at most.
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
  // Work a second.
  [[nodiscard]] double speed_of(std::size_t worker) const {
    if (knows(worker)) return speed_[worker];
    return known_ > 0 ? sum_ / static_cast<double>(known_) : 1;
  }

  std::vector<double> speed_;  // 0: not known
  double sum_ = 0, fastest_ = 0;
  std::size_t known_ = 0;  // whose speed is known
};

}  // namespace emplace::dist
