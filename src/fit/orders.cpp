#include "fit/orders.hpp"

#include <algorithm>

namespace emplace::fit {

namespace {

// Exchanging a and b changes no time and no room.
bool are_equal(const Chain& chain, std::size_t a, std::size_t b) {
  if (chain.room[a] != chain.room[b]) return false;
  for (std::size_t u = 0; u < chain.size(); ++u) {
    if (chain.time_on(u, a) != chain.time_on(u, b) || chain.hop(u, a, b) != chain.hop(u, b, a) ||
        chain.hop_back(u, a, b) != chain.hop_back(u, b, a))
      return false;
    for (std::size_t c = 0; c < chain.device_count(); ++c) {
      if (c == a || c == b) continue;
      if (chain.hop(u, a, c) != chain.hop(u, b, c) || chain.hop(u, c, a) != chain.hop(u, c, b) ||
          chain.hop_back(u, a, c) != chain.hop_back(u, b, c) || chain.hop_back(u, c, a) != chain.hop_back(u, c, b))
        return false;
    }
  }
  return true;
}

class Permutations {
 public:
  Permutations(const std::vector<std::vector<std::uint8_t>>& classes, std::size_t most) : most_(most) {
    for (const auto& equal : classes) left_.push_back(equal);
    for (auto& equal : left_) std::ranges::reverse(equal);
    extend();
  }
  [[nodiscard]] bool complete() const { return found_.size() <= most_; }
  [[nodiscard]] std::vector<std::vector<std::uint8_t>> take() { return std::move(found_); }

 private:
  void extend() {
    bool done = true;
    for (auto& equal : left_) {
      if (equal.empty() || found_.size() > most_) continue;
      done = false;
      const std::uint8_t device = equal.back();
      equal.pop_back();
      present_.push_back(device);
      extend();
      present_.pop_back();
      equal.push_back(device);
    }
    if (done && found_.size() <= most_) found_.push_back(present_);
  }

  std::size_t most_;
  std::vector<std::vector<std::uint8_t>> left_, found_;
  std::vector<std::uint8_t> present_;
};

}  // namespace

Orders orders_of(const Chain& chain, const std::vector<std::uint8_t>& devices, std::size_t most) {
  std::vector<std::vector<std::uint8_t>> classes;
  for (const std::uint8_t d : devices) {
    const auto equal =
        std::ranges::find_if(classes, [&](const auto& other) { return are_equal(chain, other.front(), d); });
    if (equal == classes.end())
      classes.push_back({d});
    else
      equal->push_back(d);
  }
  Permutations all(classes, most);
  if (all.complete()) return {all.take(), true};
  const auto speed = [&](std::uint8_t d) {
    Ticks sum = 0;
    for (std::size_t u = 0; u < chain.size(); ++u) sum += chain.time_on(u, d);
    return sum;
  };
  std::vector<std::vector<std::uint8_t>> orders = {devices, devices, devices};
  std::ranges::stable_sort(orders[1], std::ranges::less(), speed);
  std::ranges::stable_sort(orders[2], std::ranges::greater(), [&](std::uint8_t d) { return chain.room[d]; });
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<std::uint8_t> reversed = orders[i];
    std::ranges::reverse(reversed);
    orders.push_back(std::move(reversed));
  }
  std::ranges::sort(orders);
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());
  return {std::move(orders), false};
}

}  // namespace emplace::fit
