#include "emplace/run/run_evaluator.hpp"

#include <set>
#include <unordered_map>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/base/log.hpp"
#include "evaluation_file.hpp"

namespace emplace {

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

std::unique_ptr<Evaluator> make_cached_evaluator(std::unique_ptr<Evaluator> evaluator, const std::string& file,
                                                 const std::string& identity, bool measures) {
  return std::make_unique<CachedEvaluator>(std::move(evaluator), file, identity, measures);
}

std::unique_ptr<Evaluator> make_reporting_evaluator(std::unique_ptr<Evaluator> evaluator) {
  return std::make_unique<ReportingEvaluator>(std::move(evaluator));
}

TrainingTeam make_team(World* world, const Training& training, const RunFolder& folder) {
  const auto problems = training.problem_list();
  const Scoring scoring{training.schedule(), training.objective()};
  const EvaluatorChoice choice = training.evaluator();
  const RecipeOptions& recipe = training.recipe().options;
  TrainingTeam team;
  team.evaluator = world != nullptr ? make_mpi_evaluator(*world, problems, scoring, choice)
                                    : make_evaluator(choice, {problems, scoring});
  const bool measures = entry_of(choice).measures;
  if (recipe.cache == "all" || (recipe.cache == "measured" && measures))
    team.evaluator = make_cached_evaluator(std::move(team.evaluator), folder.file("evaluations"),
                                           evaluation_identity(problems, scoring, choice), measures);
  if (measures) team.evaluator = make_reporting_evaluator(std::move(team.evaluator));
  if (world != nullptr && world->has_workers() && recipe.workers == "simulate+learn")
    team.crew = make_mpi_crew(*world, training.policy_plan());
  return team;
}

}  // namespace emplace
