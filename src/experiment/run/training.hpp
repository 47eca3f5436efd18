// One training from a recipe: its problems, policy and learner, the loop with budgets, metrics and checkpoints, and the
// results.
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
#include "experiment/run/metrics_file.hpp"
#include "experiment/run/run_folder.hpp"
#include "learn/trainer.hpp"

namespace emplace::experiment {

class TrainedPolicy;

class Training {
 public:
  // Loads and builds everything that the recipe names; throws InputError if something is wrong with it. A training that
  // continues from a checkpoint gets its parameters in run() and not from the recipe's `init`.
  explicit Training(Recipe recipe, bool from_checkpoint = false);

  enum class End { finished, interrupted };

  // The inputs of one call of run().
  struct Session {
    evaluate::Evaluator&
        evaluator;  // for problem_list(); owned by the caller, who also uses it for comparisons afterwards
    learn::LearnerWorkers* learner_workers =
        nullptr;                                // made for policy_plan(); null: the learning is done in this process
    learn::Controllers* controllers = nullptr;  // made for controller_plan(); null: the training is synchronous
    search::PolishPool* polish_pool = nullptr;  // for problem_list(), where polishes(); else null
    bool resume = false;
    bool show_progress = true;
    std::chrono::seconds between_checkpoints{0};  // at least, however short the recipe's checkpoint_every is
    // Called after every update; true ends the training early, as a stop request does (base/interrupt.hpp). May be
    // empty.
    std::function<bool()> stop = {};
    // No update begins after this time, nor one that would end after it if it took as long as the longest so far.
    std::optional<std::chrono::steady_clock::time_point> deadline = {};
  };

  // A budget, with the unit: "2400 evaluations", "60 s"; "1000 updates or 60 s, whichever comes first".
  [[nodiscard]] std::string budget() const;

  // Trains until a budget is used up or a stop is requested (base/interrupt.hpp). Then the present update is finished,
  // if that takes only a moment, or else abandoned: the run is as it was before that update.
  // Writes the run folder meanwhile: config.toml gets this training's recipe, whose budgets may differ from those of
  // the run so far. An exception sets the status "failed" and leaves the last checkpoint as it is; NotFinite names it.
  End run(const RunFolder& folder, const Session& session);

  // About how many bytes the updates take besides the problems and the policy itself (MemoryNeed): samples, gradients,
  // state of the optimiser; where other ranks learn too, theirs on this machine included.
  [[nodiscard]] double bytes_needed() const;

  // The policy as dist::make_mpi_learner_workers() needs it.
  [[nodiscard]] dist::PolicyPlan policy_plan() const;
  // The same for dist::make_mpi_controllers(); empty if the training is synchronous.
  [[nodiscard]] std::optional<dist::ControllerPlan> controller_plan() const;
  // Whether samples are polished: the recipe says so, and the evaluator and the objective are those of local search.
  [[nodiscard]] bool polishes() const;
  // Whether the learner is also shown placements that the policy did not draw.
  [[nodiscard]] bool teaches() const;
  // InputError if an asynchronous training has fewer ranks than it needs; null: this process alone.
  void check_ranks(const dist::World* world) const;
  [[nodiscard]] const Recipe& recipe() const { return recipe_; }
  [[nodiscard]] const std::deque<Problem>& problems() const { return problems_; }
  // The problems that are never trained on.
  [[nodiscard]] const std::deque<Problem>& held_out() const { return held_out_; }
  // The problems of this training's evaluator: those of the training, then the held-out ones.
  [[nodiscard]] std::vector<const Problem*> problem_list() const;
  [[nodiscard]] Schedule schedule() const { return schedule_; }
  [[nodiscard]] Objective objective() const { return objective_; }
  // The evaluator of the recipe, with its options resolved.
  [[nodiscard]] evaluate::EvaluatorChoice evaluator() const;
  // After run(): the best placement of each problem (none if no update used the problem), and the numbers of updates,
  // evaluations and seconds, earlier sessions of the run included.
  [[nodiscard]] const std::vector<learn::Best>& best() const { return best_; }
  // The policy's placement of each held-out problem at the end. Its evaluations are not counted in evaluations().
  [[nodiscard]] const std::vector<learn::Best>& held_out_best() const { return held_out_best_; }
  [[nodiscard]] std::uint64_t updates() const { return updates_; }
  [[nodiscard]] std::uint64_t evaluations() const { return evaluations_; }
  // The evaluations of the last run() only.
  [[nodiscard]] std::uint64_t evaluations_of_session() const { return evaluations_of_session_; }
  [[nodiscard]] double seconds() const { return seconds_; }
  // The columns of metrics.csv by name, one value per update, earlier sessions included; times are in "seconds".
  [[nodiscard]] const std::map<std::string, std::vector<double>>& history() const { return history_; }
  // Of an asynchronous training's updates: how many updates were made between the reading of the parameters and the
  // arrival of the gradient.
  struct Staleness {
    double mean = 0, most = 0;
  };
  [[nodiscard]] std::optional<Staleness> staleness() const;

