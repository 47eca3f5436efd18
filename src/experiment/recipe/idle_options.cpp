#include "experiment/recipe/idle_options.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"

namespace emplace::experiment {

namespace {

// A number, a truth value or a text as it is compared with OptionCondition::values and OptionInfo::default_value; ""
// for lists and tables.
std::string plain_text(const ConfigValue* value) {
  if (value == nullptr) return "";
  if (const auto* text = std::get_if<std::string>(&value->data)) return *text;
  if (const auto* flag = std::get_if<bool>(&value->data)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value->data)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&value->data)) return fmt::format("{}", *number);
  return "";
}

// "ppo" of "ppo.beta", "" of "seed".
std::string table_of(const std::string& key) {
  const std::size_t dot = key.find('.');
  return dot == std::string::npos ? "" : key.substr(0, dot);
}

// The value of "table.key" or "key"; null if there is none.
const ConfigValue* find_in(const ConfigTable& config, const std::string& key) {
  const std::string table = table_of(key);
  if (table.empty()) return config.find(key);
  return config.contains(table) ? config.table(table).find(key.substr(table.size() + 1)) : nullptr;
}

// Why the condition on an option of `table` does not hold; "" if it holds.
std::string broken(const OptionCondition& condition, const std::string& table, const ConfigTable& resolved) {
  const std::string inner = table.empty() ? condition.key : table + "." + condition.key;
  const std::string key = find_in(resolved, inner) != nullptr ? inner : condition.key;
  const std::string found = plain_text(find_in(resolved, key));
  const bool is_one = std::ranges::find(condition.values, found) != condition.values.end();
  if (is_one != condition.is_not) return "";
  if (condition.is_not) return fmt::format("{} is {}", key, quote(found));
  std::vector<std::string> wanted;
  for (const std::string& each : condition.values) wanted.push_back(quote(each));
  return fmt::format("{} is {}, it needs {}", key, quote(found), join(wanted, " or "));
}

std::string why_idle(const ConfigTable& resolved, const RecipeKey& key) {
  for (const OptionCondition& condition : key.option.only_with)
    if (std::string reason = broken(condition, table_of(key.name), resolved); !reason.empty()) return reason;
  return "";
}

std::vector<RecipeKey> keys_of(const ConfigTable& resolved) {
  return recipe_keys(resolved.text("policy"), resolved.text("learner"), resolved.text("evaluator"));
}

}  // namespace

std::string why_idle(const ConfigTable& resolved, const std::string& key) {
  const std::vector<RecipeKey> keys = keys_of(resolved);
  const auto found = std::ranges::find(keys, key, &RecipeKey::name);
  return found == keys.end() ? "" : why_idle(resolved, *found);
}

bool has_key(const ConfigTable& config, const std::string& key) { return find_in(config, key) != nullptr; }

std::vector<IdleOption> idle_options(const ConfigTable& resolved) {
  std::vector<IdleOption> idle;
  for (const RecipeKey& key : keys_of(resolved)) {
    const ConfigValue* const value = find_in(resolved, key.name);
    if (value == nullptr || plain_text(value) == key.option.default_value) continue;
    if (std::string reason = why_idle(resolved, key); !reason.empty()) idle.push_back({key.name, std::move(reason)});
  }
  return idle;
}

std::string sentence_of(const IdleOption& idle) { return fmt::format("{} has no effect: {}", idle.key, idle.reason); }

}  // namespace emplace::experiment
