// Evaluates a placer's candidates within its budget and remembers the best.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emplace/search/placer.hpp"
#include "search/common/deadline.hpp"
#include "search/local/order_polish.hpp"

namespace emplace::search {

class Scorer {
 public:
  explicit Scorer(const PlacerRequest& request);

  // Evaluates the candidates in order, as many as the budget allows; the very first one is always evaluated. Candidates
  // without an order get one if the schedule needs it (OrderPolish::first_order).
  void score(std::vector<Placement> candidates);
  void score(Placement candidate);
  [[nodiscard]] bool exhausted() const;
  // How many candidates are worth preparing: the smaller of `wanted` and the evaluations left in the budget.
  [[nodiscard]] std::uint64_t affordable(std::uint64_t wanted) const;
  [[nodiscard]] std::uint64_t evaluations() const { return best_.evaluations; }

  // The best so far, the first of equals; there must have been an evaluation.
  [[nodiscard]] const PlacerResult& best() const { return best_; }
  // The same, but if its order was added here, it is first improved by order moves, with a part of the remaining
  // budget.
  PlacerResult result();

 private:
  PlacerRequest request_;
  Deadline deadline_;
  [[nodiscard]] std::vector<std::uint32_t> order_for(const std::vector<std::uint8_t>& device);

  std::optional<OrderPolish> polish_;  // for schedules and objectives that use an order
  PlacerResult best_;
  bool best_brought_order_ = true;
};

}  // namespace emplace::search
