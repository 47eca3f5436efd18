// The Evaluator in this process: one exact engine a problem.
#include "emplace/base/error.hpp"
#include "emplace/simulate/evaluator.hpp"

namespace emplace {

namespace {

class LocalEvaluator final : public Evaluator {
 public:
  LocalEvaluator(std::span<const Problem* const> problems, Schedule schedule) {
    for (const Problem* problem : problems) engines_.push_back(make_exact_engine(*problem, schedule));
  }

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

std::unique_ptr<Evaluator> make_local_evaluator(std::span<const Problem* const> problems, Schedule schedule) {
  return std::make_unique<LocalEvaluator>(problems, schedule);
}

}  // namespace emplace
