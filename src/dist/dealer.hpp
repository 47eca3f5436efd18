// Who gets how many of the equal items that are left: about half of a worker's share by its speed, so that all end
// together, and the slow ones nothing at the end. Steers who computes what, never what comes out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace emplace {

class Dealer {
 public:
  explicit Dealer(std::size_t workers) : speed_(workers, 0.0) {}

  // Of `left` items; 0: others will be done with all of them before this worker has done one.
  [[nodiscard]] std::size_t count(std::size_t worker, std::size_t left) const {
    if (left == 0) return 0;
    const double mine = of(worker);
    double sum = 0, fastest = 0;
    for (std::size_t each = 0; each < speed_.size(); ++each) {
      sum += of(each);
      fastest = std::max(fastest, of(each));
    }
    if (1 / mine > 2 / fastest + static_cast<double>(left) / sum) return 0;
    const double share = static_cast<double>(left) * mine / sum;
    return std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(share > 2 ? share / 2 : share)), 1, left);
  }

  void took(std::size_t worker, std::size_t items, double seconds) {
    const double speed = static_cast<double>(items) / std::max(seconds, 1e-9);
    speed_[worker] = speed_[worker] == 0 ? speed : 0.5 * speed_[worker] + 0.5 * speed;
  }

 private:
  // Items a second; of a worker that nobody has seen at work the mean of the others, so that it is asked at all.
  [[nodiscard]] double of(std::size_t worker) const {
    if (speed_[worker] > 0) return speed_[worker];
    double sum = 0, known = 0;
    for (const double speed : speed_)
      if (speed > 0) sum += speed, ++known;
    return known > 0 ? sum / known : 1;
  }

  std::vector<double> speed_;  // 0: not known
};

}  // namespace emplace
