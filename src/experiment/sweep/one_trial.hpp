// A strategy with a single trial: one of another strategy that needs no results.
#pragma once

#include "emplace/base/error.hpp"
#include "experiment/sweep/strategy.hpp"

namespace emplace::experiment {

class OneTrial final : public SweepStrategy {
 public:
  OneTrial(std::unique_ptr<SweepStrategy> all, std::size_t trial) : all_(std::move(all)), trial_(trial) {
    for (std::size_t earlier = 0; earlier <= trial; ++earlier) {
      const std::optional<Work> work = all_->next();
      EMPLACE_CHECK(work == (Work{earlier, 0}), "a trial depends on results");
    }
  }
  std::optional<Work> next() override {
    if (begun_) return std::nullopt;
    begun_ = true;
    return Work{trial_, 0};
  }
  void report(Work, std::optional<double>) override { ended_ = true; }
  [[nodiscard]] bool finished() const override { return ended_; }
  [[nodiscard]] std::size_t trials() const override { return all_->trials(); }
  [[nodiscard]] const Assignment& assignment(std::size_t trial) const override { return all_->assignment(trial); }
  [[nodiscard]] double planned_budgets() const override { return 1; }

 private:
  std::unique_ptr<SweepStrategy> all_;
  std::size_t trial_;
  bool begun_ = false, ended_ = false;
};

}  // namespace emplace::experiment
