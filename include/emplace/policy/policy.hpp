// What a policy offers to every learner (docs/architecture.md, learning): it samples placements, gives
// log-probabilities per head, and turns coefficients of those into a gradient. It never sees a simulator and knows no
// learner.
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
#include "emplace/problem/output_shapes.hpp"
#include "emplace/problem/placement.hpp"

namespace emplace::policy {

// One sampled placement: what was decided, and (later) what came of it. A sample has one rollout a round; in lists of
// rollouts they stand sample by sample, each sample's rounds in order.
struct Rollout {
  std::uint64_t update = 0;   // counted from 1; with `sample` it keys streams that a policy draws beside SampleSlot's
  std::uint32_t problem = 0;  // position in the training's list of problems
  std::uint32_t sample = 0;   // position in the update's batch
  std::uint32_t round = 0;    // 0 begins the sample
  std::vector<std::uint8_t> actions;  // the policy's own decisions, as many as it likes
  std::vector<float> observation;     // what else sample() read or drew, kept for forward()
  Placement placement;
  Outcome outcome;
  std::vector<Ticks> starts;  // N: of `placement`'s ops; only for policies that read start times, empty if not timed
};

// A sample that is being drawn: sample() fills the last of its rounds, whose update, problem, sample and round are set;
// the earlier rounds are complete, outcomes included. The stream runs on from round to round.
struct SampleSlot {
  Stream* stream = nullptr;
  std::span<Rollout> rounds;
  // The likeliest decision instead of a draw, one after the other: the mode where decisions are independent, greedy
  // decoding elsewhere.
  bool greedy = false;
  const Placement* best = nullptr;  // the best of the problem so far; null: none yet
};

// S rollouts, each with as many heads as it has factors of the placement's probability that a learner may clip or weigh
// on its own: one a unit for Post, one a unit and one a group for the Hierarchical Planner, none for a round without a
// decision.
struct LogProbabilities {
  std::vector<std::size_t> begin{0};  // S + 1: the heads of rollout s are value[begin[s]] .. value[begin[s + 1]]
  std::vector<double> value;          // natural logarithms
  // S: of the distribution that the rollout was drawn from, all heads, nats; or as much of it as the policy's options
  // let an entropy bonus count. Where a decision depends on earlier ones, the sum of the entropies met on the way,
  // whose mean is the entropy.
  std::vector<double> entropy;

  [[nodiscard]] std::span<const double> of(std::size_t s) const {
    return {value.data() + begin[s], begin[s + 1] - begin[s]};
  }
};

class Policy {
 public:
  virtual ~Policy() = default;

  // Draws one round of each sample with the present parameters; all draws are of one round number. A batch at once, so
  // that what the samples share (an encoder, a table of probabilities, a grouping) is computed once.
  virtual void sample(std::span<const SampleSlot> draws) const = 0;
  [[nodiscard]] virtual std::size_t rounds(std::uint32_t) const { return 1; }
  // Whether sample() wants Rollout::starts of the earlier rounds.
  [[nodiscard]] virtual bool reads_start_times() const { return false; }
  // InputError for decisions that sample() cannot have drawn and forward() must not be given: all rounds of one sample
  // of a problem that there is, as forward() reads them, from a checkpoint.
  virtual void check(std::span<const Rollout> rounds) const = 0;

  // Log-probabilities of the rollouts' actions under the present parameters. `log` is overwritten; its memory is used
  // again. Rollouts need only update, problem, sample, round, actions and observation.
  virtual void forward(std::span<const Rollout> rollouts, LogProbabilities& log) = 0;
  // Adds d/dparameters of sum_{s,h} coefficient[s,h] * log p[s,h] + entropy_weight * sum_s entropy[s] to gradient();
  // coefficients laid out as LogProbabilities::value; rollouts and parameters as in the last forward().
  virtual void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients,
                        double entropy_weight) = 0;

  // True if head h of a rollout depends on its action h alone, which is below the problem's number of devices. Learners
  // may then work on heads x devices instead of heads x samples: it is the same sum with equal terms added up first.
  [[nodiscard]] virtual bool independent_heads() const { return false; }

