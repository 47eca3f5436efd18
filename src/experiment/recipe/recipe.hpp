// Recipes: one whole training as flat TOML keys plus one table for each named method (docs/formats.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/base/options.hpp"
#include "emplace/source/load_problem.hpp"
#include "experiment/run/run_folder.hpp"

namespace emplace::experiment {

struct RecipeOptions {
  std::string problem;
  std::string graph;
  std::string machine;
  std::vector<std::string> problems;
  std::vector<std::string> shape;
  std::int64_t batch = 0;  // 0: as the model says
  std::string policy = "post";
  std::string learner = "post";
  std::string evaluator = "simulator";
  std::string cache = "measured";
  std::string grouping = "colocation";
  std::int64_t groups = 0;  // 0: as many as the grouping gives
  double group_share = 1;   // 1: no limit
  std::string schedule = "fifo";
  std::string objective = "step";
  std::int64_t seed = 0;
  std::int64_t updates = 0;  // 0: no such budget
  std::int64_t evaluations = 0;
  double seconds = 0;
  std::string run;
  std::string init;
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
  ConfigTable policy_options;  // of the named policy, defaults not filled in
  ConfigTable learner_options;
  ConfigTable evaluator_options;
  source::SourceOptions source;
  std::string place;  // the recipe's file, for messages

  // One source a problem, in order; `graph` and `machine` as "graph@machine".
  [[nodiscard]] std::vector<std::string> sources() const;
  // Everything with defaults filled in, sources absolute: runs again as it is from any folder.
  [[nodiscard]] ConfigTable resolved() const;
};

// `key=value` and `table.key=value` texts over a table. One kind of problem source on the command line replaces the
// recipe's, another policy or learner the recipe's and its options.
void apply_overrides(ConfigTable& table, const std::vector<std::string>& overrides);
// The same of values that are read already, by key or table.key.
void apply_values(ConfigTable& table, std::vector<std::pair<std::string, ConfigValue>> values);

// InputError for unknown keys (with the nearest right one), two kinds of problem source, budgets of 0, unknown methods.
Recipe make_recipe(const ConfigTable& table);

// Whether the key decides how far or how fast a run goes and not what it computes (OptionMeta::affects): only such keys
// may be overridden with --resume.
bool may_change_on_resume(const std::string& key);

// The first key in which two resolved configurations differ in what they compute, and how; "" if there is none.
std::string difference_in_computing(const ConfigTable& then, const ConfigTable& now);

// A run of a recipe that its folder holds already, with the recipe as that run settled it.
struct UnfinishedRun {
  RunFolder folder;
  ConfigTable config;
};

// The run to go on with where a recipe is started a second time. None if its folder holds no run, or a finished one of
// another recipe; InputError for an unfinished one of another recipe, which nobody wants to lose by a wrong word.
// InUse if a live process works in it for so long.
std::optional<UnfinishedRun> unfinished_run(const ConfigTable& wanted, double patience_s = 0);

}  // namespace emplace::experiment
