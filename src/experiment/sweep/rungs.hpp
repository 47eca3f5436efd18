// Shares of the budget at which strategies stop trials early: rung r of R ends at the share reduction^(r - R + 1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/base/options.hpp"
#include "experiment/sweep/strategy.hpp"

namespace emplace::experiment {

struct RungOptions {
  int reduction = 3;  // eta: one of this many trials is promoted, to this many times the budget
  int rungs = 0;      // 0: such that one trial is left on the last
  std::string points = "random";
};
void describe(RungOptions& options, OptionVisitor& visit);

class Rungs {
 public:
  // `trials` determines the number of rungs if the options do not.
  Rungs(const RungOptions& options, std::size_t trials);

  [[nodiscard]] std::size_t count() const { return shares_.size(); }
  [[nodiscard]] double share(std::size_t rung) const { return shares_.at(rung); }
  [[nodiscard]] std::size_t reduction() const { return reduction_; }
  // The number of trials of a bracket on each rung: `trials` on its first rung `first`, then each time one of
  // `reduction`, but at least one.
  [[nodiscard]] std::vector<std::size_t> sizes(std::size_t trials, std::size_t first) const;
  // What such a bracket costs, in budgets of one trial.
  [[nodiscard]] double budgets(std::size_t trials, std::size_t first) const;

 private:
  std::size_t reduction_;
  std::vector<double> shares_;
};

}  // namespace emplace::experiment
