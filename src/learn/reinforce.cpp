// REINFORCE (Williams 1992) as ColocRL, the Hierarchical Planner and Placeto use it: the gradient of the mean over the
// batch of (return - baseline) x log-probability, with one optimiser step in each update. Defaults are ColocRL's
// (docs/papers/colocrl.md, section 3). With several epochs a batch is used for as many steps, without a probability
// ratio, as HSDAG's paper lists them (docs/papers/hsdag.md, section 2.5); with a ratio that is ppo.
#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "learn/advantages.hpp"
#include "learn/ascent.hpp"
#include "learn/best_samples.hpp"
#include "learn/gradient.hpp"
#include "learn/learning_batch.hpp"
#include "learn/methods.hpp"
#include "learn/schedule.hpp"

namespace emplace::learn {

namespace {

struct ReinforceOptions {
  int samples_per_update = 8;
  int controllers = 1;
  bool asynchronous = false;
  int updates = 2000;
  int epochs = 1;
  AdvantageOptions advantages;
  bool keep_best = false;
  std::string over_samples = "mean";
  EntropyOptions entropy;
  nn::OptimizerOptions optimizer;
  int chunk = 8;
};

void describe(ReinforceOptions& o, OptionVisitor& visit) {
  visit("samples_per_update", o.samples_per_update,
        {.min = 1, .max = 1e6, .help = "K: placements (episodes) of each problem sampled for one update."});
  visit("controllers", o.controllers,
        {.min = 1,
         .max = 1e6,
         .help = "Controllers, each with its own baseline: they share a batch equally, or (asynchronous) each has "
                 "batches of its own."});
  visit("asynchronous", o.asynchronous,
        {.help = "Each controller works on MPI ranks of its own and sends its gradient to rank 0, which applies every "
                 "gradient when it arrives."});
  visit("updates", o.updates, {.min = 1, .help = "Updates in all, where no budget is given."});
  visit("epochs", o.epochs,
        {.min = 1,
         .max = 10000,
         .help = "Optimiser steps on each batch. Each follows the gradient at the parameters of its time; nothing "
                 "corrects for the batch being drawn with those before the first (the learner ppo does)."});
  describe(o.advantages, visit);
  visit("keep_best", o.keep_best, keep_best_meta());
  visit("over_samples", o.over_samples,
        {.choices = {"mean", "sum"}, .help = "Whether the samples' gradients are averaged or added up."});
  describe(o.entropy, visit);
  nn::describe(o.optimizer, visit);
  visit("chunk", o.chunk, {.min = 1, .max = 1e6, .help = "Samples whose gradient is computed in one piece."});
}

ReinforceOptions checked_reinforce(const ConfigTable& table) {
  const auto options = read_options<ReinforceOptions>(table);
  if (!options.asynchronous && options.samples_per_update % options.controllers != 0)
    throw InputError(table.place_of("controllers"), "controllers ({}) must divide samples_per_update ({})",
                     options.controllers, options.samples_per_update);
  if (options.asynchronous && options.epochs > 1)
    throw InputError(table.place_of("epochs"),
                     "epochs is {}, and asynchronous controllers send one gradient of a batch", options.epochs);
  if (options.keep_best) check_keep_best(options.advantages, table);
  if (options.keep_best && options.controllers > 1)
    throw InputError(table.place_of("keep_best"),
                     "keep_best adds a sample that no controller drew, but there are {} controllers with baselines of "
                     "their own: wanted controllers = 1",
                     options.controllers);
  if (options.keep_best && options.asynchronous)
    throw InputError(table.place_of("keep_best"), "keep_best does not go with asynchronous controllers");
  check(options.advantages, table, options.samples_per_update, options.asynchronous ? 1 : options.controllers);
  return options;
}

class ReinforceLearner final : public Learner, public AsynchronousLearner {
 public:
  ReinforceLearner(const ReinforceOptions& options, const LearnerSetup& setup)
      : o_(options),
        advantages_(options.asynchronous ? controllers() : 1,
                    Advantages(options.advantages, setup.problems, options.asynchronous ? 1 : controllers())),
        best_(options.keep_best, setup.problems.size()),
        gradient_(static_cast<std::size_t>(options.chunk)),
        ascent_(options.optimizer) {}

