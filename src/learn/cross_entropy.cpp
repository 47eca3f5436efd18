// The cross-entropy method alone: every update refits the policy to the best samples of its batch (Rubinstein 1999;
// the refit is Post's, Gao et al. 2018).
#include <algorithm>

#include "elites.hpp"
#include "emplace/base/error.hpp"
#include "methods.hpp"

namespace emplace {

namespace {

struct CrossEntropyOptions {
  int samples_per_update = 200;
  double elite_fraction = 0.1;
  int samples = 2400;
};

void describe(CrossEntropyOptions& o, OptionVisitor& visit) {
  visit("samples_per_update", o.samples_per_update,
        {.min = 1, .max = 1e6, .help = "Placements of each problem that one refit chooses from."});
  visit("elite_fraction", o.elite_fraction,
        {.min = 0, .max = 1, .above_min = true, .help = "Share of the placements that the policy is refitted to."});
  visit("samples", o.samples, {.min = 1, .help = "Placements of each problem in all, where no budget is given."});
}

class CrossEntropyLearner final : public Learner {
 public:
  explicit CrossEntropyLearner(const CrossEntropyOptions& options)
      : samples_(static_cast<std::size_t>(options.samples_per_update)),
        updates_(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(options.samples) / samples_)),
        window_(elite_count(options.elite_fraction, samples_)) {}

  [[nodiscard]] std::size_t samples_per_update() const override { return samples_; }
  [[nodiscard]] std::uint64_t default_updates() const override { return updates_; }

  std::map<std::string, double> update(Policy& policy, std::span<const Rollout> rollouts) override {
    if (!policy.has_fit())
      throw InputError("learner cross-entropy", "needs a policy that can be refitted in closed form, such as post");
    LogProbabilities log;
    policy.forward(rollouts, log);
    double entropy = 0;
    for (const double of_rollout : log.entropy) entropy += of_rollout;
    window_.clear();
    window_.add(rollouts);
    window_.keep_elites();
    policy.fit(window_.rollouts());
    return {{"elites", static_cast<double>(window_.rollouts().size())},
            {"entropy", entropy / static_cast<double>(log.value.size())},
            {"gamma_s", window_.gamma_seconds()}};
  }

  [[nodiscard]] State save() const override { return {}; }  // a refit depends on its own batch alone
  void load(const State&) override {}

 private:
  std::size_t samples_;
  std::uint64_t updates_;
  EliteWindow window_;
};

}  // namespace

LearnerEntry cross_entropy_learner() {
  LearnerEntry entry;
  entry.name = "cross-entropy";
  entry.summary = "Refits the policy to the best share of each batch, in closed form.";
  entry.reference = "Rubinstein (1999); Gao, Chen, Li: Post (NeurIPS 2018)";
  entry.options = list_options<CrossEntropyOptions>;
  entry.make = [](const ConfigTable& options, std::span<const PolicyProblem>) {
    return std::make_unique<CrossEntropyLearner>(read_options<CrossEntropyOptions>(options));
  };
  entry.resolve = [](const ConfigTable& options) { return echo_options(read_options<CrossEntropyOptions>(options)); };
  return entry;
}

}  // namespace emplace
