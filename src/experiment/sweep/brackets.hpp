// Brackets of successive halving: all trials of a bracket train to a rung, then the best of them to the next rung.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "experiment/sweep/points.hpp"
#include "experiment/sweep/rungs.hpp"

namespace emplace::experiment {

// Trials are promoted when all results of a rung are reported, so the promotions do not depend on the order of results.
// While a bracket waits for results, works of the next bracket are handed out, so workers idle only at the very end.
class Brackets final : public SweepStrategy {
 public:
  struct Size {
    std::size_t trials;
    std::size_t first_rung;
  };
  Brackets(const Space& space, std::unique_ptr<Points> points, Rungs rungs, const std::vector<Size>& sizes);

  std::optional<Work> next() override;
  void report(Work work, std::optional<double> objective) override;
  [[nodiscard]] bool finished() const override;
  [[nodiscard]] std::size_t trials() const override { return bracket_of_.size(); }
  [[nodiscard]] const Assignment& assignment(std::size_t trial) const override { return assignments_.at(trial); }
  [[nodiscard]] double share(std::size_t rung) const override { return rungs_.share(rung); }
  [[nodiscard]] bool stopped(std::size_t trial) const override { return stopped_.contains(trial); }
  [[nodiscard]] double planned_budgets() const override { return planned_; }

 private:
  struct Bracket {
    std::size_t first_rung;
    std::vector<std::size_t> sizes;  // trials on each rung
    std::size_t at = 0;              // position of the present rung in `sizes`
    std::vector<std::size_t> trials = {};
    std::size_t begun = 0;
    std::map<std::size_t, std::optional<double>> results = {};
    [[nodiscard]] bool done() const { return trials.empty(); }
  };
  void promote(Bracket& bracket);

  const Space& space_;
  std::unique_ptr<Points> points_;
  Rungs rungs_;
  std::vector<Bracket> brackets_;
  std::vector<std::size_t> bracket_of_;  // index of the bracket, by trial
  std::deque<Assignment> assignments_;
  std::set<std::size_t> stopped_;
  double planned_ = 0;
};

}  // namespace emplace::experiment
