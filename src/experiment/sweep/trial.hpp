// One work of a sweep, trained: what a coordinator hands to a group of ranks, and what comes back.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emplace/dist/world.hpp"
#include "experiment/sweep/record.hpp"
#include "experiment/sweep/sweep.hpp"

namespace emplace::experiment {

struct TrialTask {
  Work work;
  std::vector<std::string> recipes;  // TOML, one a seed, each with a run folder of its own
  std::optional<double> seconds_left;
};
// Where the training of this seed has its run folder; `folder`: the trial's.
std::string run_of_seed(const Sweep& sweep, const std::string& folder, std::int64_t seed);
TrialTask task_of(const Sweep& sweep, const SweepStrategy& strategy, Work work, const std::string& folder);

struct TrialAnswer {
  Work work;
  bool interrupted = false;  // before its end; it goes on from its checkpoints
  std::string undone;        // why the machine could not train it, which says nothing of the trial; or empty
  TrialResult result;
};

// Trains one seed after the other, each from its checkpoint if it has one. What an exception says becomes the result's
// error; or `undone`, where a folder cannot be written or is somebody else's. `part`: the ranks that evaluate, null or
// alone: this process.
TrialAnswer train_trial(const TrialTask& task, dist::World* part, const std::function<bool()>& stop);

// As texts between ranks.
std::string to_text(const TrialTask& task);
std::string to_text(const TrialAnswer& answer);
TrialTask task_from(const std::string& text);
TrialAnswer answer_from(const std::string& text);

}  // namespace emplace::experiment
