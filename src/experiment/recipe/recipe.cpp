#include "experiment/recipe/recipe.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/files.hpp"
#include "base/shapes.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/search/placer.hpp"
#include "experiment/recipe/recipe_keys.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "learn/learner.hpp"

namespace emplace::experiment {

namespace {

constexpr const char* command_line = "command line";

bool lists(const std::vector<OptionInfo>& options, const std::string& key) {
  return std::any_of(options.begin(), options.end(), [&](const OptionInfo& option) { return option.name == key; });
}

// The keys of `table` that `options` lists.
ConfigTable keys_of(const ConfigTable& table, const std::vector<OptionInfo>& options) {
  ConfigTable out(table.place());
  for (const std::string& key : table.keys())
    if (lists(options, key)) out.set(key, *table.find(key));
  return out;
}

void refuse_unknown_keys(const ConfigTable& table, const std::vector<OptionInfo>& options) {
  ConfigTable unknown(table.place());
  std::vector<std::string> known;
  for (const OptionInfo& option : options) known.push_back(option.name);
  for (const std::string& key : table.keys())
    if (!lists(options, key)) unknown.set(key, *table.find(key));
  unknown.refuse_unread(known);
}

// The names of the table's policy, learner and evaluator, without unknown ones.
std::set<std::string> methods_of(const ConfigTable& table) {
  const RecipeOptions defaults;
  std::set<std::string> methods;
  const auto add = [&](const char* key, const std::string& standard, const auto& entries) {
    const ConfigValue* value = table.find(key);
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->data);
    const std::string& name = text == nullptr ? standard : *text;
    if (std::ranges::any_of(entries, [&](const auto& entry) { return entry.name == name; })) methods.insert(name);
  };
  add("policy", defaults.policy, policy::policies());
  add("learner", defaults.learner, learn::learners());
  add("evaluator", defaults.evaluator, evaluate::evaluators());
  return methods;
}

}  // namespace

void apply_overrides(ConfigTable& table, const std::vector<std::string>& overrides) {
  std::vector<std::pair<std::string, ConfigValue>> values;
  for (const std::string& text : overrides) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) throw InputError(command_line, "{} is not key=value", quote(text));
    values.emplace_back(text.substr(0, equals), ConfigTable::parse_value(text.substr(equals + 1), command_line));
  }
  apply_values(table, std::move(values));
}

void apply_values(ConfigTable& table, std::vector<std::pair<std::string, ConfigValue>> values) {
  const auto clear = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) table.erase(key);
  };
  const auto given = [&](const char* key) {
    return std::any_of(values.begin(), values.end(), [&](const auto& value) { return value.first == key; });
  };
  const bool names_graph = given("graph") || given("machine");
  // The recipe's keys about several problems have no meaning if one problem replaces them.
  if (given("problem") || (names_graph && table.contains("problems")))
    clear({"problems_per_update", "hold_problems", "held_out", "held_out_every"});
  if (given("problem")) clear({"graph", "machine", "problems"});
  if (given("problems")) clear({"graph", "machine", "problem"});
  if (names_graph) clear({"problem", "problems"});
  // Who asks for a time gets this time: the recipe's own budget in another unit would end the training before.
  if (given("seconds") && !given("updates") && !given("evaluations")) clear({"updates", "evaluations"});
  ConfigTable after = table;
  for (const auto& [key, value] : values) after.set_path(key, value);
  // If a method is replaced by another one, the options of the replaced one are removed.
  for (const std::string& name : methods_of(table))
    if (!methods_of(after).contains(name)) table.erase(name);
  for (auto& [key, value] : values) table.set_path(key, std::move(value));
}