 private:
  static constexpr const char* metrics_file = "metrics.csv";
  static constexpr const char* history_seconds = "seconds";  // the clock's column in history_
  struct Limits {
    std::uint64_t updates, evaluations;  // 0: none
    double seconds;
  };
  [[nodiscard]] Limits limits() const;
  // The largest of the budgets' shares that so many updates and evaluations, and the time of all updates so far, use.
  [[nodiscard]] double budget_used(std::uint64_t updates, std::uint64_t evaluations) const;
  // Throws EnvironmentError if an update needs more memory than this machine has available.
  void check_memory();
  [[nodiscard]] learn::TrainerOptions trainer_options() const;
  [[nodiscard]] policy::PolicySetup policy_setup() const;
  void add_warnings(const source::LoadedProblem& loaded);
  void warn_of_idle_options();
  void load_held_out(TaskConstraints& constraints);
  void make_held_out_policies();
  void make_starts(const TrainedPolicy& init);
  [[nodiscard]] std::vector<learn::HeldOut> starts() const;
  void load_start();
  // Updates since a problem's best placement became better; all of them if there is none yet.
  [[nodiscard]] std::uint64_t updates_without_gain(const learn::Trainer& trainer) const;
  [[nodiscard]] bool is_at_bound(const learn::Trainer& trainer) const;
  // By patience or at the bound.
  [[nodiscard]] bool ends_early(const learn::Trainer& trainer) const;
  // Number of evaluations before the first update.
  [[nodiscard]] std::uint64_t evaluations_of_first_update() const;
  [[nodiscard]] std::uint64_t evaluations_of_start() const;
  [[nodiscard]] State state(const learn::Trainer& trainer) const;
  // What the run knows of the updates so far, in the order of the columns of a new metrics.csv.
  [[nodiscard]] MetricsHistory metrics_history() const;
  // The columns of metrics.csv before those of the learner, in their order.
  [[nodiscard]] std::vector<std::string> columns_of_trainer() const;
  // Before the first update of a new training.
  void begin(learn::Trainer& trainer, const Session& session);
  void run_quick_placers(learn::Trainer& trainer, std::size_t problem, const Session& session);
  End train(const RunFolder& folder, learn::Trainer& trainer, MetricsFile& metrics, const Session& session);
  void load(const Checkpoint& checkpoint, learn::Trainer& trainer, const std::string& run);
  // InputErrors for a history that does not fit the trainer's state: unknown columns, another number of updates or
  // evaluations, another best time, values that are no numbers.
  void check_columns(const std::string& run, bool of_this_version);
  void check_history(const learn::Trainer& trainer, const std::string& run) const;
  // One update; none if a stop was requested and it was abandoned.
  std::optional<learn::UpdateReport> step(learn::Trainer& trainer);
  // The arrays of a checkpoint.
  [[nodiscard]] State arrays(const learn::Trainer& trainer) const;
  void save(const RunFolder& folder, const learn::Trainer& trainer, State arrays);
  std::vector<std::pair<std::string, double>> record(const learn::UpdateReport& report, const learn::Best& best);

  Recipe recipe_;
  Schedule schedule_;
  Objective objective_;
  std::vector<std::string> warnings_;  // about the problems, shown and kept in the log when run() begins
  std::string memory_;                 // how much an update needs, if that is much; shown when run() begins
  std::deque<Problem> problems_;       // a deque, because policies and evaluators keep pointers to its elements
  std::vector<policy::PolicyProblem> policy_problems_;
  std::deque<Problem> held_out_;
  std::vector<policy::PolicyProblem> held_out_problems_;
  std::unique_ptr<policy::Policy> policy_;
  // Of a new training that starts from another run's parameters, if its policy transfers: each problem as `place
  // --policy` places it with them.
  std::deque<policy::PolicyProblem> start_problems_;
  std::vector<std::unique_ptr<policy::Policy>> start_policies_;
  bool starts_from_init_ = false;
  std::optional<Placement> start_;                                  // the recipe's `start`
  std::vector<std::unique_ptr<policy::Policy>> held_out_policies_;  // one per held-out problem
  std::unique_ptr<learn::Learner> learner_;
  std::map<std::string, std::vector<double>> history_;  // one value per update
  std::vector<learn::Best> best_, held_out_best_;
  std::uint64_t updates_ = 0, evaluations_ = 0, evaluations_of_session_ = 0;
  double seconds_ = 0, polish_seconds_ = 0;
  std::optional<std::uint64_t> saved_at_;  // the update of the newest checkpoint
  std::vector<Ticks> bounds_;              // the problems' lower bounds, with stop_at_bound
  std::optional<double> last_update_s_;    // how long the last update took
  std::optional<State> before_;            // the arrays before an update that was abandoned
};

}  // namespace emplace::experiment
