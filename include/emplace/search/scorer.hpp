// Evaluates a placer's candidates within its budget and remembers the best.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emplace/search/placer.hpp"

namespace emplace::search {

class Scorer {
 public:
  // The request's problem and evaluator must outlive the scorer.
  explicit Scorer(const PlacerRequest& request);
  ~Scorer();

  // Evaluates the candidates in order, as many as the budget allows; the very first one is always evaluated. Candidates
  // without an order get one if the schedule needs it: under `priority` the order of their upward ranks
  // (src/problem/order.hpp), under `in-order` the order in which a run under `priority` with these ranks starts the ops
  // (the ranks' order if that run cannot be timed, and for the objective `pipeline`, which reads no order).
  void score(std::vector<Placement> candidates);
  void score(Placement candidate);
  // Whether the budget is used up.
  [[nodiscard]] bool exhausted() const;
  // How many candidates are worth preparing: the smaller of `wanted` and the evaluations left in the budget.
  [[nodiscard]] std::uint64_t affordable(std::uint64_t wanted) const;
  [[nodiscard]] std::uint64_t evaluations() const;

  // The best so far, the first of equals; there must have been an evaluation.
  [[nodiscard]] const PlacerResult& best() const;
  // The same, but if its order was added here, it is first improved by order moves, with a part of the remaining
  // budget.
  PlacerResult result();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace emplace::search
