#include "experiment/sweep/methods_of_trial.hpp"

#include <algorithm>

#include "experiment/recipe/recipe.hpp"
#include "experiment/sweep/recipe_keys.hpp"

namespace emplace::experiment {

namespace {

// The choices of the parameter `kind`, except `chosen`.
std::vector<std::string> others(const Space& space, const char* kind, const std::string& chosen) {
  std::vector<std::string> names;
  const std::optional<std::size_t> parameter = space.find(kind);
  if (!parameter) return names;
  for (const ConfigValue& choice : space.parameters()[*parameter].choices)
    if (const auto* name = std::get_if<std::string>(&choice.data); name != nullptr && *name != chosen)
      names.push_back(*name);
  return names;
}

// Removes the options of `method`, except those named in `kept`: a policy and a learner with the same name share a
// table, and one of them may still be in use.
void drop(ConfigTable& recipe, const std::string& method, const std::vector<std::string>& kept) {
  if (!recipe.contains(method)) return;
  ConfigTable rest = recipe.table(method);
  for (const std::string& key : rest.keys())
    if (std::ranges::find(kept, key) == kept.end()) rest.erase(key);
  if (rest.empty())
    recipe.erase(method);
  else
    recipe.set(method, {std::vector{std::move(rest)}, recipe.place_of(method)});
}

}  // namespace

void drop_other_methods(ConfigTable& recipe, const Space& space) {
  const RecipeOptions defaults;
  const std::string policy = recipe.text("policy", defaults.policy);
  const std::string learner = recipe.text("learner", defaults.learner);
  for (const std::string& other : others(space, "policy", policy))
    drop(recipe, other, other == learner ? learner_options(other) : std::vector<std::string>{});
  for (const std::string& other : others(space, "learner", learner))
    drop(recipe, other, other == policy ? policy_options(other) : std::vector<std::string>{});
}

void leave_out_varying(ConfigTable& recipe, const Space& space) {
  for (const char* kind : {"policy", "learner"}) {
    const std::optional<std::size_t> found = space.find(kind);
    if (!found || !recipe.contains(kind)) continue;
    const Parameter& parameter = space.parameters()[*found];
    std::vector<std::string> choices;
    for (std::size_t i = 0; i < parameter.choices.size(); ++i)
      choices.push_back(parameter.text(static_cast<double>(i)));
    if (std::ranges::find(choices, recipe.text(kind)) == choices.end())
      apply_values(recipe, {{kind, parameter.config(0)}});
  }
  for (const Parameter& parameter : space.parameters()) {
    const std::size_t dot = parameter.key.find('.');
    const std::string head = parameter.key.substr(0, dot);
    if (dot == std::string::npos) {
      recipe.erase(head);
    } else if (recipe.contains(head)) {
      ConfigTable rest = recipe.table(head);
      rest.erase(parameter.key.substr(dot + 1));
      recipe.set(head, {std::vector{std::move(rest)}, recipe.place_of(head)});
    }
  }
}

}  // namespace emplace::experiment
