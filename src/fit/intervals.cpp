#include "fit/intervals.hpp"

#include <algorithm>
#include <limits>

namespace emplace::fit {

namespace {

constexpr Ticks unreached = std::numeric_limits<Ticks>::max();

class Divider {
 public:
  Divider(const Chain& chain, const Space& space, const std::vector<std::uint8_t>& order, Aim aim,
          const std::vector<std::uint8_t>& exempt)
      : chain_(chain), space_(space), order_(order), aim_(aim), exempt_(exempt), units_(chain.size()) {}

  // best_[p][k][q]: the first k units are on devices up to position p of the order, the last of them on position q...
  // A device that holds nothing takes no part, so q = p, and the positions that hold something are chosen freely.
  std::optional<Assignment> solve() {
    const std::size_t positions = order_.size();
    best_.assign(positions * (units_ + 1), unreached);
    from_.assign(positions * (units_ + 1), {});
    for (std::size_t p = 0; p < positions; ++p) {
      extend(p, positions, 0, 0);
      for (std::size_t q = 0; q < p; ++q)
        for (std::size_t k = 1; k < units_; ++k)
          if (best_[at(q, k)] != unreached) extend(p, q, k, best_[at(q, k)]);
    }
    std::size_t last = positions;
    for (std::size_t p = 0; p < positions; ++p)
      if (best_[at(p, units_)] != unreached && (last == positions || best_[at(p, units_)] < best_[at(last, units_)]))
        last = p;
    if (last == positions) return std::nullopt;
    return trace(last);
  }

 private:
  struct Origin {
    std::size_t position = 0, units = 0;
  };
  [[nodiscard]] std::size_t at(std::size_t p, std::size_t k) const { return p * (units_ + 1) + k; }

  // Gives device `p` the units from `first` on, one after the other, while there is room. `q`: the device before.
  void extend(std::size_t p, std::size_t q, std::size_t first, Ticks cost) {
    const std::size_t d = order_[p];
    Bytes bytes = 0;
    Ticks time = 0, before = cost;
    if (first > 0) {
      const std::size_t e = order_[q];
      const Ticks hop = chain_.hop(first, e, d);
      if (hop == cannot_run) return;
      // A device's load includes what it sends; the sender's is known here, where its largest is already taken.
      time = aim_ == Aim::latency || exempt_[d] == 0 ? hop : 0;
    }
    for (std::size_t u = first; u < units_; ++u) {
      const Ticks own = chain_.time_on(u, d);
      bytes += chain_.units[u].bytes();
      if (own == cannot_run || space_.allowed[u * chain_.device_count() + d] == 0 || bytes > chain_.room[d]) return;
      time += own;
      Ticks total = aim_ == Aim::latency ? before + time : std::max(before, time + sent(u, p));
      Ticks& best = best_[at(p, u + 1)];
      if (total >= best) continue;
      best = total;
      from_[at(p, u + 1)] = {q, first};
    }
  }

  // What device p sends if unit u is its last: over the fastest route, because the receiver is not known yet.
  [[nodiscard]] Ticks sent(std::size_t u, std::size_t p) const {
    const std::size_t d = order_[p];
    if (u + 1 == units_ || exempt_[d] != 0) return 0;
    Ticks least = unreached;
    for (std::size_t later = p + 1; later < order_.size(); ++later) {
      const Ticks hop = chain_.hop(u + 1, d, order_[later]);
      if (hop != cannot_run) least = std::min(least, hop);
    }
    return least == unreached ? 0 : least;
  }

  [[nodiscard]] Assignment trace(std::size_t p) const {
    Assignment assignment(units_);
    for (std::size_t k = units_; k > 0;) {
      const Origin origin = from_[at(p, k)];
      std::fill(assignment.begin() + static_cast<std::ptrdiff_t>(origin.units),
                assignment.begin() + static_cast<std::ptrdiff_t>(k), order_[p]);
      p = origin.position;
      k = origin.units;
    }
    return assignment;
  }

  const Chain& chain_;
  const Space& space_;
  const std::vector<std::uint8_t>& order_;
  Aim aim_;
  const std::vector<std::uint8_t>& exempt_;
  std::size_t units_;
  std::vector<Ticks> best_;  // positions x (units + 1)
  std::vector<Origin> from_;
};

}  // namespace

bool is_divisible(const Chain& chain, const Space& space) {
  for (std::size_t u = 0; u < chain.size(); ++u)
    if (space.ordered[u] == 0 || chain.is_experts(u)) return false;
  return true;
}

std::optional<Assignment> best_division(const Chain& chain, const Space& space, const std::vector<std::uint8_t>& order,
                                        Aim aim, const std::vector<std::uint8_t>& exempt) {
  return Divider(chain, space, order, aim, exempt).solve();
}

}  // namespace emplace::fit
