#include "evaluate/cached/cached_evaluator.hpp"

#include <unordered_map>
#include <vector>

#include "base/log.hpp"
#include "emplace/base/error.hpp"
#include "evaluate/cached/evaluation_file.hpp"

namespace emplace::evaluate {

namespace {

class CachedEvaluator final : public Evaluator {
 public:
  CachedEvaluator(std::unique_ptr<Evaluator> evaluator, const std::string& file, const std::string& identity,
                  bool measures)
      : evaluator_(std::move(evaluator)), file_(file, identity), measures_(measures) {
    if (file_.size() > 0) log_info("{} holds {} evaluations, which are not made again", file, file_.size());
  }

  std::vector<Outcome> evaluate(std::span<const EvaluationJob> jobs) override {
    std::vector<Outcome> outcomes(jobs.size());
    std::vector<EvaluationJob> asked;
    std::vector<std::string> messages(jobs.size());
    std::vector<std::size_t> asked_for(jobs.size(), known);  // position in `asked`
    Equals equals;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const EvaluationJob& job = jobs[i];
      const bool keeps = keeps_answer(job);
      if (keeps) {
        if (const auto kept = file_.find(job.problem, *job.placement)) {
          outcomes[i] = kept->outcome;
          messages[i] = kept->message;
          if (job.starts != nullptr) job.starts->clear();
          continue;
        }
        if (const std::size_t* equal = equals.find(job, asked); equal != nullptr) {
          asked_for[i] = *equal;
          if (job.starts != nullptr) job.starts->clear();
          continue;
        }
        equals.add(job, asked.size());
      }
      asked_for[i] = asked.size();
      asked.push_back(job);
      asked.back().message = &messages[i];
    }
    const std::vector<Outcome> answers = evaluator_->evaluate(asked);
    EMPLACE_CHECK(answers.size() == asked.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (asked_for[i] != known) {
        outcomes[i] = answers[asked_for[i]];
        const std::string* const message = asked[asked_for[i]].message;
        if (message != &messages[i])
          messages[i] = *message;
        else if (keeps_answer(jobs[i]))
          file_.add(jobs[i].problem, *jobs[i].placement, {outcomes[i], messages[i]});
      }
      if (jobs[i].message != nullptr && !messages[i].empty()) *jobs[i].message = messages[i];
    }
    file_.write();
    return outcomes;
  }

 private:
  static constexpr std::size_t known = ~std::size_t{0};

  // Jobs of a batch by what they are about.
  class Equals {
   public:
    // The position in `asked` of a job that is about the same.
    const std::size_t* find(const EvaluationJob& job, std::span<const EvaluationJob> asked) const {
      const auto [first, last] = positions_.equal_range(hash_of(job));
      for (auto at = first; at != last; ++at)
        if (asked[at->second].problem == job.problem && *asked[at->second].placement == *job.placement)
          return &at->second;
      return nullptr;
    }
    void add(const EvaluationJob& job, std::size_t position) { positions_.emplace(hash_of(job), position); }

   private:
    static std::size_t hash_of(const EvaluationJob& job) {
      const auto& devices = job.placement->device;
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(devices.data()), devices.size()});
    }
    std::unordered_multimap<std::size_t, std::size_t> positions_;
  };

  [[nodiscard]] bool keeps_answer(const EvaluationJob& job) const { return measures_ || job.starts == nullptr; }

  const std::unique_ptr<Evaluator> evaluator_;
  EvaluationFile file_;
  const bool measures_;
};

}  // namespace

std::unique_ptr<Evaluator> make_cached_evaluator(std::unique_ptr<Evaluator> evaluator, const std::string& file,
                                                 const std::string& identity, bool measures) {
  return std::make_unique<CachedEvaluator>(std::move(evaluator), file, identity, measures);
}

}  // namespace emplace::evaluate
