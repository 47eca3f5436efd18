// Draws samples from a policy and evaluates them, round by round: before each update of a training, and to place a
// problem with a trained policy.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/policy/policy.hpp"

namespace emplace::learn {

struct SamplingRequest {
  std::uint64_t seed = 0;
  std::uint64_t update = 1;  // with the seed and the sample's position it keys the sample's stream
  double progress = 1;       // share of the training's budget that was used before it; 1 after the training
  std::size_t samples = 1;   // of each problem
  // Positions of the problems that take part, ascending; empty: all.
  std::vector<std::uint32_t> problems = {};
  bool greedy = false;  // the likeliest decisions instead of draws
  Schedule schedule = Schedule::fifo;
  std::vector<const Placement*> best = {};  // of each problem, null where there is none yet; or empty
  std::uint32_t first_in_evaluator = 0;     // the evaluator's number of the first problem
  // Only the samples at positions begin .. end - 1 of all, the same as if all were drawn; empty: all.
  std::optional<std::pair<std::size_t, std::size_t>> part = {};
};

// Number of samples of a request without `part`, with this number of problems in all.
std::size_t sample_count(const SamplingRequest& request, std::size_t problems);

// The update number that keys placements which a policy makes after its training. It is above that of every update. It
// depends on the seed, because policies key their own draws (for example of a grouping) by the update and the seed of
// their training only.
std::uint64_t update_after_training(std::uint64_t seed);

// Replaces `rollouts` (its memory is reused) by samples of each problem in turn, each with policy.rounds() rounds in
// order, outcomes included. A round of all samples is evaluated before the next round of any sample begins. With the
// schedules `priority` and `in-order` the ops of a sample are ordered by upward rank under the placement of its first
// round and keep this order, so that a round differs from the one before only where ops moved; an order set by the
// policy takes precedence. `evaluated` is called once for every rollout, in the order of evaluation. After all rounds
// are drawn, `meanwhile` is called until it returns false: for work that needs no outcome of the last round, while
// other processes may still evaluate it.
void sample_rollouts(const policy::Policy& policy, evaluate::Evaluator& evaluator,
                     std::span<const policy::PolicyProblem> problems, const SamplingRequest& request,
                     std::vector<policy::Rollout>& rollouts,
                     const std::function<void(const policy::Rollout&)>& evaluated = {},
                     const std::function<bool()>& meanwhile = {});

// Rollouts of whole samples in the order in which sample_rollouts() evaluates them: round by round, sample by sample.
void in_order_of_evaluation(std::span<const policy::Rollout> rollouts,
                            const std::function<void(const policy::Rollout&)>& evaluated);

}  // namespace emplace::learn
