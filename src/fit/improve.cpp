#include <algorithm>
#include <array>
#include <map>

#include "fit/state.hpp"

namespace emplace::fit {

namespace {

// One to three units that move to one device, and a unit that makes room for them.
struct Change {
  std::array<std::size_t, 3> units{};
  std::size_t count = 0, to = 0;
};

class Improver {
 public:
  explicit Improver(PlanState& state) : state_(state), chain_(state.chain()), devices_(chain_.device_count()) {
    number_units();
  }

  void run() {
    for (int round = 0; round < most_rounds && work_ < most_work; ++round)
      if (!better_single() && !better_pair()) return;
  }

  void free_bytes() {
    for (int round = 0; round < most_rounds && !state_.has_room(); ++round) {
      const PlanState::Cost now = state_.cost();
      const Bytes over = state_.over();
      Change best;
      double best_price = 0;
      each_change(representatives(), [&](const Change& change, std::size_t from) {
        if (state_.over(from) == 0) return;
        apply(change);
        const Bytes less = over - state_.over();
        const double price = static_cast<double>(state_.cost().first - now.first) / static_cast<double>(less);
        if (less > 0 && (best.count == 0 || price < best_price)) {
          best = change;
          best_price = price;
        }
        undo(change, from);
      });
      if (best.count == 0) return;
      apply(best);
    }
  }

 private:
  static constexpr int most_rounds = 2000;
  static constexpr std::uint64_t most_work = 8'000'000;  // changes that are tried

  // Units with the same number are interchangeable but for their neighbours.
  void number_units() {
    std::map<std::vector<std::int64_t>, std::size_t> seen;
    for (std::size_t u = 0; u < chain_.size(); ++u) {
      std::vector<std::int64_t> key = {static_cast<std::int64_t>(chain_.units[u].kind), chain_.units[u].bytes()};
      for (std::size_t d = 0; d < devices_; ++d)
        key.insert(key.end(), {chain_.time_on(u, d), chain_.beside[u * devices_ + d]});
      number_.push_back(seen.try_emplace(std::move(key), seen.size()).first->second);
    }
  }

  [[nodiscard]] std::size_t device_or_none(std::size_t u) const {
    return u < chain_.size() ? state_.device(u) : devices_;
  }

  // Of the units that look the same from where they are, the first and the last.
  [[nodiscard]] std::vector<std::size_t> representatives() const {
    std::map<std::array<std::size_t, 7>, std::array<std::size_t, 2>> ends;
    for (std::size_t u = 0; u < chain_.size(); ++u) {
      const bool experts = chain_.is_experts(u);
      const std::array<std::size_t, 7> key = {number_[u],
                                              state_.device(u),
                                              device_or_none(chain_.before(u)),
                                              experts ? devices_ : device_or_none(chain_.after(u)),
                                              chain_.has_experts(u) ? device_or_none(u + 1) : devices_,
                                              device_or_none(state_.ordered_before(u)),
                                              device_or_none(state_.ordered_after(u))};
      ends.try_emplace(key, std::array{u, u}).first->second[1] = u;
    }
    std::vector<std::size_t> units;
    for (const auto& [key, both] : ends) {
      units.push_back(both[0]);
      if (both[1] != both[0]) units.push_back(both[1]);
    }
    std::ranges::sort(units);
    return units;
  }

  // The unit, and with an attention unit also what follows in its layer on the same device.
  [[nodiscard]] std::vector<Change> changes_of(std::size_t u, std::size_t d) const {
    std::vector<Change> changes = {{{u, 0, 0}, 1, d}};
    const std::size_t next = u + 1;
    if (next >= chain_.size() || chain_.units[u].layer < 0 || chain_.units[next].layer != chain_.units[u].layer ||
        state_.device(next) != state_.device(u) || !state_.can_move(next, d))
      return changes;
    changes.push_back({{u, next, 0}, 2, d});
    const std::size_t last = u + 2;
    if (last < chain_.size() && chain_.is_experts(last) && state_.device(last) == state_.device(u) &&
        state_.can_move(last, d))
      changes.push_back({{u, next, last}, 3, d});
    return changes;
  }

  void apply(const Change& change) {
    for (std::size_t i = 0; i < change.count; ++i) state_.move(change.units[i], change.to);
  }
  void undo(const Change& change, std::size_t from) {
    for (std::size_t i = change.count; i-- > 0;) state_.move(change.units[i], from);
  }

  template <class Visit>
  void each_change(const std::vector<std::size_t>& units, Visit&& visit) {
    for (const std::size_t u : units)
      for (std::size_t d = 0; d < devices_; ++d)
        if (state_.can_move(u, d))
          for (const Change& change : changes_of(u, d)) {
            ++work_;
            visit(change, state_.device(u));
          }
  }

  [[nodiscard]] bool is_better(Bytes over, const PlanState::Cost& cost) const {
    return state_.over() < over || (state_.over() == over && state_.cost() < cost);
  }

  bool better_single() {
    const Bytes over = state_.over();
    const PlanState::Cost start = state_.cost();
    Bytes best_over = over;
    PlanState::Cost best_cost = start;
    Change best;
    each_change(representatives(), [&](const Change& change, std::size_t from) {
      apply(change);
      if (is_better(best_over, best_cost)) {
        best = change;
        best_over = state_.over();
        best_cost = state_.cost();
      }
      undo(change, from);
    });
    if (best.count == 0) return false;
    apply(best);
    return true;
  }

  // A change, and another one that makes room where the first goes, or uses what it leaves.
  bool better_pair() {
    const Bytes over = state_.over();
    const PlanState::Cost start = state_.cost();
    const std::vector<std::size_t> units = representatives();
    Bytes best_over = over;
    PlanState::Cost best_cost = start;
    Change first_best, second_best;
    each_change(units, [&](const Change& first, std::size_t from) {
      if (work_ >= most_work) return;
      apply(first);
      for (const std::size_t v : units) {
        if (std::find(first.units.begin(), first.units.begin() + first.count, v) !=
            first.units.begin() + static_cast<std::ptrdiff_t>(first.count))
          continue;
        const std::size_t at = state_.device(v);
        if (at != first.to && (state_.over(first.to) > 0 || at == from)) continue;
        for (std::size_t d = 0; d < devices_; ++d) {
          if (at != first.to && d != from) continue;
          if (!state_.can_move(v, d)) continue;
          for (const Change& second : changes_of(v, d)) {
            ++work_;
            apply(second);
            if (is_better(best_over, best_cost)) {
              first_best = first;
              second_best = second;
              best_over = state_.over();
              best_cost = state_.cost();
            }
            undo(second, at);
          }
        }
      }
      undo(first, from);
    });
    if (first_best.count == 0) return false;
    apply(first_best);
    apply(second_best);
    return true;
  }

  PlanState& state_;
  const Chain& chain_;
  std::size_t devices_;
  std::vector<std::size_t> number_;
  std::uint64_t work_ = 0;
};

}  // namespace

void make_room(PlanState& state) { Improver(state).free_bytes(); }

void improve(PlanState& state) {
  Improver improver(state);
  improver.free_bytes();
  improver.run();
}

}  // namespace emplace::fit
