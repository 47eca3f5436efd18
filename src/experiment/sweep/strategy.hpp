// What a sweep tries next: strategies hand out trainings of trials and hear what came of them.
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

// Train trial `trial` until the share of the recipe's budget that `rung` stands for. Rungs of a trial follow one
// another without gaps, the later ones continue the training of the earlier ones; its first one need not be 0.
struct Work {
  std::size_t trial = 0;
  std::size_t rung = 0;
  friend auto operator<=>(const Work&, const Work&) = default;
};

// Everything that a strategy decides follows from its options, the seed, and the order of calls of next() that returned
// a work and of report(): who repeats these calls gets the same works (SweepRun resumes so). next() without a work
// changes nothing. The works of a strategy whose entry says `deterministic`, and what they are of, do not even depend
// on the order in which results come in.
class SweepStrategy {
 public:
  virtual ~SweepStrategy() = default;

  // What to train next; nothing while that depends on results that are still to come, and nothing once finished().
  virtual std::optional<Work> next() = 0;
  // The objective that a work came to, lower is better; none if it failed. Each work is reported once.
  virtual void report(Work work, std::optional<double> objective) = 0;
  // All works are handed out and reported.
  [[nodiscard]] virtual bool finished() const = 0;

  // Trials in all, numbered from 0; those of which no work is handed out yet included.
  [[nodiscard]] virtual std::size_t trials() const = 0;
  // Of a trial of which a work was handed out.
  [[nodiscard]] virtual const Assignment& assignment(std::size_t trial) const = 0;
  // Share of the budget at which a rung ends, in (0, 1]; 1 on the last.
  [[nodiscard]] virtual double share(std::size_t) const { return 1; }
  // Whether the strategy has given the trial up before its whole budget.
  [[nodiscard]] virtual bool stopped(std::size_t) const { return false; }
  // Budgets of one trial that all works together cost, if none fails: what the expected end is reckoned from.
  [[nodiscard]] virtual double planned_budgets() const { return static_cast<double>(trials()); }
};

struct StrategySetup {
  const Space* space = nullptr;  // outlives the strategy
  std::size_t trials = 0;        // 0: not given
  std::uint64_t seed = 0;
};

struct SweepStrategyEntry : EntryInfo {
  bool deterministic = true;  // the same works and the same trials, whatever the order of results
  bool needs_results = true;  // false: every trial is known from its number alone
  bool stops_early = false;   // works with shares of the budget
  // InputError where trials are missing, or more or fewer than the strategy can use.
  std::function<std::unique_ptr<SweepStrategy>(const ConfigTable& options, const StrategySetup& setup)> make;
  std::function<ConfigTable(const ConfigTable& options)> resolve;
};

// Every strategy, in the order in which `emplace list strategies` shows them.
std::span<const SweepStrategyEntry> sweep_strategies();

}  // namespace emplace::experiment
