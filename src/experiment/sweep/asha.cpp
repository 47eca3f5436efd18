// Asynchronous successive halving (Li et al. 2020, algorithm 2), which does not wait until a rung is full: a trial is
// promoted as soon as it is among the best results of its rung so far. So promotions depend on the order of results.
#include <deque>
#include <set>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "experiment/sweep/points.hpp"
#include "experiment/sweep/rungs.hpp"
#include "experiment/sweep/strategies.hpp"

namespace emplace::experiment {

namespace {

struct AshaOptions : RungOptions {};
void describe(AshaOptions& o, OptionVisitor& visit) { describe(static_cast<RungOptions&>(o), visit); }

class AshaStrategy final : public SweepStrategy {
 public:
  AshaStrategy(const AshaOptions& options, const StrategySetup& setup)
      : trials_(trials_wanted(setup, "asha")),
        space_(*setup.space),
        points_(points_of(options.points, setup)),
        rungs_(options, trials_),
        results_(rungs_.count()),
        promoted_(rungs_.count()),
        failed_(rungs_.count()) {}

  std::optional<Work> next() override {
    if (const std::optional<Work> work = promotion()) {
      promoted_[work->rung - 1].insert(work->trial);
      ++running_;
      return work;
    }
    if (begun_.size() == trials_) return std::nullopt;
    begun_.push_back(space_.decode(points_->point(begun_.size())));
    ++running_;
    return Work{begun_.size() - 1, 0};
  }

  void report(Work work, std::optional<double> objective) override {
    EMPLACE_CHECK(running_ > 0 && work.trial < begun_.size());
    --running_;
    if (objective) {
      results_.at(work.rung).emplace(*objective, work.trial);
      if (work.rung + 1 == rungs_.count()) settled_.insert(work.trial);
    } else {
      ++failed_.at(work.rung);
      settled_.insert(work.trial);
    }
    over_ = running_ == 0 && begun_.size() == trials_ && !promotion();
  }

  [[nodiscard]] bool finished() const override { return over_; }
  [[nodiscard]] std::size_t trials() const override { return trials_; }
  [[nodiscard]] const Assignment& assignment(std::size_t trial) const override { return begun_.at(trial); }
  [[nodiscard]] double share(std::size_t rung) const override { return rungs_.share(rung); }
  // Before the end no trial is stopped: if worse results reach its rung, it may still be promoted.
  [[nodiscard]] bool stopped(std::size_t trial) const override { return over_ && !settled_.contains(trial); }
  // An estimate: the cost if every rung were full before the first promotion from it.
  [[nodiscard]] double planned_budgets() const override { return rungs_.budgets(trials_, 0); }

 private:
  // The next promotion, from the highest rung down: the best trial that is among the first 1/reduction of the results
  // of its rung and is not promoted yet. Failed trials count as the last of their rung.
  [[nodiscard]] std::optional<Work> promotion() const {
    for (std::size_t rung = rungs_.count() - 1; rung-- > 0;) {
      std::size_t best = (results_[rung].size() + failed_[rung]) / rungs_.reduction();
      for (const auto& [objective, trial] : results_[rung]) {
        if (best-- == 0) break;
        if (!promoted_[rung].contains(trial)) return Work{trial, rung + 1};
      }
    }
    return std::nullopt;
  }

  std::size_t trials_;
  const Space& space_;
  std::unique_ptr<Points> points_;
  Rungs rungs_;
  std::vector<std::set<std::pair<double, std::size_t>>> results_;  // by rung: objective and trial, best first
  std::vector<std::set<std::size_t>> promoted_;                    // by rung: trials promoted from it
  std::vector<std::size_t> failed_;                                // by rung: number of trials that failed on it
  std::set<std::size_t> settled_;                                  // trials that failed or used the whole budget
  std::deque<Assignment> begun_;
  std::size_t running_ = 0;
  bool over_ = false;
};

}  // namespace

SweepStrategyEntry asha_strategy() {
  SweepStrategyEntry entry;
  entry.name = "asha";
  entry.summary =
      "Halving that does not wait for full rungs: a trial is promoted when it is among the best so far. The trials "
      "depend on the order of results, so they differ with another number of ranks.";
  entry.reference =
      "Li, Jamieson, Rostamizadeh et al.: A System for Massively Parallel Hyperparameter Tuning (MLSys 2020)";
  entry.deterministic = false;
  entry.stops_early = true;
  make_from_options<AshaStrategy, AshaOptions>(entry);
  return entry;
}

}  // namespace emplace::experiment
