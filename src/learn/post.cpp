// Post's joint schedule (Gao, Chen, Li, NeurIPS 2018, algorithm 1): small proximal steps every K samples; every N
// samples, in their place, a refit of the whole policy to the best tenth. Choices that the paper leaves open are
// options.
#include <algorithm>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "learn/advantages.hpp"
#include "learn/ascent.hpp"
#include "learn/elites.hpp"
#include "learn/gradient.hpp"
#include "learn/likelihood.hpp"
#include "learn/methods.hpp"
#include "learn/samples.hpp"
#include "learn/surrogate.hpp"

namespace emplace::learn {

namespace {

struct PostLearnerOptions {
  int samples_per_update = 20;
  int window = 200;
  int samples = 2400;
  double elite_fraction = 0.1;
  std::string ce_window = "last";
  int ppo_steps = 10;
  int fit_steps = 50;
  nn::OptimizerOptions optimizer{.optimizer = "sgd", .learning_rate = 0.1, .clip_norm = 0};
  std::string form = "kl";
  std::string ratio = "per_op";
  double clip_ratio = 0.2;
  double beta = 1;
  double kl_target = 0.01;
  std::string cost = "time";
  std::string steps = "both";
  int chunk = 32;
};

void describe(PostLearnerOptions& o, OptionVisitor& visit) {
  visit("samples_per_update", o.samples_per_update,
        {.min = 1, .max = 1e6, .help = "K: placements of each problem sampled for one update."});
  visit("window", o.window,
        {.min = 1,
         .max = 1e7,
         .help = "N: a refit takes the place of the proximal steps every N placements.",
         .only_with = {{"steps", {"both", "cross-entropy"}}}});
  visit("samples", o.samples, {.min = 1, .help = "L: placements of each problem in all, where no budget is given."});
  visit("elite_fraction", o.elite_fraction,
        {.min = 0,
         .max = 1,
         .above_min = true,
         .help = "Share of N placements that are elites, to which a refit is made.",
         .only_with = {{"steps", {"both", "cross-entropy"}}}});
  visit("ce_window", o.ce_window,
        {.choices = {"last", "all"},
         .help = "Elites come from the last N placements, or from all since the beginning.",
         .only_with = {{"steps", {"both", "cross-entropy"}}}});
  visit("ppo_steps", o.ppo_steps,
        {.min = 1,
         .max = 10000,
         .help = "Proximal gradient steps an update.",
         .only_with = {{"steps", {"both", "proximal"}}}});
  visit("fit_steps", o.fit_steps,
        {.min = 1,
         .max = 100000,
         .help = "Gradient steps of a refit where the policy has no closed form.",
         .only_with = {{"steps", {"both", "cross-entropy"}}}});
  nn::describe(o.optimizer, visit);
  visit("form", o.form,
        {.choices = {"kl", "clip"},
         .help = "Proximal objective: KL penalty, or clipped ratios.",
         .only_with = {{"steps", {"both", "proximal"}}}});
  visit("ratio", o.ratio,
        {.choices = {"per_op", "joint"},
         .help = "Probability ratios of single units, or of the whole placement.",
         .only_with = {{"steps", {"both", "proximal"}}}});
  visit("clip_ratio", o.clip_ratio,
        {.min = 0,
         .max = 1,
         .above_min = true,
         .help = "Ratios are clipped to 1 +- this value (form = clip).",
         .only_with = {{"form", {"clip"}}, {"steps", {"both", "proximal"}}}});
  visit("beta", o.beta,
        {.min = 1.0 / 64,
         .max = 64,
         .help = "Initial weight of the KL penalty, which is adapted.",
         .only_with = {{"form", {"kl"}}, {"steps", {"both", "proximal"}}}});
  visit("kl_target", o.kl_target,
        {.min = 0,
         .above_min = true,
         .unit = "nats",
         .help = "Target of the KL divergence per unit of one update.",
         .only_with = {{"form", {"kl"}}, {"steps", {"both", "proximal"}}}});
  visit("cost", o.cost,
        {.choices = {"time", "sqrt"},
         .help = "What advantages compare: step times or their square roots.",
         .only_with = {{"steps", {"both", "proximal"}}}});
  visit("steps", o.steps,
        {.choices = {"both", "cross-entropy", "proximal"}, .help = "Both parts of the method, or one of them alone."});
  visit("chunk", o.chunk, {.min = 1, .max = 1e6, .help = "Samples whose gradient is computed in one piece."});
}

// docs/papers/post.md, section 2.4.
AdvantageOptions advantage_options(const PostLearnerOptions& o) {
  AdvantageOptions options;
  options.reward.reward = o.cost;
  options.reward.infeasible = "slowest";
  options.reward.skip_failing_after = RewardOptions::never;
  options.baseline_start = "first";
  options.normalize = true;
  return options;
}

class PostLearner final : public Learner {
 public:
  PostLearner(const PostLearnerOptions& options, const LearnerSetup& setup)
      : o_(options),
        problems_(std::max<std::size_t>(1, setup.problems.size())),
        window_(elite_count(options.elite_fraction, static_cast<std::size_t>(options.window)),
                static_cast<std::size_t>(options.window)),
        advantages_(advantage_options(options), {}),
        chunks_(static_cast<std::size_t>(options.chunk)),
        ascent_(options.optimizer),
        beta_(options.beta) {}

  [[nodiscard]] std::size_t samples_per_chunk() const override { return chunks_.samples(); }
  [[nodiscard]] std::size_t samples_per_update() const override {
    return static_cast<std::size_t>(o_.samples_per_update);
  }
  [[nodiscard]] std::uint64_t default_updates() const override {
    return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(o_.samples / o_.samples_per_update));
  }

