// Tree-structured Parzen estimators (Bergstra et al. 2011, section 4): for each parameter, the density of good trials
// and that of the others are estimated; the next values are probable under the first and improbable under the second.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "emplace/base/options.hpp"
#include "emplace/base/random.hpp"
#include "experiment/sweep/in_turn.hpp"
#include "experiment/sweep/parzen.hpp"
#include "experiment/sweep/points.hpp"
#include "experiment/sweep/strategies.hpp"

namespace emplace::experiment {

namespace {

struct TpeOptions {
  int startup = 16;
  int batch = 8;
  double good_share = 0.25;
  int candidates = 24;
  std::string points = "sobol";
};

void describe(TpeOptions& o, OptionVisitor& visit) {
  visit("startup", o.startup,
        {.min = 1, .max = 1e6, .help = "Trials drawn at first, without using results of others."});
  visit(
      "batch", o.batch,
      {.min = 1,
       .max = 1e6,
       .help =
           "Trials that are proposed from the same results, so that they can train at once; with smaller batches, each "
           "trial uses more results."});
  visit("good_share", o.good_share,
        {.min = 0, .max = 1, .above_min = true, .help = "Share of the trials that count as good."});
  visit("candidates", o.candidates,
        {.min = 1, .max = 10000, .help = "Values drawn for each parameter, of which the most promising is tried."});
  describe_points(o.points, visit);
}

// The proposals of a batch depend only on the results of all earlier batches, so the order of results does not matter.
// To make the proposals of a batch differ, its earlier proposals count as bad trials when the later ones are made (the
// constant liar of Ginsbourger et al. 2010, with the worst value).
class TpeStrategy final : public InTurn {
 public:
  TpeStrategy(const TpeOptions& options, const StrategySetup& setup)
      : InTurn(trials_wanted(setup, "tpe")),
        o_(options),
        seed_(setup.seed),
        space_(*setup.space),
        points_(points_of(options.points, setup)) {}

 private:
  [[nodiscard]] std::size_t startup() const { return static_cast<std::size_t>(o_.startup); }
  // The first trial of this trial's batch; results of trials before it are used.
  [[nodiscard]] std::size_t batch_begin(std::size_t trial) const {
    return trial - (trial - startup()) % static_cast<std::size_t>(o_.batch);
  }

  [[nodiscard]] bool ready(std::size_t trial) const override {
    return trial < startup() || results_.size() >= batch_begin(trial);
  }
  void heard(std::size_t trial, std::optional<double> objective) override {
    results_[trial] = objective.value_or(std::numeric_limits<double>::infinity());
  }

  Assignment make(std::size_t trial) override {
    const std::vector<double> drawn = trial < startup() ? points_->point(trial) : std::vector<double>();
    if (!drawn.empty()) return space_.decode(drawn);

    std::vector<std::pair<double, std::size_t>> ranked;
    for (const auto& [earlier, objective] : results_)
      if (earlier < batch_begin(trial)) ranked.emplace_back(objective, earlier);
    std::ranges::sort(ranked);
    const auto wanted = static_cast<std::size_t>(std::ceil(o_.good_share * static_cast<double>(ranked.size())));
    std::vector<const Assignment*> good, bad;
    for (const auto& [objective, earlier] : ranked)
      (good.size() < wanted && std::isfinite(objective) ? good : bad).push_back(&assignment(earlier));
    for (std::size_t liar = batch_begin(trial); liar < trial; ++liar) bad.push_back(&assignment(liar));

    Assignment proposal{std::vector<std::optional<double>>(space_.size())};
    for (const std::size_t p : space_.order()) {
      if (!space_.active(p, proposal)) continue;
      Stream stream(
          {.seed = seed_, .purpose = Purpose::sweep_strategy, .update = trial, .index = static_cast<std::uint32_t>(p)});
      proposal.values[p] = space_.parameters()[p].kind == Parameter::Kind::choices ? best_choice(p, good, bad, stream)
                                                                                   : best_number(p, good, bad, stream);
    }
    return proposal;
  }

  // The candidate with the largest ratio of densities, which has the largest expected improvement (section 4.1).
  template <class Draw, class Ratio>
  [[nodiscard]] double best_candidate(Draw&& draw, Ratio&& ratio) const {
    double best = 0, largest = -1;
    for (int i = 0; i < o_.candidates; ++i) {
      const double candidate = draw();
      const double of_candidate = ratio(candidate);
      if (of_candidate > largest) {
        largest = of_candidate;
        best = candidate;
      }
    }
    return best;
  }

  using Trials = std::vector<const Assignment*>;

  [[nodiscard]] double best_choice(std::size_t p, const Trials& good, const Trials& bad, Stream& stream) const {
    const auto values = [&](const Trials& trials) {
      std::vector<std::size_t> of;
      for (const Assignment* trial : trials)
        if (trial->values[p]) of.push_back(static_cast<std::size_t>(*trial->values[p]));
      return of;
    };
    const std::size_t count = space_.parameters()[p].count();
    const FrequencyEstimator l(values(good), count), g(values(bad), count);
    return best_candidate([&] { return static_cast<double>(l.draw(stream)); },
                          [&](double value) {
                            const auto choice = static_cast<std::size_t>(value);
                            return l.density(choice) / g.density(choice);
                          });
  }

  [[nodiscard]] double best_number(std::size_t p, const Trials& good, const Trials& bad, Stream& stream) const {
    const Parameter& parameter = space_.parameters()[p];
    const auto values = [&](const Trials& trials) {
      std::vector<double> of;
      for (const Assignment* trial : trials)
        if (trial->values[p]) of.push_back(parameter.encode(*trial->values[p]));
      return of;
    };
    const ParzenEstimator l(values(good)), g(values(bad));
    return best_candidate([&] { return parameter.decode(l.draw(stream)); },
                          [&](double value) {
                            const double x = parameter.encode(value);
                            return l.density(x) / g.density(x);
                          });
  }

  TpeOptions o_;
  std::uint64_t seed_;
  const Space& space_;
  std::unique_ptr<Points> points_;
  std::map<std::size_t, double> results_;  // infinity: failed
};

}  // namespace

SweepStrategyEntry tpe_strategy() {
  SweepStrategyEntry entry;
  entry.name = "tpe";
  entry.summary =
      "Learns from earlier trials which values are good: tree-structured Parzen estimators, batch by batch.";
  entry.reference = "Bergstra, Bardenet, Bengio, Kegl: Algorithms for Hyper-Parameter Optimization (NeurIPS 2011)";
  make_from_options<TpeStrategy, TpeOptions>(entry);
  return entry;
}

}  // namespace emplace::experiment