  // Exact KL divergence from a reference, where the policy has closed forms. Policies without them leave has_exact_kl()
  // false and never see the calls.
  [[nodiscard]] virtual bool has_exact_kl() const { return false; }
  // The distribution of the present parameters becomes the reference.
  virtual void mark_reference();
  // KL(reference || present parameters), averaged over the heads of all problems, nats.
  [[nodiscard]] virtual double kl() const;
  // Adds `weight` times the gradient of the sum over heads of KL(reference || present) to gradient(); parameters as in
  // the last forward().
  virtual void add_kl_gradient(double weight);

  // Maximum-likelihood fit to the elites in closed form (cross-entropy method), then mixing with the uniform
  // distribution; a problem without elites gets only the mixing. Rollouts need only problem and actions.
  [[nodiscard]] virtual bool has_fit() const { return false; }
  virtual void fit(std::span<const Rollout> elites);

  virtual std::span<float> parameters() = 0;
  virtual std::span<float> gradient() = 0;
  // Somebody else wrote parameters() (a checkpoint, another run): bring what is derived from them in step. InputError
  // for values that no training leaves there.
  virtual void parameters_changed() {}
  // Names and shapes of the slices of parameters(), in order: what a checkpoint stores under /policy.
  struct ParameterInfo {
    std::string name;
    std::vector<std::uint64_t> shape;  // rows x columns
    [[nodiscard]] std::size_t size() const;
  };
  [[nodiscard]] virtual std::vector<ParameterInfo> layout() const = 0;
  // Of the layout.
  [[nodiscard]] std::size_t parameter_count() const;
};

// A problem as policies see it: the flat problem, the units to place, and the shapes of its ops' outputs.
struct PolicyProblem {
  const Problem* problem;
  Grouping grouping;
  OutputShapes shapes;

  PolicyProblem(const Problem* of, Grouping units)
      : problem(of), grouping(std::move(units)), shapes(output_shapes(*of)) {}
};

// What a policy is made for. The parameters of the last two come from a training whose problems may have been larger.
// What a policy that only places draws need not follow the probabilities that its forward() gives.
enum class PolicyUse : std::uint8_t { begin_training, go_on_training, place };

struct PolicySetup {
  std::span<const PolicyProblem> problems;  // they (the span's elements too) outlive the policy
  // The types of ops that the policy tells apart, sorted, without repetition: those of the problems of its training. An
  // op of another type counts as of none (a zero row of an embedding, no count).
  std::span<const std::string> op_types;
  std::uint64_t seed = 0;
  PolicyUse use = PolicyUse::begin_training;
};

// The types of the problems' ops, sorted.
std::vector<std::string> op_types_of(std::span<const PolicyProblem> problems);

struct PolicyEntry : EntryInfo {
  // Whether ops of a type that is not among op_types look poorer to it than others.
  bool reads_op_types = false;
  // Whether what is learned on one problem says anything of another. False: each problem has parameters of its own.
  bool transfers = true;
  // `options`: the policy's own table of the recipe.
  std::function<std::unique_ptr<Policy>(const ConfigTable& options, const PolicySetup& setup)> make;
  // The options with defaults filled in, for the run folder's config.toml.
  std::function<ConfigTable(const ConfigTable& options)> resolve;
  // Empty, or: the options with what depends on the training's problems written out, so that the policy is the same for
  // others.
  std::function<ConfigTable(const ConfigTable& options, const PolicySetup& setup)> freeze_defaults;
  std::vector<std::string> frozen;  // their names
};

// Every policy, in the order in which `emplace list policies` shows them.
std::span<const PolicyEntry> policies();
// Adds an entry (base/registry.hpp). InputError for a name that is taken or malformed.
void register_policy(PolicyEntry entry);

// The policy called `name`, which tells apart the types of ops that these problems have.
std::unique_ptr<Policy> make_policy(std::string_view name, const ConfigTable& options,
                                    std::span<const PolicyProblem> problems, std::uint64_t seed);

}  // namespace emplace::policy