  void use(LearnerWorkers* learner_workers) override { chunks_.use(learner_workers); }
  bool prepare(policy::Policy& policy, std::span<const policy::Rollout> rollouts) override {
    return chunks_.prepare_forward(policy, rollouts);
  }
  [[nodiscard]] bool can_be_taught() const override { return o_.steps != "proximal"; }
  void teach(std::span<const policy::Rollout> samples) override {
    if (can_be_taught()) window_.add(samples);
  }
  std::map<std::string, double> update(policy::Policy& policy, std::span<const policy::Rollout> rollouts) override {
    if (policy.has_exact_kl()) policy.mark_reference();
    samples_seen_ += samples_per_update();
    const bool refits = o_.steps != "proximal";
    const bool refit_now = refits && samples_seen_ % static_cast<std::uint64_t>(o_.window) == 0;
    if (refits) window_.add(rollouts);

    std::size_t elites = 0;
    chunks_.forward(policy, rollouts, old_);
    bool stepped = false;
    if (refit_now) {
      advantages_.see(rollouts);  // infeasible samples need the slowest time so far, of refits too
      elites = refit_to_elites(policy, rollouts.front().progress);
    } else if (o_.steps != "cross-entropy")
      stepped = proximal_steps(policy, rollouts);
    const double kl = stepped || refit_now ? mean_kl(policy, chunks_, rollouts, old_) : 0;
    if (stepped && o_.form == "kl") beta_ = adapted_kl_weight(beta_, kl, o_.kl_target);
    return {{"beta", beta_},
            {"elites", static_cast<double>(elites)},
            {"entropy", mean_entropy(old_)},
            {"gamma_s", gamma_s_},
            {"kl", kl},
            {"refit", refit_now ? 1.0 : 0.0}};
  }

  [[nodiscard]] State save() const override {
    State state;
    put_scalar(state, "samples_seen", samples_seen_);
    put_scalar(state, "beta", beta_);
    put_scalar(state, "gamma_s", gamma_s_);
    window_.save(state);
    advantages_.save(state);
    ascent_.save(state);
    return state;
  }

  void load(const State& state, const policy::Policy& policy) override {
    samples_seen_ = get_scalar<std::uint64_t>(state, "samples_seen");
    beta_ = get_scalar<double>(state, "beta");
    gamma_s_ = get_scalar<double>(state, "gamma_s");
    window_.load(state, policy, problems_);
    advantages_.load(state);
    ascent_.load(state, policy);
  }

 private:
  // Refits the policy (docs/papers/post.md, section 2.3) and returns the number of elites.
  std::size_t refit_to_elites(policy::Policy& policy, double progress) {
    window_.keep_elites();
    const std::size_t elites = window_.samples();
    refit(policy, window_.elites(), chunks_, ascent_, progress, o_.fit_steps);
    gamma_s_ = window_.gamma_seconds();
    if (o_.ce_window == "last") window_.clear();
    advantages_.restart();  // the old baseline belongs to another distribution
    return elites;
  }

  // Section 2.4: gradient ascent on the surrogate, minus beta times the KL divergence in the kl form. Returns false if
  // all advantages are 0.
  bool proximal_steps(policy::Policy& policy, std::span<const policy::Rollout> rollouts) {
    const AdvantageBatch batch = advantages_.of(rollouts, 1);
    if (batch.all_zero()) return false;
    const auto samples = static_cast<double>(batch.begins.size() - 1);
    const std::size_t problems = problem_count(rollouts);
    Surrogate surrogate(policy, rollouts, old_, batch.value,
                        {.ratio = o_.ratio == "joint" ? RatioKind::joint : RatioKind::per_head,
                         .clip = o_.form == "clip" ? o_.clip_ratio : 0,
                         .kl_weight = o_.form == "kl" ? beta_ : 0,
                         .divisor = samples / static_cast<double>(problems),
                         .problems = problems});
    for (int step = 0; step < o_.ppo_steps; ++step) {
      surrogate.gradient(policy, chunks_);
      ascent_.step(policy, rollouts.front().progress);
    }
    return true;
  }

  PostLearnerOptions o_;
  std::size_t problems_;
  EliteWindow window_;
  Advantages advantages_;
  ChunkedGradient chunks_;
  Ascent ascent_;
  policy::LogProbabilities old_;  // of the present batch, when it was drawn
  double beta_;
  std::uint64_t samples_seen_ = 0;
  double gamma_s_ = 0;  // of the last refit
};

PostLearnerOptions checked_post(const ConfigTable& table) {
  const auto options = read_options<PostLearnerOptions>(table);
  if (options.window % options.samples_per_update != 0)
    throw InputError(table.place_of("window"), "window ({}) must be a multiple of samples_per_update ({})",
                     options.window, options.samples_per_update);
  if (options.steps != "cross-entropy" && options.samples_per_update == 1)
    throw InputError(table.place_of("samples_per_update"),
                     "samples_per_update is 1, wanted more: proximal steps compare the samples of a batch");
  return options;
}

}  // namespace

LearnerEntry post_learner() {
  LearnerEntry entry;
  entry.name = "post";
  entry.summary = "Proximal policy steps on every batch and a cross-entropy refit to the best tenth of several.";
  entry.reference = "Gao, Chen, Li: Post (NeurIPS 2018)";
  entry.columns = {"beta", "elites", "entropy", "gamma_s", "kl", "refit"};
  make_from_options<PostLearner, PostLearnerOptions>(entry, checked_post);
  return entry;
}

}  // namespace emplace::learn
