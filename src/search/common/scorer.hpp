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

  // Evaluates the candidates in order, as many as the budget allows; the very first is always evaluated. Candidates
  // without an order get one where the schedule needs it (OrderPolish::first_order).
  void score(std::vector<Placement> candidates);
  void score(Placement candidate);
  [[nodiscard]] bool exhausted() const;
  // How many candidates are worth preparing: the wanted number, or what the budget leaves of it.
  [[nodiscard]] std::uint64_t affordable(std::uint64_t wanted) const;
  [[nodiscard]] std::uint64_t evaluations() const { return best_.evaluations; }

  // The best so far, the first of equals; requires one evaluation.
  [[nodiscard]] const PlacerResult& best() const { return best_; }
  // The same; an order that it did not bring is first improved by order moves, on a part of the budget that is left.
  PlacerResult result();

 private:
  PlacerRequest request_;
  Deadline deadline_;
  [[nodiscard]] std::vector<std::uint32_t> order_for(const std::vector<std::uint8_t>& device);

  std::optional<OrderPolish> polish_;  // where the order counts
  PlacerResult best_;
  bool best_brought_order_ = true;
};

}  // namespace emplace::search
