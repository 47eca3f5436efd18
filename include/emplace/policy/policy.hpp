// The interface between policies and learners (docs/architecture.md, learning). A policy samples placements, computes
// log-probabilities (one for each head), and turns coefficients of those into a gradient. It calls no simulator and
// does not depend on the learner.
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

// One sampled placement: the policy's decisions and, once it is evaluated, the outcome. A sample has one rollout for
// each round. Lists of rollouts are ordered by sample, and within a sample by round.
struct Rollout {
  std::uint64_t update = 0;           // counted from 1; with `sample` it keys the policy's own random streams
  double progress = 1;                // share of the training's budget that was used before the update; 1 after it
  std::uint32_t problem = 0;          // position in the training's list of problems
  std::uint32_t sample = 0;           // position in the update's batch
  std::uint32_t round = 0;            // 0: the first of the sample
  std::vector<std::uint8_t> actions;  // decisions; the policy defines their number and meaning
  std::vector<float> observation;     // other values that sample() read or drew, for forward()
  Placement placement;
  Outcome outcome;
  std::vector<Ticks> starts;  // N: start times of the ops, for policies that read them; empty if not timed
};

// A sample that is being drawn. sample() fills the last of `rounds`, whose update, progress, problem, sample and round
// are already set; the earlier rounds are complete, outcomes included. All rounds of a sample draw from the same
// stream.
struct SampleSlot {
  Stream* stream = nullptr;
  std::span<Rollout> rounds;
  // Take the likeliest decision at each step instead of drawing: this gives the mode if decisions are independent, and
  // greedy decoding if they depend on each other.
  bool greedy = false;
  const Placement* best = nullptr;  // the problem's best placement so far; null: none yet
};

// Log-probabilities of S rollouts. The probability of a rollout is a product of factors; each factor is a head, which a
// learner can clip or weight separately. Post has a head for each unit, the Hierarchical Planner one for each unit and
// one for each group; a round without a decision has no heads.
struct LogProbabilities {
  std::vector<std::size_t> begin{0};  // S + 1: the heads of rollout s are value[begin[s]] .. value[begin[s + 1]]
  std::vector<double> value;          // natural logarithms
  // S: entropy in nats, summed over the heads, of the distribution that the rollout was drawn from; a policy's options
  // may count only a share of some heads' entropy. If decisions depend on earlier ones, this is the sum of the
  // conditional entropies along the rollout, whose expectation is the entropy.
  std::vector<double> entropy;

  [[nodiscard]] std::span<const double> of(std::size_t s) const {
    return {value.data() + begin[s], begin[s + 1] - begin[s]};
  }
};

// What a policy needs memory for in one problem, besides its parameters and what its constructor allocates.
struct MemoryNeed {
  double decisions = 0;     // of one sample, all rounds together
  double observations = 0;  // likewise: the sizes of Rollout::observation
  double bytes = 0;         // within sample(), forward() and backward(), kept between the calls or not
};

class Policy {
 public:
  virtual ~Policy() = default;

  // An estimate, for trainings that would not fit in memory: `bytes` is within a factor of two where it is large. Of
  // the problem, `drawn` samples are drawn together, and gradients are computed of `chunk` samples at a time. All 0:
  // not known.
  [[nodiscard]] virtual MemoryNeed memory_need(std::uint32_t problem, std::size_t drawn, std::size_t chunk) const;

  // Called before each update, with the share of the training's budget that is used (0 to 1): schedules of the policy
  // that change its parameters go on. Samples and their gradients read Rollout::progress.
  virtual void advance(double /*progress*/) {}

  // Draws one round of each sample with the present parameters; all slots have the same round number. It takes a whole
  // batch, so that what the samples share (an encoding, a table of probabilities, a grouping) is computed once.
  virtual void sample(std::span<const SampleSlot> slots) const = 0;
  // Rounds of a sample of this problem.
  [[nodiscard]] virtual std::size_t rounds(std::uint32_t) const { return 1; }
  // Whether sample() reads Rollout::starts of the earlier rounds.
  [[nodiscard]] virtual bool reads_start_times() const { return false; }
  // Validates a sample from a checkpoint: `rounds` are all rounds of one sample of an existing problem, with the fields
  // that forward() reads. Throws InputError for decisions that sample() cannot have drawn, which forward() need not
  // support.
  virtual void check(std::span<const Rollout> rounds) const = 0;

  // What a sample could place by other decisions, so that placements that something else found can be learned from. A
  // label for each op (N): by other decisions in its last round the sample `rounds` can put all ops of a label,
  // together, on any device that can run them. Empty: on none (the default).
  [[nodiscard]] virtual std::vector<std::uint32_t> expressible_units(std::span<const Rollout> rounds) const;
  // Rewrites the decisions of the sample's last round so that they give these devices, which are the same for all ops
  // of a label. Its placement becomes this one, without an order.
  virtual void express(std::span<Rollout> rounds, const Placement& placement) const;

