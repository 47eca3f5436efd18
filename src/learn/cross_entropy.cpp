// The cross-entropy method alone: every update refits the policy to the best samples of its batch (Rubinstein 1999;
// the refit is Post's, Gao et al. 2018).
#include <algorithm>
#include <set>

#include "emplace/base/options.hpp"
#include "learn/ascent.hpp"
#include "learn/demonstrations.hpp"
#include "learn/elites.hpp"
#include "learn/gradient.hpp"
#include "learn/likelihood.hpp"
#include "learn/methods.hpp"

namespace emplace::learn {

namespace {

struct CrossEntropyOptions {
  int samples_per_update = 200;
  double elite_fraction = 0.1;
  int samples = 2400;
  int fit_steps = 50;
  nn::OptimizerOptions optimizer{.learning_rate = 0.01};
  int chunk = 32;
  TeacherOptions teacher;
};

void describe(CrossEntropyOptions& o, OptionVisitor& visit) {
  visit("samples_per_update", o.samples_per_update,
        {.min = 1, .max = 1e6, .help = "Placements of each problem that one refit chooses from."});
  visit("elite_fraction", o.elite_fraction,
        {.min = 0, .max = 1, .above_min = true, .help = "Share of the placements that the policy is refitted to."});
  visit("samples", o.samples, {.min = 1, .help = "Placements of each problem in all, where no budget is given."});
  visit("fit_steps", o.fit_steps,
        {.min = 1, .max = 100000, .help = "Gradient steps of a refit where the policy has no closed form."});
  nn::describe(o.optimizer, visit);
  visit("chunk", o.chunk, {.min = 1, .max = 1e6, .help = "Samples whose gradient is computed in one piece."});
  describe(o.teacher, visit);
}

class CrossEntropyLearner final : public Learner {
 public:
  CrossEntropyLearner(const CrossEntropyOptions& options, const LearnerSetup& setup)
      : samples_(static_cast<std::size_t>(options.samples_per_update)),
        updates_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(options.samples) / samples_)),
        fit_steps_(options.fit_steps),
        window_(elite_count(options.elite_fraction, samples_)),
        chunks_(static_cast<std::size_t>(options.chunk)),
        ascent_(options.optimizer),
        demonstrations_(options.teacher, setup) {}

  [[nodiscard]] std::size_t samples_per_chunk() const override { return chunks_.samples(); }
  [[nodiscard]] std::size_t samples_per_update() const override { return samples_; }
  [[nodiscard]] std::uint64_t default_updates() const override { return updates_; }

  void use(LearnerWorkers* learner_workers) override { chunks_.use(learner_workers); }
  bool prepare(policy::Policy& policy, std::span<const policy::Rollout> rollouts) override {
    return chunks_.prepare_forward(policy, rollouts);
  }
  [[nodiscard]] bool can_be_taught() const override { return true; }
  void teach(std::span<const policy::Rollout> samples) override {
    taught_.insert(taught_.end(), samples.begin(), samples.end());
  }
  std::map<std::string, double> update(policy::Policy& policy, std::span<const policy::Rollout> rollouts) override {
    policy::LogProbabilities log;
    chunks_.forward(policy, rollouts, log);
    window_.clear();
    window_.add(rollouts);
    if (demonstrations_.any()) add_demonstrations(policy, rollouts);
    window_.add(taught_);
    taught_.clear();
    window_.keep_elites();
    refit(policy, window_.elites(), chunks_, ascent_, rollouts.front().progress, fit_steps_);
    return {{"elites", static_cast<double>(window_.samples())},
            {"entropy", mean_entropy(log)},
            {"gamma_s", window_.gamma_seconds()}};
  }

  // A refit depends on its own batch, and on earlier ones only through the optimiser.
  [[nodiscard]] State save() const override {
    State state;
    ascent_.save(state);
    return state;
  }
  void load(const State& state, const policy::Policy& policy) override { ascent_.load(state, policy); }

 private:
  void add_demonstrations(const policy::Policy& policy, std::span<const policy::Rollout> rollouts) {
    std::set<std::uint32_t> problems;
    for (const policy::Rollout& each : rollouts) problems.insert(each.problem);
    for (const std::uint32_t problem : problems)
      if (const policy::Rollout* const shown = demonstrations_.of(problem, policy)) window_.add({shown, 1});
  }

  std::size_t samples_;
  std::uint64_t updates_;
  int fit_steps_;
  EliteWindow window_;
  std::vector<policy::Rollout> taught_;  // for the next update
  ChunkedGradient chunks_;
  Ascent ascent_;
  Demonstrations demonstrations_;
};

}  // namespace

LearnerEntry cross_entropy_learner() {
  LearnerEntry entry;
  entry.name = "cross-entropy";
  entry.summary = "Refits the policy to the best share of each batch: in closed form, or by gradient.";
  entry.reference = "Rubinstein (1999); Gao, Chen, Li: Post (NeurIPS 2018)";
  entry.columns = {"elites", "entropy", "gamma_s"};
  make_from_options<CrossEntropyLearner, CrossEntropyOptions>(entry);
  return entry;
}

}  // namespace emplace::learn
