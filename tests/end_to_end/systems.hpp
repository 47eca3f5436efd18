// The learned systems, each by its published recipe, with options that make it small enough for a test.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/end_to_end/program.hpp"

namespace emplace::test {

struct System {
  const char* name;
  std::vector<std::string> small;
  const char* learner = "reinforce";
  const char* of_recipe = "-published";  // ends the recipe's name

  // The arguments of `train` with the recipe and the options that make it small. Later options replace earlier ones.
  [[nodiscard]] std::vector<std::string> training(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"train", std::string("configs/recipes/") + name + of_recipe + ".toml",
                                          "compare=[]"};
    arguments.insert(arguments.end(), small.begin(), small.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

inline std::vector<System> systems() {
  return {{"post", {}, "post"},
          {"colocrl", {"colocrl.hidden=8"}},
          {"hierarchical", {"hierarchical.hidden=8", "hierarchical.grouper_hidden=8"}},
          {"placeto", {"placeto.size=small", "placeto.message_rounds=2"}},
          {"gdp", {"gdp.hidden=8", "gdp.heads=2", "gdp.feedforward=16"}, "ppo"},
          {"hsdag", {"hsdag.hidden=8", "hsdag.update_timestep=3"}}};
}

inline void PrintTo(const System& system, std::ostream* out) { *out << system.name; }
inline std::string name_of_system(const ::testing::TestParamInfo<System>& info) { return info.param.name; }

}  // namespace emplace::test
