// A recipe trained as one job among many: without a line on the screen, from where its run folder says it ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/dist/world.hpp"
#include "emplace/experiment/training.hpp"
#include "emplace/learn/trainer.hpp"

namespace emplace::experiment {

struct JobLimits {
  std::function<bool()> stop = {};  // asked after every update whether to end early
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
};

struct TrainedRecipe {
  Training::End end = Training::End::finished;
  std::vector<learn::Best> best;  // of each problem
  std::uint64_t updates = 0, evaluations = 0;
  double seconds = 0;
};

// Goes on from a checkpoint where the recipe's run folder holds an unfinished run of it. `part`: the ranks that
// evaluate, null or alone: this process. InUse, after a patience, where a live process works in the folder.
TrainedRecipe train_recipe(const ConfigTable& recipe, dist::World* part, const JobLimits& limits);

}  // namespace emplace::experiment