namespace {

// The entries of the registries that a recipe names.
struct Methods {
  const policy::PolicyEntry& policy;
  const learn::LearnerEntry& learner;
  const evaluate::EvaluatorEntry& evaluator;
};

// A table of options for a method that the recipe does not use.
void refuse_other_methods(const ConfigTable& table, const RecipeOptions& o) {
  const auto refuse = [&](const char* key, const std::string& used, const auto& entries) {
    for (const auto& entry : entries)
      if (entry.name != o.policy && entry.name != o.learner && entry.name != o.evaluator && table.contains(entry.name))
        throw InputError(table.place_of(entry.name), "options of {}, but the recipe's {} is {} ({}={} takes it)",
                         quote(entry.name), key, quote(used), key, entry.name);
  };
  refuse("learner", o.learner, learn::learners());
  refuse("policy", o.policy, policy::policies());
  refuse("evaluator", o.evaluator, evaluate::evaluators());
}

// Fills the recipe's options of its methods. Resolves each once, so that a wrong value is reported before anything is
// loaded.
void read_method_options(Recipe& recipe, const ConfigTable& table, const Methods& methods) {
  const RecipeOptions& o = recipe.options;
  const ConfigTable& policy_table = table.table(o.policy);
  const ConfigTable& learner_table = table.table(o.learner);
  const ConfigTable& evaluator_table = table.table(o.evaluator);
  // The policy and the learner of one system may share a name and so a table ([post]): each gets the keys it lists.
  std::vector<OptionInfo> policy_keys = methods.policy.options();
  std::vector<OptionInfo> learner_keys = methods.learner.options();
  recipe.policy_options = keys_of(policy_table, policy_keys);
  recipe.learner_options = keys_of(learner_table, learner_keys);
  if (o.policy == o.learner) policy_keys.insert(policy_keys.end(), learner_keys.begin(), learner_keys.end());
  refuse_unknown_keys(policy_table, policy_keys);
  if (o.policy != o.learner) refuse_unknown_keys(learner_table, learner_keys);
  refuse_unknown_keys(evaluator_table, methods.evaluator.options());
  recipe.evaluator_options = evaluator_table;
  if (const std::string& option = methods.evaluator.problem_option;
      !option.empty() && !evaluator_table.contains(option))
    recipe.evaluator_options.set(option, {o.problem, table.place_of("problem")});
  (void)methods.policy.resolve(recipe.policy_options);
  (void)methods.learner.resolve(recipe.learner_options);
  (void)methods.evaluator.resolve(recipe.evaluator_options);
}

// Controllers evaluate their samples themselves, and the parameters are only where gradients arrive.
void check_asynchronous(const Recipe& recipe, const ConfigTable& table, bool measures) {
  const RecipeOptions& o = recipe.options;
  const ConfigValue* const asynchronous = recipe.learner_options.find("asynchronous");
  if (asynchronous == nullptr || !as_flag(*asynchronous, "asynchronous")) return;
  const auto refuse = [&](const char* key, const char* what) {
    throw InputError(table.place_of(key), "{}.asynchronous does not go with {}", o.learner, what);
  };
  if (recipe.sources().size() > 1) refuse("problems", "several problems");
  if (!o.held_out.empty()) refuse("held_out", "held-out problems");
  if (o.greedy_every > 0) refuse("greedy_every", "greedy_every");
  if (recipe.polish.samples > 0) refuse("polish", "polish.samples, because every controller works on its own");
  if (o.workers != "simulate") refuse("workers", "workers = 'simulate+learn', because every controller learns");
  if (o.cache == "all" || (o.cache == "measured" && measures))
    refuse("cache", "a cache, because outcomes are not kept: wanted cache = 'none'");
}

void check_methods(const Recipe& recipe, const ConfigTable& table, const Methods& methods) {
  const RecipeOptions& o = recipe.options;
  if (methods.policy.unfit)
    if (const std::string reason = methods.policy.unfit(recipe.policy_options, o.learner, recipe.learner_options);
        !reason.empty())
      throw InputError(table.place_of(o.policy), "policy {}: {}", quote(o.policy), reason);
  if (methods.policy.wrong_schedule)
    if (const std::string reason =
            methods.policy.wrong_schedule(recipe.policy_options, schedule_of(o.schedule, table.place_of("schedule")));
        !reason.empty())
      throw InputError(table.place_of(o.policy), "policy {}: {}", quote(o.policy), reason);
  const bool measures = methods.evaluator.measures;
  if (o.workers == "simulate+learn" && (measures || o.cache == "all"))
    throw InputError(
        table.place_of(measures ? "evaluator" : "cache"),
        "with workers = 'simulate+learn' the workers evaluate placements and do not keep the outcomes: {} goes "
        "with workers = 'simulate'",
        measures ? "an evaluator that measures" : "cache = 'all'");
  check_asynchronous(recipe, table, measures);
  if (o.stop_at_bound && measures)
    throw InputError(table.place_of("stop_at_bound"), "stop_at_bound: measured times have no lower bound");
  if (!std::ranges::is_sorted(o.op_types) || std::ranges::adjacent_find(o.op_types) != o.op_types.end())
    throw InputError(table.place_of("op_types"), "op_types must be sorted, each once");
  for (const std::string& method : o.compare)
    if (!method.starts_with("device:")) find_entry(search::placers(), method, "placer", table.place_of("compare"));
}

// That there is one thing to place.
void check_sources(const RecipeOptions& o, const ConfigTable& table) {
  const int kinds = !o.problem.empty() + !o.problems.empty() + (!o.graph.empty() || !o.machine.empty());
  if (kinds == 0)
    throw InputError(table.place(), "nothing to place: give `problem`, `problems`, or `graph` and `machine`");
  if (kinds > 1)
    throw InputError(table.place(), "`problem`, `problems` and `graph` + `machine` are alternatives, found {} of them",
                     kinds);
  if (o.graph.empty() != o.machine.empty())
    throw InputError(table.place(), "`{}` needs `{}` beside it", o.graph.empty() ? "machine" : "graph",
                     o.graph.empty() ? "graph" : "machine");
}

// Keys that several problems have, or that only one has.
void check_number_of_problems(const RecipeOptions& o, std::size_t count, const policy::PolicyEntry& policy,
                              const ConfigTable& table) {
  if (o.problems_per_update > static_cast<std::int64_t>(count))
    throw InputError(table.place_of("problems_per_update"),
                     "problems_per_update is {}, but the training has {} problem{}", o.problems_per_update, count,
                     count == 1 ? "" : "s");
  if (!o.start.empty() && count > 1)
    throw InputError(table.place_of("start"), "start is a placement of one problem, but the training has {}", count);
  if (o.hold_problems > 1 && o.problems_per_update == 0)
    throw InputError(table.place_of("hold_problems"),
                     "hold_problems is {}, but without problems_per_update every update uses all problems",
                     o.hold_problems);
  if (!policy.transfers && o.problems_per_update > 0 && o.problems_per_update < static_cast<std::int64_t>(count))
    throw InputError(table.place_of("problems_per_update"),
                     "policy {} has parameters of its own for each problem: train it on all of them, or on each alone",
                     quote(o.policy));
  if (!policy.transfers && !o.held_out.empty())
    throw InputError(table.place_of("held_out"),
                     "policy {} has parameters of its own for each problem, and none for one that is held out",
                     quote(o.policy));
}

}  // namespace

