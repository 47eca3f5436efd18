// Shares of the budget at which strategies stop trials early: rung r of R ends at reduction^(r - R + 1) of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/base/options.hpp"
#include "experiment/sweep/strategy.hpp"

namespace emplace::experiment {

struct RungOptions {
  int reduction = 3;  // eta: of so many trials one goes on, to so many times the budget
  int rungs = 0;      // 0: as many as leave one trial on the last
  std::string points = "random";
};
void describe(RungOptions& options, OptionVisitor& visit);

class Rungs {
 public:
  // `trials` sets the number of rungs where the options leave it open.
  Rungs(const RungOptions& options, std::size_t trials);

  [[nodiscard]] std::size_t count() const { return shares_.size(); }
  [[nodiscard]] double share(std::size_t rung) const { return shares_.at(rung); }
  [[nodiscard]] std::size_t reduction() const { return reduction_; }
  // Trials of a bracket of `trials` on its first rung `first` and on each later one: each time one of `reduction`,
  // but at least one.
  [[nodiscard]] std::vector<std::size_t> sizes(std::size_t trials, std::size_t first) const;
  // What such a bracket costs, in budgets of one trial.
  [[nodiscard]] double budgets(std::size_t trials, std::size_t first) const;

 private:
  std::size_t reduction_;
  std::vector<double> shares_;
};

}  // namespace emplace::experiment
