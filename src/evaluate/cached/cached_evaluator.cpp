#include "evaluate/cached/cached_evaluator.hpp"

#include <deque>
#include <unordered_map>
#include <vector>

#include "base/log.hpp"
#include "emplace/base/error.hpp"
#include "evaluate/cached/evaluation_file.hpp"

namespace emplace::evaluate {

namespace {

// Submitted jobs, and which of them were passed on.
class Batch {
 public:
  struct Entry {
    EvaluationJob job;
    std::size_t asked = not_asked;  // position in `asked` of the job whose outcome this one gets
    bool is_first = false;          // this job is the one in `asked`
    Outcome outcome;                // if it came from the file
    std::string message;
  };
  static constexpr std::size_t not_asked = ~std::size_t{0};

  // A deque, because its entries do not move: jobs that were passed on point to their messages.
  std::deque<Entry> entries;
  std::vector<EvaluationJob> asked;

  Entry& add(const EvaluationJob& job) {
    entries.push_back({.job = job, .outcome = {}, .message = {}});
    return entries.back();
  }

  void pass_on(Entry& entry) {
    entry.asked = asked.size();
    entry.is_first = true;
    asked.push_back(entry.job);
    asked.back().message = &entry.message;
  }

  // The position in `asked` of a job with the same placement. If there is none, returns not_asked and remembers this
  // job, which the caller must then pass on.
  std::size_t equal_to(const EvaluationJob& job) {
    const std::size_t hash = hash_of(job);
    const auto [first, last] = positions_.equal_range(hash);
    for (auto at = first; at != last; ++at)
      if (asked[at->second].problem == job.problem && *asked[at->second].placement == *job.placement) return at->second;
    positions_.emplace(hash, asked.size());
    return not_asked;
  }

 private:
  static std::size_t hash_of(const EvaluationJob& job) {
    const auto& devices = job.placement->device;
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(devices.data()), devices.size()});
  }

  std::unordered_multimap<std::size_t, std::size_t> positions_;
};

class CachedEvaluator final : public Evaluator {
 public:
  CachedEvaluator(std::unique_ptr<Evaluator> evaluator, const std::string& file, const std::string& identity,
                  bool measures)
      : evaluator_(std::move(evaluator)), file_(file, identity), measures_(measures) {
    if (file_.size() > 0) log_info("{} holds {} evaluations, which are not made again", file, file_.size());
  }

  void submit(std::span<const EvaluationJob> jobs) override {
    const std::size_t before = batch_.asked.size();
    for (const EvaluationJob& job : jobs) take(batch_.add(job));
    evaluator_->submit(std::span(batch_.asked).subspan(before));
  }

  void poll() override { evaluator_->poll(); }

  std::vector<Outcome> wait() override {
    Batch batch = std::exchange(batch_, {});
    const std::vector<Outcome> answers = evaluator_->wait();
    EMPLACE_CHECK(answers.size() == batch.asked.size());
    std::vector<Outcome> outcomes;
    outcomes.reserve(batch.entries.size());
    for (Batch::Entry& entry : batch.entries) {
      if (entry.asked != Batch::not_asked) {
        entry.outcome = answers[entry.asked];
        if (!entry.is_first)
          entry.message = *batch.asked[entry.asked].message;
        else if (keeps_answer(entry.job))
          file_.add(entry.job.problem, *entry.job.placement, {entry.outcome, entry.message});
      }
      if (entry.job.message != nullptr && !entry.message.empty()) *entry.job.message = entry.message;
      outcomes.push_back(entry.outcome);
    }
    file_.write();
    return outcomes;
  }

  void cancel() override {
    batch_ = {};
    evaluator_->cancel();
  }

  [[nodiscard]] std::size_t parts_of(std::size_t jobs) const override { return evaluator_->parts_of(jobs); }

 private:
  // Takes the entry's outcome from the file or from an equal entry; else passes the job on.
  void take(Batch::Entry& entry) {
    const EvaluationJob& job = entry.job;
    if (!keeps_answer(job)) {
      batch_.pass_on(entry);
      return;
    }
    if (const auto kept = file_.find(job.problem, *job.placement)) {
      entry.outcome = kept->outcome;
      entry.message = kept->message;
    } else {
      entry.asked = batch_.equal_to(job);
      if (entry.asked == Batch::not_asked) {
        batch_.pass_on(entry);
        return;
      }
    }
    if (job.starts != nullptr) job.starts->clear();
  }

  [[nodiscard]] bool keeps_answer(const EvaluationJob& job) const { return measures_ || job.starts == nullptr; }

  const std::unique_ptr<Evaluator> evaluator_;
  EvaluationFile file_;
  const bool measures_;
  Batch batch_;
};

}  // namespace

std::unique_ptr<Evaluator> make_cached_evaluator(std::unique_ptr<Evaluator> evaluator, const std::string& file,
                                                 const std::string& identity, bool measures) {
  return std::make_unique<CachedEvaluator>(std::move(evaluator), file, identity, measures);
}

}  // namespace emplace::evaluate
