// Makes sweeps for tests from texts.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "emplace/base/error.hpp"
#include "experiment/sweep/sweep.hpp"

namespace emplace::test {

inline experiment::Sweep sweep_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  ConfigTable table = ConfigTable::parse_toml(text, "s.toml");
  experiment::apply_sweep_overrides(table, overrides);
  return experiment::make_sweep(table);
}

// The message with which the sweep is refused.
inline std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    (void)sweep_of(text, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

inline std::string space_refusal(const std::string& text) {
  try {
    (void)experiment::Space(ConfigTable::parse_toml(text, "s.toml"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

inline experiment::Space space_of(const std::string& text) {
  return experiment::Space(ConfigTable::parse_toml(text, "s.toml"));
}

// The numbers of the strategies that satisfy `condition`, as parameters of tests.
template <class Condition>
std::vector<std::size_t> strategies_where(const Condition& condition) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < experiment::sweep_strategies().size(); ++i)
    if (std::invoke(condition, experiment::sweep_strategies()[i])) found.push_back(i);
  return found;
}
// All but the grid, whose trials follow from the space alone.
inline std::vector<std::size_t> strategies_that_draw() {
  return strategies_where([](const experiment::SweepStrategyEntry& entry) { return entry.name != "grid"; });
}
inline std::string name_of_strategy(const ::testing::TestParamInfo<std::size_t>& strategy) {
  return experiment::sweep_strategies()[strategy.param].name;
}

// A space of every kind of parameter with a chain of two conditions.
inline const std::string mixed_space = R"(
[space]
learner = ["reinforce", "ppo"]
"ppo.learning_rate" = { log_uniform = [1e-5, 1e-2], when = { learner = "ppo" } }
"ppo.form" = { choices = ["clip", "kl"], when = { learner = "ppo" } }
"ppo.clip_ratio" = { uniform = [0.1, 0.4], when = { "ppo.form" = "clip" } }
groups = { integers = [8, 512], log = true }
checkpoint_every = { integers = [1, 9], step = 2 }
)";

}  // namespace emplace::test
