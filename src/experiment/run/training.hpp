// One training from a recipe: problems, policy and learner made from it, the loop with its budgets, metrics and
// checkpoints, and what came of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dist/clients.hpp"
#include "emplace/dist/world.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/run/checkpoint.hpp"
#include "experiment/run/run_folder.hpp"
#include "learn/trainer.hpp"

namespace emplace::experiment {

class Training {
 public:
  // Loads and builds everything that the recipe names: every InputError of a recipe comes from here.
  // One that goes on from a checkpoint gets its parameters by run() and not from the recipe's `init`.
  explicit Training(Recipe recipe, bool from_checkpoint = false);

  enum class End { finished, interrupted };

  // What one call of run() has.
  struct Session {
    evaluate::Evaluator&
        evaluator;  // knows problem_list(); of use for comparisons afterwards too, so the caller owns it
    learn::LearnerWorkers* learner_workers =
        nullptr;  // made for policy_plan(); null: the learning is done in this process
    bool resume = false;
    bool show_progress = true;
    // Asked after every update whether to end early, beside base/interrupt.hpp; or empty.
    std::function<bool()> stop = {};
    // Behind it no update begins, and none that would end behind it if it took as long as the longest so far.
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
  };

  // Trains until a budget ends or a stop is requested (base/interrupt.hpp), after the present update, writing the run
  // folder as it goes; its config.toml becomes this training's recipe, which may have other budgets than the run so
  // far. Whatever ends it early leaves the status "failed" and the last checkpoint as it is, which a
  // NotFinite names.
  End run(const RunFolder& folder, const Session& session);

  // For learner workers.
  [[nodiscard]] dist::PolicyPlan policy_plan() const;
  [[nodiscard]] const Recipe& recipe() const { return recipe_; }
  [[nodiscard]] const std::deque<Problem>& problems() const { return problems_; }
  // Those that are never trained on.
  [[nodiscard]] const std::deque<Problem>& held_out() const { return held_out_; }
  // What an evaluator of this training knows: the problems, then the held-out ones.
  [[nodiscard]] std::vector<const Problem*> problem_list() const;
  [[nodiscard]] Schedule schedule() const { return schedule_; }
  [[nodiscard]] Objective objective() const { return objective_; }
  // What its placements are to be evaluated with, its options resolved.
  [[nodiscard]] evaluate::EvaluatorChoice evaluator() const;
  // After run(): best placement of each problem (none where no update was about it), updates and evaluations made and
  // seconds spent, earlier sessions of the run included.
  [[nodiscard]] const std::vector<learn::Best>& best() const { return best_; }
  // What the policy makes of each held-out problem at the end; these placements count in no evaluations but their own.
  [[nodiscard]] const std::vector<learn::Best>& held_out_best() const { return held_out_best_; }
  [[nodiscard]] std::uint64_t updates() const { return updates_; }
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }
  // Those of the last run() alone.
  [[nodiscard]] std::uint64_t evaluations_of_session() const { return evaluations_of_session_; }
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  struct Limits {
    std::uint64_t updates, evaluations;  // 0: none
    double seconds;
  };
  [[nodiscard]] Limits limits() const;
  [[nodiscard]] learn::TrainerOptions trainer_options() const;
  [[nodiscard]] policy::PolicySetup policy_setup() const;
  void load_held_out();
  void make_held_out_policies();
  End train(const RunFolder& folder, learn::Trainer& trainer, const Session& session);
  void load(const Checkpoint& checkpoint, learn::Trainer& trainer, const std::string& run);
  void save(const RunFolder& folder, const learn::Trainer& trainer);
  std::vector<std::pair<std::string, double>> record(const learn::UpdateReport& report, const learn::Best& best);

  Recipe recipe_;
  Schedule schedule_;
  Objective objective_;
  std::deque<Problem> problems_;  // a deque: policies and evaluators keep pointers
  std::vector<policy::PolicyProblem> policy_problems_;
  std::deque<Problem> held_out_;
  std::vector<policy::PolicyProblem> held_out_problems_;
  std::unique_ptr<policy::Policy> policy_;
  std::vector<std::unique_ptr<policy::Policy>> held_out_policies_;  // one a problem
  std::unique_ptr<learn::Learner> learner_;
  std::map<std::string, std::vector<double>> history_;  // one value an update
  std::vector<learn::Best> best_, held_out_best_;
  std::uint64_t updates_ = 0, evaluations_ = 0, evaluations_of_session_ = 0;
  double seconds_ = 0;
  std::optional<std::uint64_t> saved_at_;  // the update of the newest checkpoint
};

}  // namespace emplace::experiment
