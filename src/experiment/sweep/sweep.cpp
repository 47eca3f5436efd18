#include "experiment/sweep/sweep.hpp"
#include "experiment/recipe/shipped_recipes.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"
#include "experiment/sweep/methods_of_trial.hpp"
#include "experiment/sweep/recipe_keys.hpp"
#include "experiment/sweep/sweep_checks.hpp"

namespace emplace::experiment {

namespace {

constexpr std::int64_t most_seeds_of_trial = 1000;

std::vector<std::string> sweep_keys() {
  std::vector<std::string> names = {"seeds", "space"};
  for (const OptionInfo& option : list_options<SweepOptions>()) names.push_back(option.name);
  return names;
}

// Keys of the sweep's file that belong to the recipe, as key or table.key. InputError for a key that is neither the
// recipe's nor the sweep's own.
std::vector<std::pair<std::string, ConfigValue>> recipe_values(const ConfigTable& table, const std::string& strategy) {
  std::vector<std::string> known = sweep_keys();
  const std::vector<std::string> own = known;
  const std::vector<std::string> keys = recipe_keys();
  const std::vector<std::string> tables = recipe_tables();
  for (const auto* names : {&keys, &tables}) known.insert(known.end(), names->begin(), names->end());
  known.push_back(strategy);
  std::vector<std::pair<std::string, ConfigValue>> values;
  for (const std::string& key : table.keys()) {
    if (has_text(own, key) || key == strategy) continue;
    const ConfigValue& value = *table.find(key);
    if (has_text(tables, key)) {
      for (const std::string& inner : table.table(key).keys())
        values.emplace_back(key + "." + inner, *table.table(key).find(inner));
    } else if (has_text(keys, key)) {
      values.emplace_back(key, value);
    } else if (has_text(entry_names(sweep_strategies()), key)) {
      throw InputError(value.place, "[{}] has options of a strategy that this sweep does not use: its strategy is {}",
                       key, quote(strategy));
    } else {
      throw InputError(value.place, "unknown key {}{}", quote(key), did_you_mean(key, known));
    }
  }
  return values;
}

std::vector<std::int64_t> read_seeds(const ConfigTable& table, std::int64_t first) {
  const ConfigValue* given = table.find("seeds");
  if (given == nullptr) return {first};
  std::vector<std::int64_t> seeds;
  if (const auto* list = std::get_if<ConfigList>(&given->data)) {
    for (const ConfigValue& value : *list) {
      const std::int64_t seed = as_whole(value, "seeds");
      if (seed < 0) throw InputError(value.place, "a seed must be at least 0, found {}", seed);
      if (std::ranges::find(seeds, seed) != seeds.end()) throw InputError(value.place, "seed {} is given twice", seed);
      seeds.push_back(seed);
    }
    if (seeds.empty()) throw InputError(given->place, "'seeds' needs at least one");
    return seeds;
  }
  const std::int64_t count = as_whole(*given, "seeds");
  if (count < 1 || count > most_seeds_of_trial)
    throw InputError(given->place, "'seeds' must be a list, or their number from 1 to {}, found {}",
                     most_seeds_of_trial, count);
  for (std::int64_t i = 0; i < count; ++i) seeds.push_back(first + i);
  return seeds;
}

}  // namespace

void describe(SweepOptions& o, OptionVisitor& visit) {
  visit("recipe", o.recipe, {.help = "Recipe that every trial starts from; keys of the sweep's file override it."});
  visit("strategy", o.strategy, {.help = "How trials are chosen; see `emplace list strategies`."});
  visit("trials", o.trials, {.min = 1, .max = 1e6, .help = "Configurations to try."});
  visit("ranks_per_trial", o.ranks_per_trial,
        {.min = 1, .max = 1e6, .help = "MPI ranks that train one trial.", .affects = Affects::speed});
  visit("run", o.run, {.help = "The sweep's folder; runs/NAME of its file by default."});
}

void apply_sweep_overrides(ConfigTable& table, const std::vector<std::string>& overrides) {
  constexpr std::string_view prefix = "space.";
  std::vector<std::string> rest;
  for (const std::string& text : overrides) {
    const std::size_t equals = text.find('=');
    if (!text.starts_with(prefix) || equals == std::string::npos) {
      rest.push_back(text);
      continue;
    }
    ConfigTable space = flat_space(table.table("space"));
    space.set(text.substr(prefix.size(), equals - prefix.size()),
              ConfigTable::parse_value(text.substr(equals + 1), "command line"));
    table.set("space", {std::vector{std::move(space)}, table.place_of("space")});
  }
  const SweepOptions defaults;
  const std::string before = table.text("strategy", defaults.strategy);
  ConfigTable after = table;
  apply_overrides(after, rest);
  if (after.text("strategy", defaults.strategy) != before) table.erase(before);
  apply_overrides(table, rest);
}

std::string recipe_file_of(const ConfigTable& sweep) {
  const std::string named = sweep.text("recipe", "");
  if (named.empty() || file_exists(named) || named.starts_with('/')) return named;
  const std::string beside = parent_folder(sweep.place()) + "/" + named;
  return file_exists(beside) ? beside : named;
}

Sweep make_sweep(const ConfigTable& table) {
  Sweep sweep;
  sweep.place = table.place();
  OptionReader reader(table);
  describe(sweep.options, reader);
  const std::string& strategy = sweep.options.strategy;
  const SweepStrategyEntry& entry = find_entry(sweep_strategies(), strategy, "strategy", table.place_of("strategy"));

  if (!table.contains("space"))
    throw InputError(table.place(),
                     "a sweep needs [space]: the keys that vary, as in \"ppo.learning_rate\" = {{ "
                     "log_uniform = [1e-5, 1e-2] }}");
  sweep.space = Space(table.table("space"));
  refuse_incomparable(sweep.space, entry);

  std::vector<std::pair<std::string, ConfigValue>> values = recipe_values(table, strategy);
  for (const auto& [key, value] : values)
    if (sweep.space.find(key)) throw InputError(value.place, "'{}' varies in [space], and is given here too", key);
  if (sweep.options.recipe.empty()) {
    sweep.base = ConfigTable(table.place());
  } else {
    sweep.base = read_recipe(recipe_file_of(table), table.place_of("recipe"));
    sweep.base.erase("run");
  }
  apply_values(sweep.base, std::move(values));
  leave_out_varying(sweep.base, sweep.space);
  sweep.seed = sweep.base.whole("seed", 0);
  sweep.seeds = read_seeds(table, sweep.seed);
  sweep.strategy_options = table.table(strategy);

  check_corners(sweep);
  const std::unique_ptr<SweepStrategy> made = sweep.make_strategy();
  if (entry.stops_early) check_shares(sweep, made->share(0));
  return sweep;
}

const SweepStrategyEntry& Sweep::strategy_entry() const {
  return find_entry(sweep_strategies(), options.strategy, "strategy", place);
}

std::unique_ptr<SweepStrategy> Sweep::make_strategy() const {
  return strategy_entry().make(
      strategy_options,
      {.space = &space, .trials = static_cast<std::size_t>(options.trials), .seed = static_cast<std::uint64_t>(seed)});
}

ConfigTable Sweep::recipe(const Assignment& assignment) const {
  ConfigTable table = base;
  apply_values(table, space.overrides(assignment));
  drop_other_methods(table, space);
  return table;
}

ConfigTable Sweep::recipe(const Assignment& assignment, std::int64_t with_seed, double share,
                          const std::string& run) const {
  ConfigTable table = recipe(assignment);
  for (const std::string key : budget_keys) {
    if (!table.contains(key)) continue;
    const double budget = share * table.number(key);
    if (key == "seconds")
      table.set(key, {budget, table.place_of(key)});
    else
      table.set(key, {std::max<std::int64_t>(1, std::llround(budget)), table.place_of(key)});
  }
  if (share < 1) table.set("budget_share", {share, "sweep"});
  table.set("seed", {with_seed, "sweep"});
  table.set("run", {run, "sweep"});
  return table;
}

ConfigTable Sweep::resolved() const {
  SweepOptions taken_in = options;
  taken_in.recipe.clear();
  ConfigTable table = echo_options(taken_in);
  for (const char* text : {"recipe", "run"})
    if (table.text(text).empty()) table.erase(text);
  ConfigList list;
  for (const std::int64_t each : seeds) list.push_back({each, "echo"});
  table.set("seeds", {std::move(list), "echo"});

  // The union of the recipes of all corners: the keys that they share, and the options of every method that occurs.
  for (const Assignment& corner : space.corners()) {
    const ConfigTable full = make_recipe(recipe(corner)).resolved();
    for (const std::string& key : full.keys()) {
      const ConfigValue& value = *full.find(key);
      if (!std::holds_alternative<std::vector<ConfigTable>>(value.data)) {
        if (!space.find(key)) table.set(key, value);
        continue;
      }
      for (const std::string& inner : full.table(key).keys())
        if (!space.find(key + "." + inner)) table.set_path(key + "." + inner, *full.table(key).find(inner));
    }
  }
  const auto add_table = [&](const std::string& name, ConfigTable inner) {
    if (!inner.empty()) table.set(name, {std::vector{std::move(inner)}, "echo"});
  };
  add_table(options.strategy, strategy_entry().resolve(strategy_options));
  add_table("space", space.resolved());
  return table;
}

bool sweep_may_change_on_resume(const std::string& key, const SweepStrategyEntry& strategy) {
  if (key == "trials") return !strategy.stops_early;
  const auto options = list_options<SweepOptions>();
  const auto own = std::ranges::find(options, key, &OptionInfo::name);
  return (own == options.end() ? affects_of(key) : own->affects) == Affects::speed;
}

}  // namespace emplace::experiment
