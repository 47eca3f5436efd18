// Base of strategies that train every trial to its end and hand out the trials in the order of their numbers.
#pragma once

#include <deque>
#include <set>

#include "emplace/base/error.hpp"
#include "experiment/sweep/strategy.hpp"

namespace emplace::experiment {

class InTurn : public SweepStrategy {
 public:
  explicit InTurn(std::size_t trials) : trials_(trials) {}

  std::optional<Work> next() override {
    if (begun_.size() == trials_ || !ready(begun_.size())) return std::nullopt;
    begun_.push_back(make(begun_.size()));
    return Work{begun_.size() - 1, 0};
  }
  void report(Work work, std::optional<double> objective) override {
    EMPLACE_CHECK(work.rung == 0 && work.trial < begun_.size() && !ended_.contains(work.trial));
    ended_.insert(work.trial);
    heard(work.trial, objective);
  }
  [[nodiscard]] bool finished() const override { return ended_.size() == trials_; }
  [[nodiscard]] std::size_t trials() const override { return trials_; }
  [[nodiscard]] const Assignment& assignment(std::size_t trial) const override { return begun_.at(trial); }

 protected:
  // Whether all results on which the trial's assignment depends are reported.
  [[nodiscard]] virtual bool ready(std::size_t) const { return true; }
  virtual Assignment make(std::size_t trial) = 0;
  virtual void heard(std::size_t, std::optional<double>) {}

 private:
  std::size_t trials_;
  std::deque<Assignment> begun_;  // a deque, so that references to elements stay valid
  std::set<std::size_t> ended_;
};

}  // namespace emplace::experiment
