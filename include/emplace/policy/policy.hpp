// What a policy offers to every learner (DESIGN section 3, "Learning"): it samples placements, gives log-probabilities
// per head, and turns coefficients of those into a gradient. It never sees a simulator and knows no learner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/random.hpp"
#include "emplace/base/registry.hpp"
#include "emplace/base/state.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"

namespace emplace {

// One sampled placement: what was decided, and (later) what came of it.
struct Rollout {
  std::uint32_t problem = 0;          // position in the training's list of problems
  std::vector<std::uint8_t> actions;  // the policy's own decisions, as many as it likes
  Placement placement;
  Outcome outcome;
};

// S rollouts x H heads. A head is a factor of the placement's probability that a learner may clip or weigh on its own:
// one a unit for Post, grouper and placer for the Hierarchical Planner.
struct LogProbabilities {
  std::size_t heads = 0;
  std::vector<double> value;    // S x H, natural logarithms
  std::vector<double> entropy;  // S: entropy of the distribution that the rollout was drawn from, nats
};

class Policy {
 public:
  virtual ~Policy() = default;

  // Draws one rollout of problem `problem` with the present parameters. Round 0 begins it; policies with more rounds
  // read rollout.outcome of the round before.
  virtual void sample(std::uint32_t problem, std::size_t round, Stream& stream, Rollout& rollout) const = 0;
  // The most probable placement (greedy decoding where the exact mode is out of reach).
  virtual Placement mode(std::uint32_t problem) const = 0;
  [[nodiscard]] virtual std::size_t rounds(std::uint32_t) const { return 1; }
  [[nodiscard]] virtual std::size_t heads(std::uint32_t problem) const = 0;

  // Log-probabilities of the rollouts' actions under the present parameters.
  virtual LogProbabilities forward(std::span<const Rollout> rollouts) = 0;
  // Adds d/dparameters of sum_{s,h} coefficient[s,h] * log p[s,h] + entropy_weight * mean_s entropy[s] to gradient();
  // rollouts as in the last forward().
  virtual void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients,
                        double entropy_weight) = 0;

  // Exact KL divergence KL(old || present) averaged over heads, and its gradient, where the policy has closed forms;
  // `old` is a copy of parameters(). Policies without them leave has_exact_kl() false.
  [[nodiscard]] virtual bool has_exact_kl() const { return false; }
  virtual double kl(std::span<const float> old) const;
  virtual void add_kl_gradient(std::span<const float> old, double weight);  // of sum over heads of KL(old || present)

  // Maximum-likelihood fit to the elites in closed form (cross-entropy method), then mixing with the uniform
  // distribution; no elites: only the mixing. False if the policy has no closed form.
  virtual bool fit(std::span<const Rollout> elites);

  virtual std::span<float> parameters() = 0;
  virtual std::span<float> gradient() = 0;
  // Names and shapes of the slices of parameters(), in order: what a checkpoint stores under /policy.
  struct ParameterInfo {
    std::string name;
    std::vector<std::uint64_t> shape;  // rows x columns
  };
  [[nodiscard]] virtual std::vector<ParameterInfo> layout() const = 0;
};

// A problem as policies see it: the flat problem and the units to place.
struct PolicyProblem {
  const Problem* problem = nullptr;
  Grouping grouping;
};

struct PolicyEntry : EntryInfo {
  // `options`: the policy's own table of the recipe. Problems outlive the policy.
  std::function<std::unique_ptr<Policy>(const ConfigTable& options, std::span<const PolicyProblem> problems,
                                        std::uint64_t seed)>
      make;
  // The options with defaults filled in, for the run folder's config.toml.
  std::function<ConfigTable(const ConfigTable& options)> resolve;
};

// Every policy, in the order in which `emplace list policies` shows them.
std::span<const PolicyEntry> policies();

}  // namespace emplace
