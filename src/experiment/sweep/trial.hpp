// Training of one work of a sweep: the task that a coordinator sends to a group of ranks, and their answer.
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
  std::vector<std::string> recipes;  // TOML, one for each seed, each with its own run folder
  std::optional<double> seconds_left;
};
// The run folder of the training with this seed; `folder` is that of the trial.
std::string run_of_seed(const Sweep& sweep, const std::string& folder, std::int64_t seed);
TrialTask task_of(const Sweep& sweep, const SweepStrategy& strategy, Work work, const std::string& folder);

struct TrialAnswer {
  Work work;
  bool interrupted = false;  // it was stopped before its end and can continue from its checkpoints
  std::string undone;        // why this machine could not train it (not a result of the trial); or ""
  TrialResult result;
};

// Trains one seed after the other, each from its checkpoint if it has one. The message of an exception becomes the
// error of the result, or `undone` if a folder cannot be written or is in use. `part`: the ranks that evaluate; if it
// is null or has one rank, this process evaluates.
TrialAnswer train_trial(const TrialTask& task, dist::World* part, const std::function<bool()>& stop);

// Conversion to texts for messages between ranks, and back.
std::string to_text(const TrialTask& task);
std::string to_text(const TrialAnswer& answer);
TrialTask task_from(const std::string& text);
TrialAnswer answer_from(const std::string& text);

}  // namespace emplace::experiment
