// Strategies decide which trial a sweep trains next, from the results of earlier trainings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "emplace/base/registry.hpp"
#include "experiment/sweep/space.hpp"

namespace emplace::experiment {

// A training: trial `trial` up to the share of the recipe's budget at which `rung` ends. The rungs of a trial have
// consecutive numbers, of which the first need not be 0; each continues the training of the rung before.
struct Work {
  std::size_t trial = 0;
  std::size_t rung = 0;
  friend auto operator<=>(const Work&, const Work&) = default;
};

// All decisions of a strategy depend only on its options, the seed, and the sequence of calls of report() and of those
// calls of next() that returned a work: repeating this sequence gives the same works, which is how SweepRun resumes. A
// call of next() that returns no work must not change the state. If the entry of a strategy says `deterministic`, its
// works and their assignments do not depend on the order in which results are reported.
class SweepStrategy {
 public:
  virtual ~SweepStrategy() = default;

  // The next training; none while it depends on results that are not reported yet, and none once finished().
  virtual std::optional<Work> next() = 0;
  // Reports the objective of a work, in seconds, lower is better; none if it failed. Each work is reported once.
  virtual void report(Work work, std::optional<double> objective) = 0;
  // Whether all works are handed out and reported.
  [[nodiscard]] virtual bool finished() const = 0;

  // The number of all trials, including those without a work yet; they are numbered from 0.
  [[nodiscard]] virtual std::size_t trials() const = 0;
  // The values of a trial of which a work has been handed out.
  [[nodiscard]] virtual const Assignment& assignment(std::size_t trial) const = 0;
  // Share of the budget at which a rung ends, in (0, 1]; 1 on the last.
  [[nodiscard]] virtual double share(std::size_t) const { return 1; }
  // Whether the strategy has stopped the trial before its whole budget.
  [[nodiscard]] virtual bool stopped(std::size_t) const { return false; }
  // The cost of all works if none fails, in full budgets of one trial; the expected end is computed from it.
  [[nodiscard]] virtual double planned_budgets() const { return static_cast<double>(trials()); }
};

struct StrategySetup {
  const Space* space = nullptr;  // outlives the strategy
  std::size_t trials = 0;        // 0: not given
  std::uint64_t seed = 0;
};

struct SweepStrategyEntry : EntryInfo {
  bool deterministic = true;  // the same works and the same trials, whatever the order of results
  bool needs_results = true;  // false: a trial's values depend only on its number and the seed
  bool stops_early = false;   // its works end at shares of the budget
  // InputError if the number of trials is missing, or not one that the strategy can use.
  std::function<std::unique_ptr<SweepStrategy>(const ConfigTable& options, const StrategySetup& setup)> make;
  std::function<ConfigTable(const ConfigTable& options)> resolve;
};

// Every strategy, in the order in which `emplace list strategies` shows them.
std::span<const SweepStrategyEntry> sweep_strategies();

}  // namespace emplace::experiment
