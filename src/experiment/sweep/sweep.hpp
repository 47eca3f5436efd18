// A sweep's file: a recipe, the space of what varies in it, and the strategy that chooses trials (docs/formats.md).
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
  std::int64_t trials = 0;  // 0: as many as the strategy has of itself
  std::int64_t ranks_per_trial = 1;
  std::string run;
};
void describe(SweepOptions& options, OptionVisitor& visit);

// What every trial trains: one training a seed, each over all problems of the recipe. The trial's objective is
// trial_objective() (objective.hpp) of their best step times, or loads.
struct Sweep {
  SweepOptions options;
  std::vector<std::int64_t> seeds;  // of a trial's trainings, at least one
  std::int64_t seed = 0;            // of the strategy's own draws: that of the recipe
  Space space;
  ConfigTable strategy_options;  // defaults not filled in
  ConfigTable base;              // the recipe, without the keys that vary
  std::string place;             // the sweep's file, for messages

  // Everything with defaults filled in, the recipe's sources absolute, its file taken in: runs again as it is.
  [[nodiscard]] ConfigTable resolved() const;
  [[nodiscard]] const SweepStrategyEntry& strategy_entry() const;
  // Keeps a reference to `space`.
  [[nodiscard]] std::unique_ptr<SweepStrategy> make_strategy() const;
  // The recipe of a trial with the recipe's own seed, its whole budget, and no run folder.
  [[nodiscard]] ConfigTable recipe(const Assignment& assignment) const;
  // The same with this seed and run folder, up to this share of its budgets, updates and evaluations rounded to at
  // least one. A share of evaluations that is no whole update of the trial's learner is what only its Training can
  // refuse.
  [[nodiscard]] ConfigTable recipe(const Assignment& assignment, std::int64_t with_seed, double share,
                                   const std::string& run) const;
};

// `key=value` texts over a sweep's table, as apply_overrides (run/recipe.hpp) does it for recipes; space.KEY is a
// parameter, and another strategy on the command line takes the options of the file's with it.
void apply_sweep_overrides(ConfigTable& table, const std::vector<std::string>& overrides);

// The recipe that the sweep's trials start from: as it is named from this folder, else from that of the sweep's file;
// "" if it names none.
std::string recipe_file_of(const ConfigTable& sweep);

// InputError for all that make_recipe refuses in the recipe of a corner of the space (Space::corners), for keys that
// change what is measured, so that trials could not be compared, and for what the strategy refuses.
Sweep make_sweep(const ConfigTable& table);

// The keys that change how a sweep goes on, not what came of the trials so far: the only ones that --resume may
// override. More trials are among them where a strategy trains each to its end.
bool sweep_may_change_on_resume(const std::string& key, const SweepStrategyEntry& strategy);

}  // namespace emplace::experiment
