#include "evaluate/command/reporting_evaluator.hpp"

#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"

namespace emplace::evaluate {

namespace {

class ReportingEvaluator final : public Evaluator {
 public:
  explicit ReportingEvaluator(std::unique_ptr<Evaluator> evaluator) : evaluator_(std::move(evaluator)) {}

  void submit(std::span<const EvaluationJob> jobs) override {
    std::vector<EvaluationJob> heard(jobs.begin(), jobs.end());
    for (EvaluationJob& job : heard) {
      if (job.message == nullptr) job.message = &own_messages_.emplace_back();
      messages_.push_back(job.message);
    }
    evaluator_->submit(heard);
  }

  void poll() override { evaluator_->poll(); }

  std::vector<Outcome> wait() override {
    const auto messages = std::exchange(messages_, {});
    const auto keep_alive = std::exchange(own_messages_, {});
    std::vector<Outcome> outcomes = evaluator_->wait();
    std::size_t failed = 0;
    std::string first;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].why != Infeasible::not_measured) continue;
      if (failed++ == 0) first = *messages[i];
      report(seen_ + i + 1, *messages[i]);
    }
    if (seen_ == 0 && failed > 0 && failed == outcomes.size())
      log_warning(
          "not one of the first {} placements could be measured, so there is nothing to learn from (the first: {})",
          failed, first);
    seen_ += outcomes.size();
    return outcomes;
  }

  void cancel() override {
    messages_.clear();
    own_messages_.clear();
    evaluator_->cancel();
  }

  [[nodiscard]] std::size_t parts_of(std::size_t jobs) const override { return evaluator_->parts_of(jobs); }

 private:
  // A limit, because a program whose messages contain a time or a number gives a new reason every time.
  static constexpr std::size_t most_reasons = 20;

  void report(std::size_t number, const std::string& reason) {
    if (reasons_.size() > most_reasons || !reasons_.insert(reason).second) return;
    if (reasons_.size() <= most_reasons)
      log_warning("evaluation {} of this session could not be measured: {}", number, reason);
    else
      log_warning("more evaluations could not be measured, for further reasons that are not shown");
  }

  const std::unique_ptr<Evaluator> evaluator_;
  std::vector<const std::string*> messages_;  // one per job of the batch
  std::deque<std::string> own_messages_;  // for jobs submitted without one; a deque, because its elements do not move
  std::size_t seen_ = 0;
  std::set<std::string> reasons_;
};

}  // namespace

std::unique_ptr<Evaluator> make_reporting_evaluator(std::unique_ptr<Evaluator> evaluator) {
  return std::make_unique<ReportingEvaluator>(std::move(evaluator));
}

}  // namespace emplace::evaluate
