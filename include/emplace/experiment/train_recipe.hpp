// Trains the policy of a recipe, from the run folder's last checkpoint if there is one; for programs that train as a
// part of something else (sweeps, tables, your own). Unlike `emplace train` it shows no progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/dist/world.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"

namespace emplace::experiment {

struct JobLimits {
  std::function<bool()> stop = {};  // called after every update; true ends the training early
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
};

// What a training does with the recipe's run folder.
struct FolderUse {
  bool resume = true;  // false: a run that is there is moved aside, as a finished run of another configuration is
  bool wait = true;    // false: InUse at once if another process works in the folder
  // At least this much time between two checkpoints, however short the recipe's checkpoint_every is.
  std::chrono::seconds between_checkpoints{0};
};

// The best placement that a training found for one problem, by better() (problem/outcome.hpp).
struct TrainedPlacement {
  Placement placement;
  Outcome outcome;
  std::uint64_t evaluation = 0;  // the number of the evaluation that found it, from 1
  std::string reason = {};       // why it is not feasible; "" if it is
};

struct TrainedRecipe {
  bool finished = false;                              // false: `stop` or the deadline ended the training early
  std::vector<std::optional<TrainedPlacement>> best;  // per problem of the recipe; empty: no update used it
  std::uint64_t updates = 0, evaluations = 0;         // of all sessions of the run
  double seconds = 0;
  // The policy's placement of each held-out problem at the end; none if the training did not finish.
  std::vector<std::optional<TrainedPlacement>> held_out = {};
  std::vector<std::string> problem_names = {}, held_out_names = {};  // as long as `best` and `held_out`
};

// Trains the recipe (docs/formats.md, recipes) and shows nothing. If the recipe's run folder holds an unfinished run of
// this recipe, the training continues from its last checkpoint, unless `use` says otherwise. `workers`: the ranks that
// evaluate placements; null, or a world of one rank: this process evaluates. InputError for a recipe that cannot be
// trained; InUse if another process works in the run folder and does not end within seconds; NotFinite if the
// parameters diverge.
TrainedRecipe train_recipe(const ConfigTable& recipe, dist::World* workers = nullptr, const JobLimits& limits = {},
                           FolderUse use = {});

}  // namespace emplace::experiment
