// How a recipe and the configuration of a run differ, and the run that a recipe continues.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/policy/policy.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"

namespace emplace::experiment {

namespace {

// The values of a configuration by "key" and "table.key", without the ignored keys.
std::map<std::string, ConfigValue> values_by_key(const ConfigTable& config,
                                                 const std::function<bool(const std::string&)>& ignored) {
  std::map<std::string, ConfigValue> values;
  for (const std::string& key : config.keys()) {
    const ConfigValue& value = *config.find(key);
    if (ignored(key)) continue;
    const auto* const tables = std::get_if<std::vector<ConfigTable>>(&value.data);
    if (tables == nullptr || value.is_table_list) {
      values[key] = value;
      continue;
    }
    for (const std::string& inner : tables->front().keys()) values[key + "." + inner] = *tables->front().find(inner);
  }
  return values;
}

// A value as it is printed beside another one; for long values only the text around the first difference.
std::string from_difference(const std::string& value, const std::string& other) {
  constexpr std::size_t longest = 80, before = 30;
  if (value == "none" || std::max(value.size(), other.size()) <= longest) return value == "none" ? value : quote(value);
  const auto differs = static_cast<std::size_t>(std::ranges::mismatch(value, other).in1 - value.begin());
  return differs <= before ? quote(value) : quote("..." + value.substr(differs - before));
}

}  // namespace

bool may_change_on_resume(const std::string& key) {
  const Affects what = affects_of(key);
  return what == Affects::budget || what == Affects::speed;
}

std::vector<std::string> keys_that_may_change_on_resume() {
  std::vector<std::string> keys;
  for (const OptionInfo& option : list_options<RecipeOptions>())
    if (may_change_on_resume(option.name)) keys.push_back(option.name);
  return keys;
}

ConfigTable with_defaults(const ConfigTable& config) {
  try {
    return make_recipe(config).resolved();
  } catch (const InputError&) {
    return config;
  }
}

std::string difference_in_computing(const ConfigTable& then, const ConfigTable& now) {
  return difference_in(
      then, now, [](const std::string& key) { return may_change_on_resume(key) || affects_of(key) == Affects::place; });
}

std::string difference_in(const ConfigTable& then, const ConfigTable& now,
                          const std::function<bool(const std::string&)>& ignored) {
  const auto before = values_by_key(then, ignored), after = values_by_key(now, ignored);
  const auto text_in = [](const auto& values, const std::string& key) {
    const auto found = values.find(key);
    return found == values.end() ? "none" : found->second.to_toml();
  };
  std::set<std::string> keys;
  for (const auto* values : {&before, &after})
    for (const auto& [key, value] : *values) keys.insert(key);
  for (const std::string& key : keys) {
    const auto was = before.find(key), is = after.find(key);
    if (was != before.end() && is != after.end() && was->second == is->second) continue;
    const std::string there = text_in(before, key), here = text_in(after, key);
    return fmt::format("{} is {} there, {} here", quote(key), from_difference(there, here),
                       from_difference(here, there));
  }
  return "";
}

std::optional<UnfinishedRun> unfinished_run(const ConfigTable& wanted, double patience_s, IfThere finished) {
  const Recipe recipe = make_recipe(wanted);
  if (!file_exists(recipe.options.run + "/config.toml")) return {};
  RunFolder folder = RunFolder::open(recipe.options.run, patience_s);
  const ConfigTable there = with_defaults(folder.config());
  // The values that the training fixed when it began and that the recipe does not give.
  ConfigTable config = wanted;
  if (const ConfigValue* types = there.find("op_types"); types != nullptr && recipe.options.op_types.empty())
    config.set("op_types", *types);
  const policy::PolicyEntry& policy = find_entry(policy::policies(), recipe.options.policy, "policy");
  for (const std::string& option : policy.frozen)
    if (const ConfigValue* value = there.table(policy.name).find(option);
        value != nullptr && !sets_option(policy, recipe.policy_options, option))
      config.set_path(policy.name + "." + option, *value);
  const std::string differs = difference_in_computing(there, make_recipe(config).resolved());
  if (differs.empty()) return UnfinishedRun{std::move(folder), std::move(config)};
  const bool is_finished = folder.status() == "finished";
  if (is_finished && finished == IfThere::move_aside) return {};
  throw InputError(folder.path(), "holds {} run of another configuration: {}; give this one another run=FOLDER",
                   is_finished ? "a finished" : "an unfinished", differs);
}

}  // namespace emplace::experiment