  [[nodiscard]] std::size_t samples_per_chunk() const override { return gradient_.samples(); }
  [[nodiscard]] std::size_t samples_per_update() const override {
    return static_cast<std::size_t>(o_.samples_per_update);
  }
  [[nodiscard]] std::uint64_t default_updates() const override { return static_cast<std::uint64_t>(o_.updates); }

  void use(LearnerWorkers* learner_workers) override { gradient_.use(learner_workers); }
  [[nodiscard]] bool can_be_taught() const override { return best_.keep(); }
  void teach(std::span<const policy::Rollout> samples) override { best_.teach(samples); }
  std::map<std::string, double> update(policy::Policy& policy, std::span<const policy::Rollout> drawn) override {
    const std::span<const policy::Rollout> rollouts = best_.join(drawn);
    LearningBatch batch;
    const GradientReport report = compute(policy, rollouts, advantages_.front(), updates_ + 1, batch);
    std::map<std::string, double> metrics = apply(policy, report);
    for (int epoch = 1; epoch < o_.epochs && batch.samples() > 0; ++epoch) {
      compute_gradient(policy, batch, report.entropy_weight);
      const nn::StepReport step = ascent_.step(policy, report.progress);
      metrics["gradient_norm"] = step.gradient_norm;
      metrics["learning_rate"] = step.learning_rate;
    }
    return metrics;
  }

  [[nodiscard]] AsynchronousLearner* asynchronous() override { return o_.asynchronous ? this : nullptr; }
  [[nodiscard]] std::size_t controllers() const override { return static_cast<std::size_t>(o_.controllers); }
  GradientReport compute(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                         std::size_t controller) override {
    LearningBatch batch;
    return compute(policy, rollouts, advantages_.at(controller), rollouts.front().update, batch);
  }
  std::map<std::string, double> apply(policy::Policy& policy, const GradientReport& report) override {
    ++updates_;
    nn::StepReport step;
    if (report.used_samples > 0) step = ascent_.step(policy, report.progress);
    return {{"baseline", report.baseline},
            {"entropy", report.entropy},
            {"entropy_weight", report.entropy_weight},
            {"gradient_norm", step.gradient_norm},
            {"learning_rate", step.learning_rate},
            {"used_samples", static_cast<double>(report.used_samples)}};
  }
  [[nodiscard]] State save_controller(std::size_t controller) const override {
    State state;
    advantages_.at(controller).save(state);
    return state;
  }
  void load_controller(std::size_t controller, const State& state) override { advantages_.at(controller).load(state); }

  [[nodiscard]] State save() const override {
    State state;
    put_scalar(state, "updates", updates_);
    for (std::size_t c = 0; c < advantages_.size(); ++c)
      for (auto& [name, array] : save_controller(c)) state[prefix_of(c) + name] = array;
    best_.save(state);
    ascent_.save(state);
    return state;
  }
  void load(const State& state, const policy::Policy& policy) override {
    updates_ = get_scalar<std::uint64_t>(state, "updates");
    for (std::size_t c = 0; c < advantages_.size(); ++c) load_controller(c, arrays_under(state, prefix_of(c)));
    best_.load(state, policy);
    ascent_.load(state, policy);
  }

 private:
  // Of the arrays of an asynchronous controller.
  [[nodiscard]] std::string prefix_of(std::size_t controller) const {
    return o_.asynchronous ? fmt::format("controller.{}.", controller) : "";
  }

  // policy.gradient() becomes the gradient, if a sample is used; the baselines are updated. `batch` becomes the samples
  // that are used.
  GradientReport compute(policy::Policy& policy, std::span<const policy::Rollout> rollouts, Advantages& baselines,
                         std::uint64_t update, LearningBatch& batch) {
    const AdvantageBatch advantages = baselines.of(rollouts, update);
    batch = used_samples(rollouts, advantages);
    GradientReport report{
        .progress = rollouts.front().progress, .baseline = advantages.baseline, .used_samples = batch.samples()};
    report.entropy_weight = o_.entropy.weight(report.progress);
    if (batch.samples() == 0) {
      policy::LogProbabilities log;
      gradient_.forward(policy, rollouts, log);
      report.entropy = mean_entropy(log);
    } else {
      report.entropy = compute_gradient(policy, batch, report.entropy_weight);
    }
    return report;
  }

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
  std::vector<Advantages> advantages_;  // of each asynchronous controller; else one, of all controllers
  BestSamples best_;
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
