// Options of a recipe that have no effect with its other options.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"

namespace emplace::experiment {

struct IdleOption {
  std::string key;     // "ppo.beta"
  std::string reason;  // "ppo.form is 'clip', it needs 'kl'"
};

// Why an option has no effect, by its OptionMeta::only_with or by what the policy, the budget and the problems make of
// it; "" if it has one, or if the recipe has no such key.
// `resolved` is a recipe with all defaults (Recipe::resolved).
std::string why_idle(const ConfigTable& resolved, const std::string& key);

// The policies that are refitted in closed form, and those of which a sample always has one round.
std::span<const char* const> closed_form_policies();
std::span<const char* const> one_round_policies();

// Whether a table has the value of "key" or "table.key".
bool has_key(const ConfigTable& config, const std::string& key);

// The options with another value than their default that have no effect.
std::vector<IdleOption> idle_options(const ConfigTable& resolved);

// "ppo.beta has no effect: ppo.form is 'clip', it needs 'kl'".
std::string sentence_of(const IdleOption& idle);

}  // namespace emplace::experiment
