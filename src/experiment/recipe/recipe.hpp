// Recipes: one whole training as flat TOML keys plus one table for each named method (docs/formats.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/base/options.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/source/load_problem.hpp"
#include "experiment/run/run_folder.hpp"
#include "learn/polish_options.hpp"
#include "problem/constraints.hpp"

namespace emplace::experiment {

struct RecipeOptions {
  std::string problem;
  std::string graph;
  std::string machine;
  std::vector<std::string> problems;
  std::vector<std::string> shape;
  std::int64_t batch = 0;  // 0: the model's own
  std::vector<std::string> pin;
  std::vector<std::string> forbid;
  std::vector<std::string> together;
  std::int64_t max_cuts = -1;  // -1: no limit
  std::string policy = "post";
  std::string learner = "post";
  std::string evaluator = "simulator";
  std::string cache = "measured";
  std::string grouping = "colocation";
  std::int64_t groups = 0;  // 0: as many as the grouping makes
  double group_share = 1;   // 1: no limit
  std::string schedule = "fifo";
  std::string objective = "step";
  std::int64_t seed = 0;
  std::int64_t updates = 0;  // 0: no such budget
  std::int64_t evaluations = 0;
  double seconds = 0;
  double budget_share = 1;
  std::int64_t patience = 0;  // 0: no limit
  bool stop_at_bound = false;
  std::string run;
  std::string init;
  std::string start;
  bool demonstrations = false;
  double demonstrations_share = 0.2;
  std::int64_t init_draws = 0;
  std::vector<std::string> op_types;
  std::int64_t checkpoint_every = 10;
  std::int64_t threads = 1;
  std::int64_t greedy_every = 0;
  std::int64_t problems_per_update = 0;  // 0: all
  std::int64_t hold_problems = 1;
  std::vector<std::string> held_out;
  std::int64_t held_out_every = 50;
  std::string workers = "simulate";
  std::vector<std::string> compare = {"single", "round-robin", "contiguous", "greedy", "random"};
};
void describe(RecipeOptions& options, OptionVisitor& visit);

struct Recipe {
  RecipeOptions options;
  ConfigTable policy_options;  // the options of the named policy, without defaults
  ConfigTable learner_options;
  ConfigTable evaluator_options;
  learn::PolishOptions polish;
  source::SourceOptions source;
  std::string place;  // the recipe's file, for messages

  // One source per problem, in order; `graph` and `machine` as "graph@machine".
  [[nodiscard]] std::vector<std::string> sources() const;
  // What every placement must keep to, of the problems that are held out too.
  [[nodiscard]] TaskConstraints constraints() const;
  // The recipe with all defaults filled in and absolute sources, so that it can be run again from any folder.
  [[nodiscard]] ConfigTable resolved() const;
};

// Applies `key=value` and `table.key=value` texts to a table. A problem source of any kind replaces those of the
// recipe; another policy or learner replaces the recipe's one and removes its options. A budget in `seconds` replaces
// the recipe's `updates` and `evaluations` that are not given with it.
void apply_overrides(ConfigTable& table, const std::vector<std::string>& overrides);
// The same for values that are parsed already, by key or table.key.
void apply_values(ConfigTable& table, std::vector<std::pair<std::string, ConfigValue>> values);

// InputError for unknown keys (with the most similar valid one), two kinds of problem source, budgets of 0, unknown
// methods.
Recipe make_recipe(const ConfigTable& table);

// Whether the table gives the policy's option a value other than its default. A configuration with all defaults written
// out (a run's or a sweep's config.toml) has [] or 0 for an option whose value depends on the problems: that is the
// same as an option that is left out.
bool sets_option(const policy::PolicyEntry& policy, const ConfigTable& options, const std::string& option);

// Whether the key changes only how far or how fast a run goes, not what it computes (OptionMeta::affects): only such
// keys may be overridden with --resume.
bool may_change_on_resume(const std::string& key);
// The recipe's own keys for which may_change_on_resume() is true, in the order of their descriptions.
std::vector<std::string> keys_that_may_change_on_resume();

// The resolved configuration of a run, with the defaults of the options that the program had not yet when it began; a
// configuration that this program refuses, unchanged.
ConfigTable with_defaults(const ConfigTable& config);

// A text with the first key whose values in two resolved configurations make them compute different results, and with
// these values; "" if there is none.
std::string difference_in_computing(const ConfigTable& then, const ConfigTable& now);
// The same for any two configurations, without the keys of the top level that are `ignored`.
std::string difference_in(const ConfigTable& then, const ConfigTable& now,
                          const std::function<bool(const std::string&)>& ignored);

// An unfinished run in a recipe's run folder, and the recipe with the values that the run fixed when it began.
struct UnfinishedRun {
  RunFolder folder;
  ConfigTable config;
};

// The run to continue if a recipe is started a second time. Empty if its folder has no run, or a finished one of
// another recipe, unless `finished` says to refuse that; InputError for an unfinished one of another recipe, which must
// not be lost because of a typing mistake. InUse if a live process still works in the folder after `patience_s`
// seconds.
std::optional<UnfinishedRun> unfinished_run(const ConfigTable& wanted, double patience_s = 0,
                                            IfThere finished = IfThere::move_aside);

}  // namespace emplace::experiment
