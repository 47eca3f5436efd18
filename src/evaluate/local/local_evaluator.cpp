// The Evaluator in this process: one engine per problem, and one incremental engine per series of placements.
#include <map>

#include "base/interrupt.hpp"
#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "simulate/incremental/incremental.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::evaluate {

namespace {

// Simulates each placement of a series from what changed since the one before. If the order of ops changes or more than
// a quarter of the ops move, it simulates the placement from the beginning.
class Series {
 public:
  explicit Series(const Problem& problem) : engine_(simulate::make_incremental_engine(problem)) {}

  Outcome evaluate(const Placement& placement, std::vector<Ticks>* starts) {
    const Outcome outcome = moves_to(placement) ? commit() : engine_->set_base(placement);
    if (starts != nullptr) engine_->read_starts(*starts);
    return outcome;
  }

 private:
  bool moves_to(const Placement& placement) {
    const Placement& base = engine_->base();
    if (base.order.empty() || base.order != placement.order) return false;
    ops_of_device_.resize(max_devices);
    for (auto& ops : ops_of_device_) ops.clear();
    std::size_t moved = 0;
    for (std::uint32_t op = 0; op < placement.device.size(); ++op)
      if (placement.device[op] != base.device[op]) {
        ops_of_device_[placement.device[op]].push_back(op);
        ++moved;
      }
    return 4 * moved <= placement.device.size();
  }

  Outcome commit() {
    relocations_.clear();
    for (std::size_t device = 0; device < ops_of_device_.size(); ++device)
      if (!ops_of_device_[device].empty())
        relocations_.push_back({ops_of_device_[device], static_cast<std::uint8_t>(device)});
    engine_->try_moves(relocations_);
    return engine_->commit();
  }

  std::unique_ptr<simulate::IncrementalEngine> engine_;
  std::vector<std::vector<std::uint32_t>> ops_of_device_;
  std::vector<simulate::Relocation> relocations_;
};

class LocalEvaluator final : public DirectEvaluator {
 public:
  // `problems`: one per engine, null if its series get no incremental engine; or empty.
  LocalEvaluator(std::vector<std::unique_ptr<simulate::Engine>> engines, std::vector<const Problem*> problems)
      : engines_(std::move(engines)), incremental_(std::move(problems)), series_(engines_.size()) {
    incremental_.resize(engines_.size());
  }

  std::vector<Outcome> evaluate_now(std::span<const EvaluationJob> jobs) override {
    std::vector<Outcome> outcomes;
    outcomes.reserve(jobs.size());
    for (const EvaluationJob& job : jobs) {
      stop_point();
      EMPLACE_CHECK(job.problem < engines_.size() && job.placement != nullptr);
      if (job.series != EvaluationJob::no_series && incremental_[job.problem] != nullptr)
        outcomes.push_back(series_of(job).evaluate(*job.placement, job.starts));
      else
        outcomes.push_back(engines_[job.problem]->evaluate(
            *job.placement, {.usage = nullptr, .timeline = nullptr, .starts = job.starts}));
    }
    return outcomes;
  }

 private:
  Series& series_of(const EvaluationJob& job) {
    return series_[job.problem].try_emplace(job.series, *incremental_[job.problem]).first->second;
  }

  std::vector<std::unique_ptr<simulate::Engine>> engines_;
  std::vector<const Problem*> incremental_;
  std::vector<std::map<std::uint32_t, Series>> series_;
};

}  // namespace

std::unique_ptr<Evaluator> make_local_evaluator_on(std::vector<std::unique_ptr<simulate::Engine>> engines) {
  return std::make_unique<LocalEvaluator>(std::move(engines), std::vector<const Problem*>{});
}

std::unique_ptr<Evaluator> make_local_evaluator(std::span<const Problem* const> problems, Scoring scoring) {
  std::vector<std::unique_ptr<simulate::Engine>> engines;
  std::vector<const Problem*> incremental;
  const bool in_order = scoring.objective == Objective::step && scoring.schedule == Schedule::in_order;
  for (const Problem* problem : problems) {
    engines.push_back(scoring.objective == Objective::pipeline
                          ? simulate::make_pipeline_engine(*problem, scoring.pipeline)
                          : simulate::make_exact_engine(*problem, scoring.schedule));
    incremental.push_back(in_order && simulate::incremental_supports(*problem) ? problem : nullptr);
  }
  return std::make_unique<LocalEvaluator>(std::move(engines), std::move(incremental));
}

}  // namespace emplace::evaluate
