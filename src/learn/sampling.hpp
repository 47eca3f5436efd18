// Draws samples from a policy and evaluates them, round by round: what a training does before each update, and what a
// trained policy does to place a problem.
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
  std::size_t samples = 1;   // of each problem
  // Positions of the problems that take part, ascending; empty: all.
  std::vector<std::uint32_t> problems = {};
  bool greedy = false;  // the likeliest decisions instead of draws
  Schedule schedule = Schedule::fifo;
  std::vector<const Placement*> best = {};  // of each problem, null where there is none yet; or empty
  std::uint32_t first_in_evaluator = 0;     // what the evaluator calls the first of the problems
  // Only the samples at these positions of all (begin, end), as if the others were drawn elsewhere; none: all.
  std::optional<std::pair<std::size_t, std::size_t>> part = {};
};

// Samples of a request without `part`, of so many problems in all.
std::size_t sample_count(const SamplingRequest& request, std::size_t problems);

// The update that keys placements which a policy makes after its training: beyond every update, so that exploration
// (noise on logits) has ended. Policies key draws of their own, as those of a grouping, by the update and the seed of
// their training, so another seed begins at another update.
std::uint64_t update_after_training(std::uint64_t seed);

// Replaces `rollouts` (its memory is used again) by samples of each problem in turn, each with as many rounds as the
// policy wants, sample by sample and its rounds in order; outcomes included. Every sample's round is evaluated before
// any sample's next one begins. Under `priority` and `in-order` a sample's ops are ordered by upward rank under its
// first round's placement, and stay in that order, so that a round differs from the one before only where ops moved; a
// policy's own order goes before that. `evaluated` sees every rollout once, in the order of evaluation. Once all is
// drawn `meanwhile` is called until it answers false: work that needs no outcome of the last round, for which others
// may still be evaluating.
void sample_rollouts(const policy::Policy& policy, evaluate::Evaluator& evaluator,
                     std::span<const policy::PolicyProblem> problems, const SamplingRequest& request,
                     std::vector<policy::Rollout>& rollouts,
                     const std::function<void(const policy::Rollout&)>& evaluated = {},
                     const std::function<bool()>& meanwhile = {});

// Rollouts of whole samples in the order in which sample_rollouts() evaluates them: round by round, sample by sample.
void in_order_of_evaluation(std::span<const policy::Rollout> rollouts,
                            const std::function<void(const policy::Rollout&)>& evaluated);

}  // namespace emplace::learn
