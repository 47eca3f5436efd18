#include "evaluate/command/reporting_evaluator.hpp"

#include <set>
#include <string>
#include <vector>

#include "base/log.hpp"

namespace emplace::evaluate {

namespace {

class ReportingEvaluator final : public Evaluator {
 public:
  explicit ReportingEvaluator(std::unique_ptr<Evaluator> evaluator) : evaluator_(std::move(evaluator)) {}

  std::vector<Outcome> evaluate(std::span<const EvaluationJob> jobs) override {
    std::vector<EvaluationJob> heard(jobs.begin(), jobs.end());
    std::vector<std::string> messages(jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i)
      if (heard[i].message == nullptr) heard[i].message = &messages[i];
    const std::vector<Outcome> outcomes = evaluator_->evaluate(heard);
    std::size_t failed = 0;
    std::string first;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].why != Infeasible::not_measured) continue;
      if (failed++ == 0) first = *heard[i].message;
      report(seen_ + i + 1, *heard[i].message);
    }
    if (seen_ == 0 && failed > 0 && failed == outcomes.size())
      log_warning(
          "not one of the first {} placements could be measured: there is nothing to learn from (the first: {})",
          failed, first);
    seen_ += outcomes.size();
    return outcomes;
  }

 private:
  // A program that puts a time or a number into its messages must not fill the log.
  static constexpr std::size_t most_reasons = 20;

  void report(std::size_t number, const std::string& reason) {
    if (reasons_.size() > most_reasons || !reasons_.insert(reason).second) return;
    if (reasons_.size() <= most_reasons)
      log_warning("evaluation {} of this session has no time: {}", number, reason);
    else
      log_warning("evaluations have no time for further reasons, which are not shown");
  }

  const std::unique_ptr<Evaluator> evaluator_;
  std::size_t seen_ = 0;
  std::set<std::string> reasons_;
};

}  // namespace

std::unique_ptr<Evaluator> make_reporting_evaluator(std::unique_ptr<Evaluator> evaluator) {
  return std::make_unique<ReportingEvaluator>(std::move(evaluator));
}

}  // namespace emplace::evaluate
