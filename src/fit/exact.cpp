#include "fit/exact.hpp"

#include <algorithm>

namespace emplace::fit {

namespace {

// Units are placed along the chain. What the rest costs at least is known from the priced chain in the other direction.
class Branching {
 public:
  Branching(const Chain& chain, const Space& space, const std::vector<std::uint8_t>& order, const Prices& prices,
            Ticks upper, std::uint64_t nodes)
      : chain_(chain),
        space_(space),
        order_(order),
        prices_(prices),
        devices_(chain.device_count()),
        best_(upper),
        nodes_(nodes),
        free_(chain.room),
        assignment_(chain.size(), 0) {
    price_rest();
  }

  Exact run() {
    place(0, 0, 0);
    return {std::move(found_), nodes_ > 0};
  }

 private:
  [[nodiscard]] Wide bytes_price(std::size_t u, std::size_t d) const {
    return Wide{prices_.byte[d]} * chain_.units[u].bytes();
  }

  // rest_[u][a]: the least price of what follows main unit u, with its experts, if it is on a.
  void price_rest() {
    rest_.assign(chain_.size() * devices_, no_value);
    std::vector<std::size_t> mains;
    for (std::size_t u = 0; u < chain_.size(); u = chain_.after(u)) mains.push_back(u);
    for (std::size_t i = mains.size(); i-- > 0;)
      for (std::size_t a = 0; a < devices_; ++a) {
        Wide& rest = rest_[mains[i] * devices_ + a];
        if (i + 1 == mains.size()) {
          rest = 0;
          continue;
        }
        const std::size_t next = mains[i + 1];
        for (std::size_t c = 0; c < devices_; ++c) {
          const Ticks hop = chain_.hop(next, a, c);
          const Wide after = rest_[next * devices_ + c], own = node_price(next, c);
          if (hop != cannot_run && own < no_value && after < no_value)
            rest = std::min(rest, (Wide{hop} << price_bits) + own + after);
        }
      }
  }

  [[nodiscard]] Wide node_price(std::size_t u, std::size_t a) const {
    if (space_.allowed[u * devices_ + a] == 0) return no_value;
    Wide best = no_value;
    for (std::size_t b = 0; b < devices_; ++b) {
      if (!chain_.has_experts(u) && b != a) continue;
      if (chain_.has_experts(u) && space_.allowed[(u + 1) * devices_ + b] == 0) continue;
      const Ticks time = chain_.node_time(u, a, b);
      if (time == cannot_run) continue;
      best = std::min(best, (Wide{time} << price_bits) + bytes_price(u, a) +
                                (chain_.has_experts(u) ? bytes_price(u + 1, b) : Wide{0}));
    }
    return best;
  }

  [[nodiscard]] Wide free_price() const {
    Wide price = 0;
    for (std::size_t d = 0; d < devices_; ++d)
      if (prices_.byte[d] > 0) price += Wide{prices_.byte[d]} * free_[d];
    return price;
  }

  // Main unit u is next, `time` was spent on those before it, the last ordered one is at `position`.
  void place(std::size_t u, Ticks time, std::size_t position) {
    if (u >= chain_.size()) {
      if (time < best_) {
        best_ = time;
        found_ = assignment_;
      }
      return;
    }
    const bool ordered = space_.ordered[u] != 0;
    for (std::size_t i = ordered ? position : 0; i < (ordered ? order_.size() : devices_); ++i) {
      const std::size_t a = ordered ? order_[i] : i;
      for (std::size_t b = 0; b < devices_; ++b)
        if (chain_.has_experts(u) || b == a) {
          if (nodes_ == 0) return;
          try_node(u, a, b, time, ordered ? i : position);
        }
    }
  }

  void try_node(std::size_t u, std::size_t a, std::size_t b, Ticks time, std::size_t position) {
    const bool experts = chain_.has_experts(u);
    if (space_.allowed[u * devices_ + a] == 0 || (experts && space_.allowed[(u + 1) * devices_ + b] == 0)) return;
    const Ticks node = chain_.node_time(u, a, b);
    const Ticks hop = u == 0 ? 0 : chain_.hop(u, assignment_[chain_.before(u)], a);
    if (node == cannot_run || hop == cannot_run) return;
    --nodes_;
    const Bytes own = chain_.units[u].bytes(), theirs = experts ? chain_.units[u + 1].bytes() : 0;
    take(a, own);
    take(b, theirs);
    assignment_[u] = static_cast<std::uint8_t>(a);
    if (experts) assignment_[u + 1] = static_cast<std::uint8_t>(b);
    const Ticks spent = time + node + hop;
    const Wide rest = rest_[u * devices_ + a];
    if (free_[a] >= 0 && free_[b] >= 0 && rest < no_value &&
        (Wide{spent} << price_bits) + rest - free_price() < (Wide{best_} << price_bits))
      place(chain_.after(u), spent, position);
    take(a, -own);
    take(b, -theirs);
  }

  void take(std::size_t d, Bytes bytes) {
    if (chain_.room[d] != no_memory_limit) free_[d] -= bytes;
  }

  const Chain& chain_;
  const Space& space_;
  const std::vector<std::uint8_t>& order_;
  const Prices& prices_;
  std::size_t devices_;
  Ticks best_;
  std::uint64_t nodes_;
  std::vector<Bytes> free_;
  Assignment assignment_;
  std::vector<Wide> rest_;
  std::optional<Assignment> found_;
};

}  // namespace

Exact search_exactly(const Chain& chain, const Space& space, const std::vector<std::uint8_t>& order,
                     const Prices& prices, Ticks upper, std::uint64_t nodes) {
  return Branching(chain, space, order, prices, upper, nodes).run();
}

}  // namespace emplace::fit
