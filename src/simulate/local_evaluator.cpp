// The Evaluator in this process: one engine a problem.
#include "emplace/base/error.hpp"
#include "emplace/simulate/evaluator.hpp"

namespace emplace {

namespace {

class LocalEvaluator final : public Evaluator {
 public:
  explicit LocalEvaluator(std::vector<std::unique_ptr<Engine>> engines) : engines_(std::move(engines)) {}

  std::vector<Outcome> evaluate(std::span<const EvaluationJob> jobs) override {
    std::vector<Outcome> outcomes;
    outcomes.reserve(jobs.size());
    for (const EvaluationJob& job : jobs) {
      EMPLACE_CHECK(job.problem < engines_.size() && job.placement != nullptr);
      outcomes.push_back(engines_[job.problem]->evaluate(*job.placement));
    }
    return outcomes;
  }

 private:
  std::vector<std::unique_ptr<Engine>> engines_;
};

}  // namespace

std::unique_ptr<Evaluator> make_local_evaluator_on(std::vector<std::unique_ptr<Engine>> engines) {
  return std::make_unique<LocalEvaluator>(std::move(engines));
}

std::unique_ptr<Evaluator> make_local_evaluator(std::span<const Problem* const> problems, Scoring scoring) {
  std::vector<std::unique_ptr<Engine>> engines;
  for (const Problem* problem : problems)
    engines.push_back(scoring.objective == Objective::pipeline ? make_pipeline_engine(*problem, scoring.pipeline)
                                                               : make_exact_engine(*problem, scoring.schedule));
  return make_local_evaluator_on(std::move(engines));
}

}  // namespace emplace
