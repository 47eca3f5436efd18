#include "fit/relaxation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "emplace/base/error.hpp"

namespace emplace::fit {

namespace {

// States are (position in the order of the last ordered unit, device of the last unit on the chain). Without ordered
// units there is one position.
class PricedChain {
 public:
  PricedChain(const Chain& chain, const Space& space, const std::vector<std::uint8_t>& order, Aim aim,
              const Prices& prices)
      : chain_(chain),
        space_(space),
        order_(order),
        aim_(aim),
        prices_(prices),
        devices_(chain.device_count()),
        positions_(space.is_ordered() ? order.size() : 1) {}

  Priced solve() {
    const std::size_t states = positions_ * devices_;
    std::vector<Wide> value(states, no_value), next(states);
    node_.resize(devices_);
    partner_.assign(chain_.size() * devices_, 0);
    came_from_.assign(chain_.size() * states, 0);
    for (std::size_t u = 0; u < chain_.size(); u = chain_.after(u)) {
      price_nodes(u);
      std::ranges::fill(next, no_value);
      if (u == 0)
        begin(next);
      else
        step(u, value, next);
      value.swap(next);
    }
    return trace(value);
  }

 private:
  [[nodiscard]] bool allows(std::size_t u, std::size_t d) const { return space_.allowed[u * devices_ + d] != 0; }
  [[nodiscard]] Wide bytes_price(std::size_t u, std::size_t d) const {
    return Wide{prices_.byte[d]} * chain_.units[u].bytes();
  }

  [[nodiscard]] Wide price_of(std::size_t u, std::size_t a, std::size_t b) const {
    const bool experts = chain_.has_experts(u);
    Wide sum = bytes_price(u, a) + (experts ? bytes_price(u + 1, b) : Wide{0});
    if (aim_ == Aim::latency) {
      const Ticks time = chain_.node_time(u, a, b);
      return time == cannot_run ? no_value : sum + (Wide{time} << price_bits);
    }
    if (chain_.time_on(u, a) == cannot_run) return no_value;
    sum += Wide{prices_.tick[a]} * chain_.time_on(u, a);
    if (!experts) return sum;
    return chain_.time_on(u + 1, b) == cannot_run ? no_value : sum + Wide{prices_.tick[b]} * chain_.time_on(u + 1, b);
  }

  // The price of unit u on each device, with its experts where they are cheapest.
  void price_nodes(std::size_t u) {
    for (std::size_t a = 0; a < devices_; ++a) {
      node_[a] = no_value;
      if (!allows(u, a)) continue;
      if (!chain_.has_experts(u)) {
        node_[a] = price_of(u, a, a);
        continue;
      }
      for (std::size_t b = 0; b < devices_; ++b) {
        if (!allows(u + 1, b)) continue;
        const Wide price = price_of(u, a, b);
        if (price >= node_[a]) continue;
        node_[a] = price;
        partner_[u * devices_ + a] = static_cast<std::uint8_t>(b);
      }
    }
  }

  void begin(std::vector<Wide>& next) const {
    for (std::size_t p = 0; p < positions_; ++p)
      for (std::size_t d = 0; d < devices_; ++d)
        if (space_.ordered[0] != 0 ? order_[p] == d : p == 0) next[p * devices_ + d] = node_[d];
  }

  void offer(std::size_t u, std::size_t from_state, std::size_t p, std::size_t d, const std::vector<Wide>& value,
             std::vector<Wide>& next) {
    const std::size_t from = from_state % devices_;
    Wide price = value[from_state] + node_[d];
    if (aim_ == Aim::latency) {
      const Ticks hop = chain_.hop(u, from, d);
      if (hop == cannot_run) return;
      price += Wide{hop} << price_bits;
    }
    const std::size_t state = p * devices_ + d;
    if (price >= next[state]) return;
    next[state] = price;
    came_from_[u * positions_ * devices_ + state] = static_cast<std::uint32_t>(from_state);
  }

