// A sweep's file: a recipe, the space of the keys that vary in it, and the strategy that chooses trials
// (docs/formats.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/base/options.hpp"
#include "experiment/sweep/space.hpp"
#include "experiment/sweep/strategy.hpp"

namespace emplace::experiment {

struct SweepOptions {
  std::string recipe;
  std::string strategy = "random";
  std::int64_t trials = 0;  // 0: the strategy determines the number
  std::int64_t ranks_per_trial = 1;
  std::string run;
};
void describe(SweepOptions& options, OptionVisitor& visit);

// A trial has one training for each seed, each on all problems of the recipe. The trial's objective is
// trial_objective() (objective.hpp) of their best step times, or loads.
struct Sweep {
  SweepOptions options;
  std::vector<std::int64_t> seeds;  // the seeds of a trial's trainings, at least one
  std::int64_t seed = 0;            // the recipe's seed, for the strategy's own draws
  Space space;
  ConfigTable strategy_options;  // defaults not filled in
  ConfigTable base;              // the recipe, without the keys that vary
  std::string place;             // the sweep's file, for messages

  // The sweep with all defaults, with absolute paths of sources and with the recipe's keys instead of the name of its
  // file: it can be run again unchanged.
  [[nodiscard]] ConfigTable resolved() const;
  [[nodiscard]] const SweepStrategyEntry& strategy_entry() const;
  // The strategy keeps a reference to `space`.
  [[nodiscard]] std::unique_ptr<SweepStrategy> make_strategy() const;
  // The recipe of a trial with the recipe's own seed, its whole budget, and no run folder.
  [[nodiscard]] ConfigTable recipe(const Assignment& assignment) const;
  // The same with this seed and run folder, and with this share of its budgets; updates and evaluations are rounded, to
  // at least one. If a share of evaluations is less than one update of the trial's learner, Training refuses it.
  [[nodiscard]] ConfigTable recipe(const Assignment& assignment, std::int64_t with_seed, double share,
                                   const std::string& run) const;
};

// Applies `key=value` texts to a sweep's table, like apply_overrides (run/recipe.hpp) for recipes. space.KEY is a
// parameter. If another strategy is given, the options of the file's strategy are removed.
void apply_sweep_overrides(ConfigTable& table, const std::vector<std::string>& overrides);

// The file of the recipe that the sweep's trials start from, relative to the current folder or else to that of the
// sweep's file; "" if the sweep names none.
std::string recipe_file_of(const ConfigTable& sweep);

// InputError if make_recipe refuses the recipe of a corner of the space (Space::corners), if a key that varies changes
// what is measured, so that trials could not be compared, or if the strategy refuses its options.
Sweep make_sweep(const ConfigTable& table);

// Whether --resume may override the key: only keys that do not change the results of the trials so far. `trials` is one
// of them if the strategy trains each trial to its end.
bool sweep_may_change_on_resume(const std::string& key, const SweepStrategyEntry& strategy);

}  // namespace emplace::experiment
