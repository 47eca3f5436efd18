#include "fit/state.hpp"

#include <algorithm>

namespace emplace::fit {

namespace {

// Time of what has no route: longer than any plan, and small enough for sums.
constexpr Ticks no_route_ticks = Ticks{1} << 50;
Ticks or_long(Ticks ticks) { return ticks == cannot_run ? no_route_ticks : ticks; }

}  // namespace

PlanState::PlanState(const Chain& chain, const Space& space, std::vector<std::uint8_t> order, Aim aim,
                     const std::vector<std::uint8_t>& exempt, Assignment start)
    : chain_(chain),
      space_(space),
      aim_(aim),
      exempt_(exempt),
      assignment_(std::move(start)),
      position_(chain.device_count(), chain.device_count()),
      ordered_before_(chain.size(), chain.size()),
      ordered_after_(chain.size(), chain.size()),
      bytes_(held(chain, assignment_)),
      load_(chain.device_count(), 0) {
  for (std::size_t p = 0; p < order.size(); ++p) position_[order[p]] = p;
  std::size_t last = chain.size();
  for (std::size_t u = 0; u < chain.size(); ++u) {
    ordered_before_[u] = last;
    if (space.ordered[u] != 0) last = u;
  }
  last = chain.size();
  for (std::size_t u = chain.size(); u-- > 0;) {
    ordered_after_[u] = last;
    if (space.ordered[u] != 0) last = u;
  }
  for (std::size_t d = 0; d < bytes_.size(); ++d) over_ += over(d);
  for (std::size_t u = 0; u < chain.size(); ++u) add_loads(u, 1);
  for (std::size_t u = 0; u < chain.size(); ++u) add_transfer(u, 1);
  for (std::size_t u = 0; u < chain.size(); u = chain.after(u)) {
    latency_ += or_long(chain.node_time(u, assignment_[u], chain.has_experts(u) ? assignment_[u + 1] : 0));
    if (u > 0) latency_ += or_long(chain.hop(u, assignment_[chain.before(u)], assignment_[u]));
  }
}

PlanState::Cost PlanState::cost() const {
  if (aim_ == Aim::latency) return {latency_, 0};
  Ticks most = 0, sum = 0;
  for (const Ticks load : load_) {
    most = std::max(most, load);
    sum += load;
  }
  return {most, sum};
}

Bytes PlanState::over(std::size_t d) const { return std::max<Bytes>(0, bytes_[d] - chain_.room[d]); }

bool PlanState::can_move(std::size_t u, std::size_t d) const {
  if (assignment_[u] == d || space_.allowed[u * chain_.device_count() + d] == 0) return false;
  if (space_.ordered[u] == 0) return true;
  const std::size_t position = position_[d], none = chain_.size();
  if (position == chain_.device_count()) return false;
  const std::size_t before = ordered_before_[u], after = ordered_after_[u];
  return (before == none || position_[assignment_[before]] <= position) &&
         (after == none || position <= position_[assignment_[after]]);
}

// The terms of the latency that depend on unit u.
Ticks PlanState::around(std::size_t u) const {
  const std::size_t node = chain_.is_experts(u) ? u - 1 : u;
  Ticks sum = or_long(chain_.node_time(node, assignment_[node], chain_.has_experts(node) ? assignment_[node + 1] : 0));
  if (node != u) return sum;
  if (u > 0) sum += or_long(chain_.hop(u, assignment_[chain_.before(u)], assignment_[u]));
  const std::size_t after = chain_.after(u);
  if (after < chain_.size()) sum += or_long(chain_.hop(after, assignment_[u], assignment_[after]));
  return sum;
}

void PlanState::add_loads(std::size_t u, Ticks sign) {
  load_[assignment_[u]] += sign * or_long(chain_.time_on(u, assignment_[u]));
}

// Into u from the unit before it, and back from experts.
void PlanState::add_transfer(std::size_t u, Ticks sign) {
  const std::size_t before = chain_.before(u);
  if (before == chain_.size()) return;
  const std::size_t from = assignment_[before], to = assignment_[u];
  if (from == to) return;
  Ticks ticks = or_long(chain_.hop(u, from, to));
  if (chain_.is_experts(u)) ticks += or_long(chain_.hop_back(u, to, from));
  if (exempt_[from] == 0) load_[from] += sign * ticks;
  if (exempt_[to] == 0) load_[to] += sign * ticks;
}

void PlanState::move(std::size_t u, std::size_t d) {
  const std::size_t from = assignment_[u], after = chain_.is_experts(u) ? chain_.size() : chain_.after(u);
  const auto transfers = [&](Ticks sign) {
    add_transfer(u, sign);
    if (after < chain_.size()) add_transfer(after, sign);
    if (chain_.has_experts(u)) add_transfer(u + 1, sign);
  };
  latency_ -= around(u);
  add_loads(u, -1);
  transfers(-1);
  over_ -= over(from) + over(d);
  bytes_[from] -= chain_.units[u].bytes();
  bytes_[d] += chain_.units[u].bytes();
  over_ += over(from) + over(d);
  assignment_[u] = static_cast<std::uint8_t>(d);
  latency_ += around(u);
  add_loads(u, 1);
  transfers(1);
}

}  // namespace emplace::fit
