// Options of a recipe that have no effect with its other options.
#pragma once

#include <string>
#include <vector>

#include "emplace/base/config.hpp"

namespace emplace::experiment {

struct IdleOption {
  std::string key;     // "ppo.beta"
  std::string reason;  // "ppo.form is 'clip', it needs 'kl'"
};

// Why an option has no effect, by its OptionMeta::only_with; "" if it has one, or if the recipe has no such key.
// `resolved` is a recipe with all defaults (Recipe::resolved).
std::string why_idle(const ConfigTable& resolved, const std::string& key);

// Whether a table has the value of "key" or "table.key".
bool has_key(const ConfigTable& config, const std::string& key);

// The options with another value than their default that have no effect.
std::vector<IdleOption> idle_options(const ConfigTable& resolved);

// "ppo.beta has no effect: ppo.form is 'clip', it needs 'kl'".
std::string sentence_of(const IdleOption& idle);

}  // namespace emplace::experiment
