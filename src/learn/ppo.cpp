// Proximal policy optimisation (Schulman et al. 2017): several passes over each batch on the clipped surrogate, or on
// the plain one with a KL penalty of adaptive weight. Defaults are those of docs/papers/gdp.md, section 3, where it
// gives them.
#include <algorithm>
#include <cmath>
#include <optional>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "learn/advantages.hpp"
#include "learn/ascent.hpp"
#include "learn/best_samples.hpp"
#include "learn/gradient.hpp"
#include "learn/learning_batch.hpp"
#include "learn/methods.hpp"
#include "learn/samples.hpp"
#include "learn/schedule.hpp"
#include "learn/surrogate.hpp"

namespace emplace::learn {

namespace {

struct PpoOptions {
  int samples_per_update = 16;
  int updates = 1000;
  int epochs = 4;
  int minibatches = 1;
  std::string form = "clip";
  std::string ratio = "per_head";
  double clip_ratio = 0.2;
  double beta = 1;
  bool adaptive_beta = true;
  double kl_target = 0.01;
  double kl_stop = 0;
  bool over_heads = false;
  bool keep_best = false;
  AdvantageOptions advantages{.baseline_start = "first", .normalize = true};
  EntropyOptions entropy;
  double entropy_target = 0;
  nn::OptimizerOptions optimizer;
  int chunk = 8;
};

void describe(PpoOptions& o, OptionVisitor& visit) {
  visit("samples_per_update", o.samples_per_update,
        {.min = 1, .max = 1e6, .help = "Placements (episodes) of each problem sampled for one update."});
  visit("updates", o.updates, {.min = 1, .help = "Updates in all, where no budget is given."});
  visit("epochs", o.epochs, {.min = 1, .max = 10000, .help = "Passes over each batch of placements."});
  visit("minibatches", o.minibatches,
        {.min = 1,
         .max = 1e6,
         .help = "Minibatches of a pass, of equal size up to one sample; each makes one optimiser step."});
  visit("form", o.form,
        {.choices = {"clip", "kl"}, .help = "Proximal objective: clipped ratios, or a KL penalty of weight beta."});
  visit("ratio", o.ratio,
        {.choices = {"per_head", "joint"}, .help = "Probability ratios of single decisions, or of whole placements."});
  visit("clip_ratio", o.clip_ratio,
        {.min = 0,
         .max = 1,
         .above_min = true,
         .help = "Ratios are clipped to 1 +- this value (form = clip).",
         .only_with = {{"form", {"clip"}}}});
  visit("beta", o.beta,
        {.min = 1.0 / 64,
         .max = 64,
         .help = "Weight of the KL penalty, which is the sum over all heads of a sample.",
         .only_with = {{"form", {"kl"}}}});
  visit("adaptive_beta", o.adaptive_beta,
        {.help = "Double or halve beta where the divergence misses kl_target.", .only_with = {{"form", {"kl"}}}});
  visit("kl_target", o.kl_target,
        {.min = 0,
         .above_min = true,
         .unit = "nats",
         .help = "Target of the KL divergence per head of one update.",
         .only_with = {{"form", {"kl"}}, {"adaptive_beta", {"true"}}}});
  visit("kl_stop", o.kl_stop,
        {.min = 0,
         .unit = "nats",
         .help = "An update makes no further step once the KL divergence per head exceeds this; 0: no limit."});
  visit("over_heads", o.over_heads,
        {.help = "Divide each placement's objective and entropy by its number of decisions, so that problems of all "
                 "sizes have equal weight; only with form = clip.",
         .only_with = {{"form", {"clip"}}}});
  visit("keep_best", o.keep_best, keep_best_meta());
  describe(o.advantages, visit);
  describe(o.entropy, visit);
  visit(
      "entropy_target", o.entropy_target,
      {.min = 0,
       .max = 1,
       .help =
           "The entropy's weight starts at entropy_weight and is adapted, so that the mean entropy of a decision "
           "falls linearly from this share of its first value to 0 at entropy_share of the budget; 0: no adaptation."});
  nn::describe(o.optimizer, visit);
  visit("chunk", o.chunk, {.min = 1, .max = 1e6, .help = "Samples whose gradient is computed in one piece."});
}

PpoOptions checked_ppo(const ConfigTable& table) {
  auto options = read_options<PpoOptions>(table);
  if (options.over_heads && options.form != "clip")
    throw InputError(table.place_of("over_heads"), "over_heads divides the clipped objective: wanted form = \"clip\"");
  if (options.keep_best) check_keep_best(options.advantages, table);
  if (options.keep_best && (options.form == "kl" || options.kl_stop > 0))
    throw InputError(
        table.place_of("keep_best"),
        "keep_best adds a sample that the policy did not draw, from which no KL divergence can be estimated: "
        "wanted form = \"clip\" and kl_stop = 0");
  if (options.entropy_target > 0 && (options.entropy.entropy_weight == 0 || options.entropy.entropy_weight_end >= 0))
    throw InputError(table.place_of("entropy_target"),
                     "entropy_target needs entropy_weight above 0, without entropy_weight_end");
  check(options.advantages, table, options.samples_per_update);
  return options;
}

class PpoLearner final : public Learner {
 public:
  PpoLearner(const PpoOptions& options, const LearnerSetup& setup)
      : o_(options),
        seed_(setup.seed),
        advantages_(options.advantages, setup.problems),
        best_(options.keep_best, setup.problems.size()),
        chunks_(static_cast<std::size_t>(options.chunk)),
        ascent_(options.optimizer),
        beta_(options.beta),
        entropy_weight_(options.entropy.entropy_weight) {}

