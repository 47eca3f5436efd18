// REINFORCE (Williams 1992) as ColocRL, the Hierarchical Planner and Placeto use it: the gradient of the mean over the
// batch of (return - baseline) x log-probability, with one optimiser step in each update. Defaults are ColocRL's
// (docs/papers/colocrl.md, section 3). With several epochs a batch is used for as many steps, without a probability
// ratio, as HSDAG's paper lists them (docs/papers/hsdag.md, section 2.5); with a ratio that is ppo.
#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "learn/advantages.hpp"
#include "learn/ascent.hpp"
#include "learn/gradient.hpp"
#include "learn/learning_batch.hpp"
#include "learn/methods.hpp"
#include "learn/schedule.hpp"

namespace emplace::learn {

namespace {

struct ReinforceOptions {
  int samples_per_update = 8;
  int controllers = 1;
  int updates = 2000;
  int epochs = 1;
  AdvantageOptions advantages;
  std::string over_samples = "mean";
  EntropyOptions entropy;
  nn::OptimizerOptions optimizer;
  int chunk = 8;
};

void describe(ReinforceOptions& o, OptionVisitor& visit) {
  visit("samples_per_update", o.samples_per_update,
        {.min = 1, .max = 1e6, .help = "K: placements (episodes) of each problem sampled for one update."});
  visit("controllers", o.controllers,
        {.min = 1, .max = 1e6, .help = "Controllers that share a batch equally, each with its own baseline."});
  visit("updates", o.updates, {.min = 1, .help = "Updates in all, where no budget is given."});
  visit("epochs", o.epochs,
        {.min = 1,
         .max = 10000,
         .help = "Optimiser steps on each batch. Each follows the gradient at the parameters of its time; nothing "
                 "corrects for the batch being drawn with those before the first (the learner ppo does)."});
  describe(o.advantages, visit);
  visit("over_samples", o.over_samples,
        {.choices = {"mean", "sum"}, .help = "Whether the samples' gradients are averaged or added up."});
  describe(o.entropy, visit);
  nn::describe(o.optimizer, visit);
  visit("chunk", o.chunk, {.min = 1, .max = 1e6, .help = "Samples whose gradient is computed in one piece."});
}

ReinforceOptions checked_reinforce(const ConfigTable& table) {
  const auto options = read_options<ReinforceOptions>(table);
  if (options.samples_per_update % options.controllers != 0)
    throw InputError(table.place_of("controllers"), "controllers ({}) must divide samples_per_update ({})",
                     options.controllers, options.samples_per_update);
  check(options.advantages, table, options.samples_per_update, options.controllers);
  return options;
}

class ReinforceLearner final : public Learner {
 public:
  ReinforceLearner(const ReinforceOptions& options, const LearnerSetup& setup)
      : o_(options),
        advantages_(options.advantages, setup.problems, static_cast<std::size_t>(options.controllers)),
        gradient_(static_cast<std::size_t>(options.chunk)),
        ascent_(options.optimizer) {}

  [[nodiscard]] std::size_t samples_per_chunk() const override { return gradient_.samples(); }
  [[nodiscard]] std::size_t samples_per_update() const override {
    return static_cast<std::size_t>(o_.samples_per_update);
  }
  [[nodiscard]] std::uint64_t default_updates() const override { return static_cast<std::uint64_t>(o_.updates); }

  void use(LearnerWorkers* learner_workers) override { gradient_.use(learner_workers); }
  std::map<std::string, double> update(policy::Policy& policy, std::span<const policy::Rollout> rollouts) override {
    ++updates_;
    const AdvantageBatch advantages = advantages_.of(rollouts, updates_);
    const LearningBatch batch = used_samples(rollouts, advantages);
    const double progress = rollouts.front().progress, entropy_weight = o_.entropy.weight(progress);
    nn::StepReport report;
    double entropy = 0;
    if (batch.samples() == 0) {
      policy::LogProbabilities log;
      gradient_.forward(policy, rollouts, log);
      entropy = mean_entropy(log);
    } else {
      for (int epoch = 0; epoch < o_.epochs; ++epoch) {
        const double now = compute_gradient(policy, batch, entropy_weight);
        if (epoch == 0) entropy = now;
        report = ascent_.step(policy, progress);
      }
    }
    return {{"baseline", advantages.baseline},       {"entropy", entropy},
            {"entropy_weight", entropy_weight},      {"gradient_norm", report.gradient_norm},
            {"learning_rate", report.learning_rate}, {"used_samples", static_cast<double>(batch.samples())}};
  }

  [[nodiscard]] State save() const override {
    State state;
    put_scalar(state, "updates", updates_);
    advantages_.save(state);
    ascent_.save(state);
    return state;
  }
  void load(const State& state, const policy::Policy& policy) override {
    updates_ = get_scalar<std::uint64_t>(state, "updates");
    advantages_.load(state);
    ascent_.load(state, policy);
  }

 private:
  // Returns the entropy per head of the policy's distribution: in the first epoch, that which the rollouts were drawn
  // from.
  double compute_gradient(policy::Policy& policy, const LearningBatch& batch, double entropy_weight) {
    const double weight = o_.over_samples == "sum" ? 1 : 1 / static_cast<double>(batch.samples());
    return mean_entropy(gradient_.compute(
        policy, batch.rollouts,
        [&](const ChunkedGradient::Chunk& chunk, std::span<double> coefficients) {
          for (std::size_t s = 0; s < chunk.rollouts.size(); ++s)
            for (std::size_t h = chunk.log->begin[s]; h < chunk.log->begin[s + 1]; ++h)
              coefficients[h] = weight * batch.advantages[chunk.first_rollout + s];
        },
        weight * entropy_weight));
  }

  ReinforceOptions o_;
  Advantages advantages_;
  ChunkedGradient gradient_;
  Ascent ascent_;
  std::uint64_t updates_ = 0;
};

}  // namespace

LearnerEntry reinforce_learner() {
  LearnerEntry entry;
  entry.name = "reinforce";
  entry.summary = "Policy gradient against a baseline; one optimiser step on every batch, or several.";
  entry.reference = "Williams (1992); Mirhoseini et al. (ICML 2017)";
  entry.columns = {"baseline", "entropy", "entropy_weight", "gradient_norm", "learning_rate", "used_samples"};
  make_from_options<ReinforceLearner, ReinforceOptions>(entry, checked_reinforce);
  return entry;
}

}  // namespace emplace::learn
