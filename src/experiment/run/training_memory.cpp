// How much memory a training needs, and its refusal to begin if the machine has less.
#include <fmt/core.h>

#include <algorithm>

#include "base/log.hpp"
#include "base/machine_limits.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/dist/world.hpp"
#include "experiment/run/training.hpp"

namespace emplace::experiment {

namespace {

// The share of the available memory above which the log tells how much a training needs.
constexpr double share_to_tell = 0.2;

// Of a parameter, in bytes: its value and gradient, two moments of the optimiser, sums of gradients in double, and the
// copies of a checkpoint.
constexpr double of_parameter = 2 * 4 + 2 * 4 + 4 * 8 + 4 * 4;
// Of a decision: the action, log-probabilities (the drawn ones, those of a chunk, of all chunks, joined), coefficients.
constexpr double of_decision = 1 + 6 * 8;

}  // namespace

double Training::bytes_needed() const {
  const auto samples = static_cast<double>(learner_->samples_per_update());
  // The largest update has the problems with the largest rollouts.
  std::vector<double> rollouts;
  double passes = 0;
  for (std::uint32_t p = 0; p < problems_.size(); ++p) {
    const policy::MemoryNeed need =
        policy_->memory_need(p, learner_->samples_per_update(), learner_->samples_per_chunk());
    const auto ops = static_cast<double>(problems_[p].op_count()), rounds = static_cast<double>(policy_->rounds(p));
    const double placement = ops * (1 + (schedule_ == Schedule::fifo ? 0 : sizeof(std::uint32_t)));
    const double starts = policy_->reads_start_times() ? ops * sizeof(Ticks) : 0;
    rollouts.push_back(samples * (rounds * (placement + sizeof(policy::Rollout)) + starts +
                                  of_decision * need.decisions + sizeof(float) * need.observations));
    passes = std::max(passes, need.bytes);
  }
  std::ranges::sort(rollouts, std::greater<>());
  if (const auto drawn = static_cast<std::size_t>(recipe_.options.problems_per_update); drawn > 0)
    rollouts.resize(std::min(rollouts.size(), drawn));
  double bytes = of_parameter * static_cast<double>(policy_->parameter_count());
  for (const double each : rollouts) bytes += each;
  // Each controller makes whole updates of its own.
  if (const learn::AsynchronousLearner* const learner = learner_->asynchronous())
    return (bytes + passes) * static_cast<double>(std::min(1 + learner->controllers(), dist::ranks_on_this_host()));
  // Workers that learn have what the passes need too.
  const bool shared = recipe_.options.workers == "simulate+learn";
  return bytes + passes * static_cast<double>(shared ? dist::ranks_on_this_host() : 1);
}

void Training::check_memory() {
  const auto available = available_memory();
  if (!available) return;
  const double needed = bytes_needed(), have = static_cast<double>(*available);
  if (needed < share_to_tell * have) return;
  std::size_t units = 0;
  for (const policy::PolicyProblem& each : policy_problems_) units = std::max(units, each.grouping.count());
  const std::string says = fmt::format("an update of policy {} with {} units and {} samples needs about {} of memory,",
                                       recipe_.options.policy, units, learner_->samples_per_update(),
                                       human_bytes(static_cast<Bytes>(std::min(needed, 0x1p62))));
  if (needed <= have) {
    memory_ = fmt::format("{} of {} available", says, human_bytes(static_cast<Bytes>(*available)));
    return;
  }
  constexpr std::size_t few_units = 200;
  const std::string fewer = units > few_units ? fmt::format("place fewer units (groups={}), or ", few_units) : "";
  throw EnvironmentError("{}: {} but only {} are available: {}lower {}", recipe_.place, says,
                         human_bytes(static_cast<Bytes>(*available)), fewer,
                         fmt::format("{0}.samples_per_update or {0}.chunk", recipe_.options.learner));
}

}  // namespace emplace::experiment
