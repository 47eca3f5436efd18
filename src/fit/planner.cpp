#include "fit/planner.hpp"

#include <algorithm>
#include <tuple>

#include "fit/exact.hpp"
#include "fit/intervals.hpp"
#include "fit/state.hpp"

namespace emplace::fit {

namespace {

struct Candidate {
  Assignment assignment;
  std::size_t order = 0;
  Bytes over = 0;
  PlanState::Cost cost;

  friend bool operator<(const Candidate& a, const Candidate& b) {
    return std::tie(a.over, a.cost) < std::tie(b.over, b.cost);
  }
};

class Planner {
 public:
  explicit Planner(const PlannerRequest& request) : request_(request), orders_(request.orders) {}

  Planned run() {
    for (const Assignment& start : request_.starts) add(start, 0);
    const bool divisible = is_divisible(request_.chain, request_.space);
    if (divisible) divide();
    const RelaxedBound bound = relaxed();
    planned_.bound = bound.ticks;
    if (bound.infeasible) {
      planned_.proved = true;
      return planned_;
    }
    if (!divisible) {
      add_priced(bound.prices);
      improve_best();
    }
    take_best();
    if (!divisible && request_.aim == Aim::latency) search(bound.prices);
    if (divisible && request_.aim == Aim::latency) planned_.proved = request_.all_orders;
    if (planned_.proved && planned_.assignment) planned_.bound = std::max(planned_.bound, planned_.ticks);
    if (planned_.assignment && planned_.bound >= planned_.ticks) planned_.proved = true;
    return planned_;
  }

 private:
  static constexpr int relaxation_steps = 300;
  static constexpr int most_exchanges = 400;
  static constexpr std::size_t improved_candidates = 4;
  static constexpr std::uint64_t exact_nodes = 200'000;

  [[nodiscard]] PlanState state_of(const Assignment& assignment, std::size_t order) const {
    return {request_.chain, request_.space, orders_[order], request_.aim, request_.exempt, assignment};
  }

  void add(const Assignment& assignment, std::size_t order) {
    const PlanState state = state_of(assignment, order);
    candidates_.push_back({assignment, order, state.over(), state.cost()});
  }

  // The best division for each order, and for orders beside the best one.
  void divide() {
    for (std::size_t i = 0; i < orders_.size(); ++i) divide(i);
    if (request_.all_orders) return;
    for (int tried = 0, round = 0; tried < most_exchanges; ++round) {
      const auto best = std::min_element(candidates_.begin(), candidates_.end());
      const bool none = best == candidates_.end();
      const std::size_t start = none ? static_cast<std::size_t>(round) : best->order, known = orders_.size();
      for (std::size_t i = request_.first_exchanged; i < orders_[start].size(); ++i)
        for (std::size_t j = i + 1; j < orders_[start].size() && tried < most_exchanges; ++j, ++tried) {
          std::vector<std::uint8_t> order = orders_[start];
          std::swap(order[i], order[j]);
          orders_.push_back(std::move(order));
          if (!divide(orders_.size() - 1)) orders_.pop_back();
        }
      if (orders_.size() == known && (!none || start + 1 == orders_.size())) return;
    }
  }

  // Whether that is better than what is known.
  bool divide(std::size_t i) {
    const auto found = best_division(request_.chain, request_.space, orders_[i], request_.aim, request_.exempt);
    if (!found) return false;
    const auto best = std::min_element(candidates_.begin(), candidates_.end());
    const PlanState state = state_of(*found, i);
    Candidate candidate{*found, i, state.over(), state.cost()};
    const bool better = best == candidates_.end() || candidate < *best;
    if (better) candidates_.push_back(std::move(candidate));
    return better;
  }

  RelaxedBound relaxed() {
    Ticks target = 0;
    for (const Candidate& candidate : candidates_)
      if (candidate.over == 0 && (target == 0 || candidate.cost.first < target)) target = candidate.cost.first;
    std::optional<Candidate> best;  // of the relaxed assignments that have room, where no order is asked for
    const bool ordered = request_.space.is_ordered();
    RelaxedBound bound = relaxed_bound(request_.chain, request_.space, request_.aim, target, relaxation_steps,
                                       [&](const Assignment& seen) {
                                         if (ordered) return;
                                         const PlanState state = state_of(seen, 0);
                                         const Candidate candidate{seen, 0, state.over(), state.cost()};
                                         if (!best || candidate < *best) best = candidate;
                                       });
    if (best) candidates_.push_back(std::move(*best));
    return bound;
  }

  // The cheapest assignment of each order at the bound's prices, and at prices beside them.
  void add_priced(const Prices& prices) {
    for (std::size_t i = 0; i < request_.orders.size(); ++i)
      for (const Price percent : {100, 80, 130}) {
        Prices scaled = prices;
        for (Price& byte : scaled.byte) byte = byte / 100 * percent;
        const Priced found = cheapest(request_.chain, request_.space, request_.orders[i], request_.aim, scaled);
        if (found.value >= no_value) break;
        PlanState state = state_of(found.assignment, i);
        make_room(state);
        candidates_.push_back({state.assignment(), i, state.over(), state.cost()});
      }
  }

  void improve_best() {
    std::stable_sort(candidates_.begin(), candidates_.end());
    const auto same = [](const Candidate& a, const Candidate& b) { return a.assignment == b.assignment; };
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end(), same), candidates_.end());
    if (candidates_.size() > improved_candidates) candidates_.resize(improved_candidates);
    for (Candidate& candidate : candidates_) {
      PlanState state = state_of(candidate.assignment, candidate.order);
      improve(state);
      candidate = {state.assignment(), candidate.order, state.over(), state.cost()};
    }
  }

  void take_best() {
    const auto best = std::min_element(candidates_.begin(), candidates_.end());
    if (best == candidates_.end() || best->over > 0) return;
    take(best->assignment, best->order, best->cost.first);
  }

  void take(const Assignment& assignment, std::size_t order, Ticks ticks) {
    planned_.assignment = assignment;
    planned_.order = orders_[order];
    planned_.ticks = ticks;
  }

  void search(const Prices& prices) {
    bool complete = true;
    for (std::size_t i = 0; i < request_.orders.size() && complete; ++i) {
      const Ticks upper = planned_.assignment ? planned_.ticks : total_limit;
      const Exact exact = search_exactly(request_.chain, request_.space, request_.orders[i], prices, upper,
                                         exact_nodes / request_.orders.size());
      complete = exact.complete;
      if (exact.assignment) take(*exact.assignment, i, latency(request_.chain, *exact.assignment));
    }
    planned_.proved = complete && request_.all_orders;
  }

  const PlannerRequest& request_;
  std::vector<std::vector<std::uint8_t>> orders_;
  std::vector<Candidate> candidates_;
  Planned planned_;
};

}  // namespace

Planned plan(const PlannerRequest& request) { return Planner(request).run(); }

}  // namespace emplace::fit