  [[nodiscard]] std::size_t samples_per_chunk() const override { return chunks_.samples(); }
  [[nodiscard]] std::size_t samples_per_update() const override {
    return static_cast<std::size_t>(o_.samples_per_update);
  }
  [[nodiscard]] std::uint64_t default_updates() const override { return static_cast<std::uint64_t>(o_.updates); }

  void use(LearnerWorkers* learner_workers) override { chunks_.use(learner_workers); }
  bool prepare(policy::Policy& policy, std::span<const policy::Rollout> rollouts) override {
    return chunks_.prepare_forward(policy, rollouts);
  }
  [[nodiscard]] bool can_be_taught() const override { return best_.keep(); }
  void teach(std::span<const policy::Rollout> samples) override { best_.teach(samples); }
  std::map<std::string, double> update(policy::Policy& policy, std::span<const policy::Rollout> drawn) override {
    ++updates_;
    const std::span<const policy::Rollout> rollouts = best_.join(drawn);
    if (policy.has_exact_kl()) policy.mark_reference();
    policy::LogProbabilities old;
    chunks_.forward(policy, drawn, old);
    if (rollouts.size() > drawn.size()) {
      policy::LogProbabilities of_best;
      chunks_.forward(policy, rollouts.subspan(drawn.size()), of_best);
      append(old, of_best);
    }
    const AdvantageBatch advantages = advantages_.of(rollouts, updates_);
    LearningBatch batch = used_samples(rollouts, advantages);
    // The entropy is reported even if no sample of the batch is used.
    const double entropy_of_all = mean_entropy(old);
    take_old(batch, std::move(old), advantages);
    const double entropy = batch.samples() == 0 ? entropy_of_all : mean_entropy(batch.old);
    const double progress = drawn.front().progress;
    const double entropy_weight =
        o_.entropy_target > 0 ? adapted_entropy_weight(entropy, progress) : o_.entropy.weight(progress);
    Steps steps;
    double kl = 0;
    if (batch.samples() > 0 && !(advantages.all_zero() && entropy_weight == 0)) {
      steps = take_steps(policy, batch, entropy_weight, progress);
      kl = mean_kl(policy, chunks_, batch.rollouts, batch.old);
      if (o_.form == "kl" && o_.adaptive_beta) beta_ = adapted_kl_weight(beta_, kl, o_.kl_target);
    }
    return {{"baseline", advantages.baseline},
            {"beta", beta_},
            {"entropy", entropy},
            {"entropy_weight", entropy_weight},
            {"gradient_norm", steps.last.gradient_norm},
            {"kl", kl},
            {"learning_rate", steps.last.learning_rate},
            {"steps", steps.count},
            {"used_samples", static_cast<double>(batch.samples())}};
  }

