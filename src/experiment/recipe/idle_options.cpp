#include "experiment/recipe/idle_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"
#include "learn/rewards.hpp"
#include "nn/tape/optimizer.hpp"

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

// "evaluations is '400'"; "" if the recipe does not give the key.
std::string said(const ConfigTable& resolved, const std::string& key) {
  const ConfigValue* const value = find_in(resolved, key);
  return value == nullptr ? "" : fmt::format("{} is {}", key, quote(plain_text(value)));
}

bool is_one_of(std::span<const char* const> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

struct UpdateBudget {
  std::string said;  // "evaluations is '400'"
  double updates;
};

// The budget that ends the training first, in updates of so many problems; none without a budget.
std::optional<UpdateBudget> update_budget(const ConfigTable& resolved, const ConfigTable& learner,
                                          double problems = 1) {
  std::optional<UpdateBudget> first;
  for (const auto& [budget, per_update] :
       {std::pair("evaluations", problems * learner.number("samples_per_update")), {"updates", 1.0}})
    if (resolved.contains(budget))
      if (const double updates = resolved.number(budget) / per_update; !first || updates < first->updates)
        first = {said(resolved, budget), updates};
  return first;
}

// Why no second choice of problems is drawn, although the recipe says for how many updates one is kept; "" if one is.
std::string budget_before_next_problems(const ConfigTable& resolved) {
  const auto budget =
      update_budget(resolved, resolved.table(resolved.text("learner")), resolved.number("problems_per_update"));
  if (!budget || budget->updates > resolved.number("hold_problems")) return "";
  return fmt::format("{}, so that the problems of the first update are those of all", budget->said);
}

// Why `key` of the recipe itself has no effect with this value.
std::string why_idle_in_recipe(const ConfigTable& resolved, const std::string& key) {
  const ConfigValue* const problems = resolved.find("problems");
  const bool is_one = problems == nullptr || std::get<ConfigList>(problems->data).size() == 1;
  if (key == "problems_per_update" && is_one) return "there is one problem";
  if (key == "demonstrations_share" && plain_text(resolved.find("demonstrations")) == "false")
    return "demonstrations is false";
  if (key == "hold_problems" && resolved.number("problems_per_update") > 0)
    return budget_before_next_problems(resolved);
  if (key == "held_out_every" && !resolved.contains("held_out")) return "held_out is not given";
  const std::string evaluator = resolved.text("evaluator");
  if (key == "cache" && resolved.text("cache") == "none" &&
      !evaluate::entry_of({evaluator, ConfigTable("recipe")}).measures)
    return fmt::format("evaluator is {}, whose outcomes only cache = 'all' keeps", quote(evaluator));
  return "";
}

// The budget with which a training ends before the first refit of the learner post; "" if there is none.
std::string budget_before_refit(const ConfigTable& resolved) {
  const ConfigTable& post = resolved.table("post");
  const double window = post.number("window"), samples = post.number("samples_per_update");
  for (const auto& [budget, placements] : {std::pair("evaluations", 1.0), {"updates", samples}})
    if (resolved.contains(budget) && resolved.number(budget) * placements < window)
      return fmt::format("{}, so the training ends before the first refit (post.window is {})", said(resolved, budget),
                         window);
  return "";
}

// Why the learning rate, whose decay counts the optimizer's steps, never decays; "" if it does.
std::string budget_before_decay(const ConfigTable& resolved, const ConfigTable& options) {
  const auto budget = update_budget(resolved, options);
  if (!budget || options.number("learning_rate_decay") == 1) return "";
  double steps = budget->updates;
  for (const char* name : {"epochs", "minibatches"})
    if (options.contains(name)) steps *= options.number(name);
  if (steps >= options.number("learning_rate_decay_every")) return "";
  return fmt::format(
      "{}, so the training ends after {:.0f} steps, before the first decay; learning_rate_share fits any budget",
      budget->said, steps);
}

// Why infeasible placements are never excluded, although the recipe has an update for it; "" if they are.
std::string budget_before_exclusion(const ConfigTable& resolved, const ConfigTable& options) {
  const auto budget = update_budget(resolved, options);
  const double after = options.number("skip_failing_after");
  if (!budget || after >= learn::RewardOptions::never || after <= budget->updates) return "";
  return fmt::format("{}, so the training ends after {:.0f} updates", budget->said, budget->updates);
}

// Why the option `name` of the recipe's learner has no effect with this value.
std::string why_idle_in_learner(const ConfigTable& resolved, const std::string& learner, const std::string& name) {
  if (name == "samples" || name == "updates")
    for (const char* budget : budget_keys)
      if (resolved.contains(budget))
        return fmt::format("it is for trainings without a budget, but {}", said(resolved, budget));

  const std::string policy = resolved.text("policy");
  const ConfigTable& options = resolved.table(learner);
  const bool one_round = is_one_of(one_round_policies(), policy) ||
                         (policy == "hsdag" && resolved.table(policy).number("update_timestep") == 1);
  const std::string returns = options.contains("returns") ? options.text("returns") : "";
  if (one_round && returns != "own" && (name == "discount" || (name == "returns" && returns != "final")))
    return fmt::format("{}, which places in one round", said(resolved, "policy"));

  const bool closed_form = is_one_of(closed_form_policies(), policy);
  static const std::vector<OptionInfo> optimizer = list_options<nn::OptimizerOptions>();
  if (closed_form &&
      (name == "fit_steps" ||
       (learner == "cross-entropy" && std::ranges::find(optimizer, name, &OptionInfo::name) != optimizer.end())))
    return fmt::format("{}, which is refitted in closed form", said(resolved, "policy"));
  if ((learner == "reinforce" || learner == "ppo") && name == "learning_rate_decay_every")
    return budget_before_decay(resolved, options);
  if (name == "skip_failing_after") return budget_before_exclusion(resolved, options);
  if (learner == "post" && (name == "elite_fraction" || name == "ce_window" || name == "fit_steps"))
    return budget_before_refit(resolved);
  return "";
}

std::string why_idle(const ConfigTable& resolved, const RecipeKey& key) {
  const std::string table = table_of(key.name);
  for (const OptionCondition& condition : key.option.only_with)
    if (std::string reason = broken(condition, table, resolved); !reason.empty()) return reason;
  if (table.empty()) return why_idle_in_recipe(resolved, key.name);
  if (key.name == "polish.samples" &&
      (resolved.text("evaluator") != "simulator" || resolved.text("objective") != "step"))
    return "only steps that the evaluator 'simulator' simulates are polished";
  const std::string learner = resolved.text("learner");
  return table == learner ? why_idle_in_learner(resolved, learner, key.name.substr(table.size() + 1)) : "";
}

std::vector<RecipeKey> keys_of(const ConfigTable& resolved) {
  return recipe_keys(resolved.text("policy"), resolved.text("learner"), resolved.text("evaluator"));
}

}  // namespace

std::span<const char* const> closed_form_policies() {
  static constexpr std::array names = {"post"};
  return names;
}

std::span<const char* const> one_round_policies() {
  static constexpr std::array names = {"post", "gdp", "hierarchical", "colocrl"};
  return names;
}

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