  void step(std::size_t u, const std::vector<Wide>& value, std::vector<Wide>& next) {
    for (std::size_t state = 0; state < value.size(); ++state) {
      if (value[state] >= no_value) continue;
      const std::size_t p = state / devices_;
      if (space_.ordered[u] != 0) {
        for (std::size_t later = p; later < positions_; ++later)
          if (node_[order_[later]] < no_value) offer(u, state, later, order_[later], value, next);
      } else {
        for (std::size_t d = 0; d < devices_; ++d)
          if (node_[d] < no_value) offer(u, state, p, d, value, next);
      }
    }
  }

  [[nodiscard]] Priced trace(const std::vector<Wide>& value) const {
    const auto best = std::ranges::min_element(value);
    Priced out{*best, {}};
    if (*best >= no_value) return {no_value, {}};
    out.assignment.resize(chain_.size());
    auto state = static_cast<std::size_t>(best - value.begin());
    std::size_t u = chain_.size() - 1;
    if (chain_.is_experts(u)) --u;
    for (;; u = chain_.before(u)) {
      const std::size_t d = state % devices_;
      out.assignment[u] = static_cast<std::uint8_t>(d);
      if (chain_.has_experts(u)) out.assignment[u + 1] = partner_[u * devices_ + d];
      if (u == 0) return out;
      state = came_from_[u * positions_ * devices_ + state];
    }
  }

  const Chain& chain_;
  const Space& space_;
  const std::vector<std::uint8_t>& order_;
  Aim aim_;
  const Prices& prices_;
  std::size_t devices_, positions_;
  std::vector<Wide> node_;                // D: of the present unit
  std::vector<std::uint8_t> partner_;     // U x D: where the experts of unit u on device d are
  std::vector<std::uint32_t> came_from_;  // U x states
};

constexpr double price_one = double{1 << price_bits};

// The multipliers as doubles, before they are rounded to prices.
struct Multipliers {
  std::vector<double> byte, tick;
};

Prices rounded(const Chain& chain, Aim aim, const Multipliers& at) {
  constexpr double most = 1e15;
  Prices prices = no_prices(chain, aim);
  for (std::size_t d = 0; d < chain.device_count(); ++d)
    if (chain.room[d] != no_memory_limit)
      prices.byte[d] = static_cast<Price>(std::clamp(at.byte[d] * price_one, 0.0, most));
  if (aim == Aim::latency) return prices;
  const double sum = std::accumulate(at.tick.begin(), at.tick.end(), 0.0);
  Price left = Price{1} << price_bits;
  for (std::size_t d = 0; d < chain.device_count(); ++d) {
    prices.tick[d] = std::min(left, static_cast<Price>(at.tick[d] / sum * price_one));
    left -= prices.tick[d];
  }
  return prices;  // what rounding left over costs nothing: the bound is a little smaller
}

Ticks value_of(const Chain& chain, const Prices& prices, Wide value) {
  for (std::size_t d = 0; d < chain.device_count(); ++d)
    if (prices.byte[d] > 0) value -= Wide{prices.byte[d]} * chain.room[d];
  return value <= 0 ? 0 : static_cast<Ticks>(value >> price_bits);
}

// Subgradient ascent. Bytes are counted in parts of the room, time in parts of the bound, so that both have one scale.
class PriceAscent {
 public:
  PriceAscent(const Chain& chain, Aim aim, Ticks target)
      : chain_(chain),
        aim_(aim),
        target_(target),
        devices_(chain.device_count()),
        at_{std::vector<double>(devices_, 0.0), std::vector<double>(devices_, 1.0 / static_cast<double>(devices_))},
        no_transfers_(devices_, 1) {
    best_.prices = no_prices(chain, aim);
  }

  [[nodiscard]] Prices prices() const { return rounded(chain_, aim_, at_); }
  [[nodiscard]] const RelaxedBound& best() const { return best_; }

  // Takes what was found at the prices; false if no step leads on.
  bool step(const Priced& found) {
    const Ticks value = value_of(chain_, prices(), found.value);
    keep(value);
    if (pace_ < 1e-4) return false;
    const std::vector<double> over = bytes_over(found.assignment), late = time_over(found.assignment);
    double norm = 0;
    for (std::size_t d = 0; d < devices_; ++d) norm += over[d] * over[d] + late[d] * late[d];
    if (norm <= 0) return false;
    const double goal = target_ > 0 ? static_cast<double>(target_) : 1.05 * scale();
    move(over, late, pace_ * std::max(goal - static_cast<double>(value), 1e-6 * goal) / norm);
    return true;
  }