Recipe make_recipe(const ConfigTable& table) {
  Recipe recipe;
  recipe.place = table.place();
  OptionReader reader(table);
  describe(recipe.options, reader);
  const RecipeOptions& o = recipe.options;
  const Methods methods{find_entry(policy::policies(), o.policy, "policy", table.place_of("policy")),
                        find_entry(learn::learners(), o.learner, "learner", table.place_of("learner")),
                        find_entry(evaluate::evaluators(), o.evaluator, "evaluator", table.place_of("evaluator"))};
  std::vector<std::string> known = reader.names();
  known.insert(known.end(), {"about", "roofline", "polish", o.policy, o.learner, o.evaluator});
  (void)read_options<RecipeAbout>(table.table("about"));
  recipe.source.of_recipe = true;
  recipe.source.roofline = read_options<cost::RooflineOptions>(table.table("roofline"));
  recipe.polish = read_options<learn::PolishOptions>(table.table("polish"));
  recipe.source.read.shapes = parse_shapes(o.shape, table.place_of("shape"));
  if (o.batch > 0) recipe.source.read.batch = o.batch;
  refuse_other_methods(table, o);
  read_method_options(recipe, table, methods);
  table.refuse_unread(known);
  check_sources(o, table);
  check_methods(recipe, table, methods);
  check_number_of_problems(o, recipe.sources().size(), methods.policy, table);
  return recipe;
}

std::vector<std::string> Recipe::sources() const {
  if (!options.problem.empty()) return {options.problem};
  if (!options.problems.empty()) return options.problems;
  return {options.graph + "@" + options.machine};
}

TaskConstraints Recipe::constraints() const {
  Constraints constraints{options.pin, options.forbid, options.together, {}};
  if (options.max_cuts >= 0) constraints.max_cuts = static_cast<std::uint64_t>(options.max_cuts);
  return {std::move(constraints), place};
}

ConfigTable Recipe::resolved() const {
  RecipeOptions filled = options;
  if (!filled.problem.empty()) filled.problem = source::absolute_source(filled.problem);
  if (!filled.graph.empty()) filled.graph = source::absolute_source(filled.graph);
  if (!filled.machine.empty()) filled.machine = source::absolute_source(filled.machine);
  if (!filled.init.empty()) filled.init = absolute_path(filled.init);
  if (!filled.start.empty()) filled.start = absolute_path(filled.start);
  for (std::string& each : filled.problems) each = source::absolute_source(each);
  for (std::string& each : filled.held_out) each = source::absolute_source(each);
  ConfigTable table = echo_options(filled);
  // Empty texts stand for "not given".
  for (const std::string& key : table.keys()) {
    const ConfigValue& value = *table.find(key);
    const auto* text = std::get_if<std::string>(&value.data);
    const auto* list = std::get_if<ConfigList>(&value.data);
    if ((text != nullptr && text->empty()) || (list != nullptr && list->empty() && key != "compare")) table.erase(key);
  }

  const auto add_table = [&](const std::string& name, const ConfigTable& inner) {
    for (const std::string& key : inner.keys()) table.set_path(name + "." + key, *inner.find(key));
  };
  add_table(options.policy, find_entry(policy::policies(), options.policy, "policy").resolve(policy_options));
  add_table(options.learner, find_entry(learn::learners(), options.learner, "learner").resolve(learner_options));
  add_table(options.evaluator,
            find_entry(evaluate::evaluators(), options.evaluator, "evaluator").resolve(evaluator_options));
  add_table("polish", echo_options(polish));
  add_table("roofline", echo_options(source.roofline));
  return table;
}

bool sets_option(const policy::PolicyEntry& policy, const ConfigTable& options, const std::string& option) {
  const ConfigValue* const value = options.find(option);
  if (value == nullptr) return false;
  const ConfigTable defaults = policy.resolve(ConfigTable("default"));
  const ConfigValue* const standard = defaults.find(option);
  return standard == nullptr || !(*standard == *value);
}

}  // namespace emplace::experiment