  // Log-probabilities of the rollouts' actions under the present parameters. `log` is overwritten and its memory
  // reused. Only update, progress, problem, sample, round, actions and observation of the rollouts are read.
  virtual void forward(std::span<const Rollout> rollouts, LogProbabilities& log) = 0;
  // Adds d/dparameters of sum_{s,h} coefficient[s,h] * log p[s,h] + entropy_weight * sum_s entropy[s] to gradient().
  // The coefficients have the layout of LogProbabilities::value; rollouts and parameters must be those of the last
  // forward().
  virtual void backward(std::span<const Rollout> rollouts, std::span<const double> coefficients,
                        double entropy_weight) = 0;

  // True if head h of a rollout depends only on action h, which is a device number. Learners may then sum over heads x
  // devices instead of heads x samples; the result is the same, with equal terms added up first.
  [[nodiscard]] virtual bool independent_heads() const { return false; }

  // Exact KL divergence from a reference, for policies that have a closed form. If has_exact_kl() is false, the next
  // three functions must not be called and throw BugError.
  [[nodiscard]] virtual bool has_exact_kl() const { return false; }
  // The distribution of the present parameters becomes the reference.
  virtual void mark_reference();
  // KL(reference || present parameters), averaged over the heads of all problems, nats.
  [[nodiscard]] virtual double kl() const;
  // Adds `weight` times the gradient of the sum over heads of KL(reference || present) to gradient(); parameters as in
  // the last forward().
  virtual void add_kl_gradient(double weight);

  // Maximum-likelihood fit to the elites in closed form (cross-entropy method), then mixing with the uniform
  // distribution; without elites of a problem its distribution is only mixed. Only problem and actions of the rollouts
  // are read.
  [[nodiscard]] virtual bool has_fit() const { return false; }
  virtual void fit(std::span<const Rollout> elites);

  virtual std::span<float> parameters() = 0;
  virtual std::span<float> gradient() = 0;
  // Must be called after parameters() were overwritten from outside (a checkpoint, another run): updates what is
  // derived from them. Throws InputError for values that no training can produce.
  virtual void parameters_changed() {}
  // Names and shapes of the slices of parameters(), in order; a checkpoint stores them under /policy.
  struct ParameterInfo {
    std::string name;
    std::vector<std::uint64_t> shape;  // rows x columns
    [[nodiscard]] std::size_t size() const;
  };
  [[nodiscard]] virtual std::vector<ParameterInfo> layout() const = 0;
  // The sum of the sizes in the layout.
  [[nodiscard]] std::size_t parameter_count() const;
};

// What policies read of a problem: the flat problem, the units to place, and the shapes of its ops' outputs.
struct PolicyProblem {
  const Problem* problem;
  Grouping grouping;
  OutputShapes shapes;

  PolicyProblem(const Problem* of, Grouping units)
      : problem(of), grouping(std::move(units)), shapes(output_shapes(*of)) {}
};

// What a policy is constructed for: to begin a training, to continue one, or only to place. In the last two cases the
// parameters come from a training whose problems may have been larger. A policy that only places may draw from another
// distribution than the one whose log-probabilities forward() computes.
enum class PolicyUse : std::uint8_t { begin_training, go_on_training, place };

struct PolicySetup {
  std::span<const PolicyProblem> problems;  // must outlive the policy, with the span's elements
  // The op types that the policy distinguishes, sorted, without repetition: those of its training problems. An op of
  // any other type has no type (its embedding is zero, and it is in no type's count).
  std::span<const std::string> op_types;
  std::uint64_t seed = 0;
  PolicyUse use = PolicyUse::begin_training;
};

// The types of the problems' ops, sorted, without repetition.
std::vector<std::string> op_types_of(std::span<const PolicyProblem> problems);

struct PolicyEntry : EntryInfo {
  // Whether the policy reads op types, so that it has less information on an op whose type is not among op_types.
  bool reads_op_types = false;
  // Whether what is learned on one problem applies to others. False: each problem has parameters of its own.
  bool transfers = true;
  // `options`: the policy's table in the recipe.
  std::function<std::unique_ptr<Policy>(const ConfigTable& options, const PolicySetup& setup)> make;
  // The options with defaults filled in, for the run folder's config.toml.
  std::function<ConfigTable(const ConfigTable& options)> resolve;
  // May be empty. Returns the options with the defaults that depend on the training problems written out, so that the
  // policy is the same for other problems.
  std::function<ConfigTable(const ConfigTable& options, const PolicySetup& setup)> freeze_defaults;
  std::vector<std::string> frozen;  // names of the options that freeze_defaults writes
  // May be empty. Why the policy with these options cannot learn by a learner with its options; "" if it can.
  std::function<std::string(const ConfigTable& options, const std::string& learner, const ConfigTable& learner_options)>
      unfit;
  // May be empty: with every schedule. Why the policy with these options cannot learn with this schedule; "" if it can.
  std::function<std::string(const ConfigTable& options, Schedule schedule)> wrong_schedule;
};

// Every policy, in the order in which `emplace list policies` shows them.
std::span<const PolicyEntry> policies();
// Adds an entry (base/registry.hpp). InputError for a name that is taken or malformed.
void register_policy(PolicyEntry entry);

// Makes the policy called `name`, with the op types of these problems.
std::unique_ptr<Policy> make_policy(std::string_view name, const ConfigTable& options,
                                    std::span<const PolicyProblem> problems, std::uint64_t seed);

}  // namespace emplace::policy