 private:
  [[nodiscard]] bool is_limited(std::size_t d) const { return chain_.room[d] != no_memory_limit; }
  [[nodiscard]] double room(std::size_t d) const { return static_cast<double>(std::max<Bytes>(chain_.room[d], 1)); }
  [[nodiscard]] double scale() const { return static_cast<double>(std::max<Ticks>(best_.ticks, 1)); }

  void keep(Ticks value) {
    if (value > best_.ticks || first_) {
      best_.ticks = value;
      best_.prices = prices();
      since_better_ = 0;
    } else if (++since_better_ >= 8) {
      pace_ /= 1.6;
      since_better_ = 0;
    }
    first_ = false;
  }

  [[nodiscard]] std::vector<double> bytes_over(const Assignment& assignment) const {
    const std::vector<Bytes> bytes = held(chain_, assignment);
    std::vector<double> over(devices_, 0.0);
    for (std::size_t d = 0; d < devices_; ++d) {
      if (!is_limited(d)) continue;
      over[d] = (static_cast<double>(bytes[d]) - room(d)) / room(d);
      if (at_.byte[d] <= 0) over[d] = std::max(over[d], 0.0);
    }
    return over;
  }

  [[nodiscard]] std::vector<double> time_over(const Assignment& assignment) const {
    std::vector<double> late(devices_, 0.0);
    if (aim_ == Aim::latency) return late;
    const std::vector<Ticks> time = loads(chain_, assignment, no_transfers_);
    double mean = 0;
    for (const Ticks ticks : time) mean += static_cast<double>(ticks) / static_cast<double>(devices_);
    for (std::size_t d = 0; d < devices_; ++d) late[d] = (static_cast<double>(time[d]) - mean) / scale();
    return late;
  }

  void move(const std::vector<double>& over, const std::vector<double>& late, double length) {
    double sum = 0;
    for (std::size_t d = 0; d < devices_; ++d) {
      if (is_limited(d)) at_.byte[d] = std::max(0.0, at_.byte[d] + length * over[d] / room(d));
      if (aim_ == Aim::throughput) at_.tick[d] = std::max(1e-6, at_.tick[d] + length / scale() * late[d]);
      sum += at_.tick[d];
    }
    for (double& tick : at_.tick) tick /= sum;
  }

  const Chain& chain_;
  Aim aim_;
  Ticks target_;
  std::size_t devices_;
  Multipliers at_;
  std::vector<std::uint8_t> no_transfers_;
  RelaxedBound best_;
  double pace_ = 1;
  int since_better_ = 0;
  bool first_ = true;
};

}  // namespace

Prices no_prices(const Chain& chain, Aim aim) {
  const std::size_t devices = chain.device_count();
  Prices prices{std::vector<Price>(devices, 0), std::vector<Price>(devices, Price{1} << price_bits)};
  if (aim == Aim::throughput)
    for (Price& tick : prices.tick) tick /= static_cast<Price>(devices);
  return prices;
}

Priced cheapest(const Chain& chain, const Space& space, const std::vector<std::uint8_t>& order, Aim aim,
                const Prices& prices) {
  return PricedChain(chain, space, order, aim, prices).solve();
}

RelaxedBound relaxed_bound(const Chain& chain, const Space& space, Aim aim, Ticks target, int steps,
                           const std::function<void(const Assignment&)>& seen) {
  Space unordered = space;
  std::ranges::fill(unordered.ordered, std::uint8_t{0});
  PriceAscent ascent(chain, aim, target);
  for (int step = 0; step < steps; ++step) {
    const Priced found = cheapest(chain, unordered, {}, aim, ascent.prices());
    if (found.value >= no_value) return {.prices = ascent.prices(), .infeasible = true};
    if (seen) seen(found.assignment);
    if (!ascent.step(found)) break;
  }
  return ascent.best();
}

}  // namespace emplace::fit
