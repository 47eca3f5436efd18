// Evaluates a placer's candidates within its budget and remembers the best.
#pragma once

#include <cstdint>
#include <vector>

#include "deadline.hpp"
#include "emplace/search/placer.hpp"

namespace emplace {

class Scorer {
 public:
  explicit Scorer(const PlacerRequest& request);

  // Evaluates the candidates in order, as many as the budget allows; the very first is always evaluated. Candidates
  // without an order get one by upward rank where the schedule needs it.
  void score(std::vector<Placement> candidates);
  void score(Placement candidate);
  [[nodiscard]] bool exhausted() const;
  // How many candidates are worth preparing: the wanted number, or what the budget leaves of it.
  [[nodiscard]] std::uint64_t affordable(std::uint64_t wanted) const;
  [[nodiscard]] std::uint64_t evaluations() const { return best_.evaluations; }

  // The best so far, the first of equals; requires one evaluation.
  [[nodiscard]] PlacerResult result() const { return best_; }

 private:
  PlacerRequest request_;
  Deadline deadline_;
  PlacerResult best_;
};

}  // namespace emplace