  [[nodiscard]] State save() const override {
    State state;
    put_scalar(state, "updates", updates_);
    put_scalar(state, "beta", beta_);
    if (o_.entropy_target > 0) {
      put_scalar(state, "entropy_weight", entropy_weight_);
      put_scalar(state, "first_entropy", first_entropy_);
    }
    best_.save(state);
    advantages_.save(state);
    ascent_.save(state);
    return state;
  }
  void load(const State& state, const policy::Policy& policy) override {
    updates_ = get_scalar<std::uint64_t>(state, "updates");
    beta_ = get_scalar<double>(state, "beta");
    if (o_.entropy_target > 0) {
      entropy_weight_ = get_scalar<double>(state, "entropy_weight");
      first_entropy_ = get_scalar<double>(state, "first_entropy");
    }
    best_.load(state, policy);
    advantages_.load(state);
    ascent_.load(state, policy);
  }

 private:
  struct Steps {
    double count = 0;
    nn::StepReport last;
  };

  // The weight at which entropy and advantages balance differs between problems and changes during a training, so the
  // option gives the wanted entropy instead, as a share of the first. The weight depends on the difference from it in
  // two ways: a factor of up to e^4 follows the difference at once, and the level that it multiplies changes slowly, so
  // that the weight converges.
  double adapted_entropy_weight(double entropy, double progress) {
    if (updates_ == 1) first_entropy_ = entropy;
    const double left = 1 - progress / o_.entropy.entropy_share;
    if (left <= 0) return 0;
    if (first_entropy_ == 0) return entropy_weight_;
    const double missing = std::clamp(o_.entropy_target * left - entropy / first_entropy_, -1.0, 1.0);
    entropy_weight_ = std::clamp(entropy_weight_ * std::exp(0.1 * missing), 1e-6, 1e3);
    return entropy_weight_ * std::exp(4 * missing);
  }

  Steps take_steps(policy::Policy& policy, const LearningBatch& batch, double entropy_weight, double progress) {
    Steps steps;
    for (std::uint32_t epoch = 0; epoch < static_cast<std::uint32_t>(o_.epochs); ++epoch) {
      const StreamKey key{.seed = seed_, .purpose = Purpose::shuffle, .update = updates_, .index = epoch};
      for (const auto& samples : minibatches(batch.samples(), static_cast<std::size_t>(o_.minibatches), key)) {
        std::optional<LearningBatch> selected;
        const LearningBatch& part =
            samples.size() == batch.samples() ? batch : selected.emplace(select(batch, samples));
        Surrogate surrogate(policy, part.rollouts, part.old, part.advantages,
                            {.ratio = o_.ratio == "joint" ? RatioKind::joint : RatioKind::per_head,
                             .clip = o_.form == "clip" ? o_.clip_ratio : 0,
                             .kl_weight = o_.form == "kl" ? beta_ : 0,
                             .entropy_weight = entropy_weight,
                             .divisor = static_cast<double>(part.samples()),
                             .over_heads = o_.over_heads,
                             .problems = problem_count(part.rollouts)});
        surrogate.gradient(policy, chunks_);
        if (o_.kl_stop > 0 && surrogate.kl(policy) > o_.kl_stop) return steps;
        steps.last = ascent_.step(policy, progress);
        ++steps.count;
      }
    }
    return steps;
  }

  PpoOptions o_;
  std::uint64_t seed_;
  Advantages advantages_;
  BestSamples best_;
  ChunkedGradient chunks_;
  Ascent ascent_;
  double beta_;
  double entropy_weight_, first_entropy_ = 0;
  std::uint64_t updates_ = 0;
};

}  // namespace

LearnerEntry ppo_learner() {
  LearnerEntry entry;
  entry.name = "ppo";
  entry.summary = "Proximal policy optimisation: several passes over every batch, with clipped ratios or a KL penalty.";
  entry.reference = "Schulman et al. (arXiv 1707.06347, 2017)";
  entry.columns = {"baseline", "beta",          "entropy", "entropy_weight", "gradient_norm",
                   "kl",       "learning_rate", "steps",   "used_samples"};
  make_from_options<PpoLearner, PpoOptions>(entry, checked_ppo);
  return entry;
}

}  // namespace emplace::learn
