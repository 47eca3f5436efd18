// The interface of everything that evaluates placements: a batch of placements goes in, their outcomes come out. The
// evaluators here work in the caller's process; src/dist/clients.hpp has the one that uses MPI workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::evaluate {

struct EvaluationJob {
  static constexpr std::uint32_t no_series = ~std::uint32_t{0};

  std::uint32_t problem = 0;  // position in the evaluator's list of problems
  const Placement* placement = nullptr;
  // If not null: set to the start time of each op, shape N; empty if the outcome has no times or only a load.
  std::vector<Ticks>* starts = nullptr;
  // The jobs of one series, also in different batches, are placements of one problem that differ little from one to the
  // next, so that an evaluator may simulate only what changes. The outcome does not depend on the series.
  std::uint32_t series = no_series;
  // If not null: set to the reason, one sentence, if the outcome is Infeasible::not_measured.
  std::string* message = nullptr;
};

// The caller submits a batch of placements, all at once or part by part, and then waits for the outcomes. If other
// processes evaluate, they begin with the first part while the caller makes the next ones or does other work.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Adds jobs to the batch. What they point to must stay valid until wait() or cancel() returns.
  virtual void submit(std::span<const EvaluationJob> jobs) = 0;
  // Sends more of the batch to processes that have finished what they had. Returns at once; for callers that do other
  // work between submit() and wait().
  virtual void poll() {}
  // Returns the outcomes of the batch in the order in which its jobs were submitted, whichever process computed them.
  // Afterwards the batch is empty, also if this throws.
  virtual std::vector<Outcome> wait() = 0;
  // Discards the batch; for callers that fail before they call wait().
  virtual void cancel() = 0;
  // The number of parts in which so many jobs should be submitted, so that they are evaluated while the caller makes
  // the next ones.
  [[nodiscard]] virtual std::size_t parts_of(std::size_t) const { return 1; }

  std::vector<Outcome> evaluate(std::span<const EvaluationJob> jobs) {
    submit(jobs);
    return wait();
  }
};

// An evaluator that does all its work in wait(): a subclass defines evaluate_now() only.
class DirectEvaluator : public Evaluator {
 public:
  void submit(std::span<const EvaluationJob> jobs) final { jobs_.insert(jobs_.end(), jobs.begin(), jobs.end()); }
  std::vector<Outcome> wait() final { return evaluate_now(std::exchange(jobs_, {})); }
  void cancel() final { jobs_.clear(); }

 protected:
  // outcomes[i] belongs to jobs[i].
  virtual std::vector<Outcome> evaluate_now(std::span<const EvaluationJob> jobs) = 0;

 private:
  std::vector<EvaluationJob> jobs_;
};

// How placements are scored. The objective `pipeline` does not use the schedule.
struct Scoring {
  Schedule schedule = Schedule::fifo;
  Objective objective = Objective::step;
  simulate::PipelineOptions pipeline;

  Scoring() = default;
  Scoring(Schedule by, Objective what = Objective::step, simulate::PipelineOptions how = {})
      : schedule(by), objective(what), pipeline(how) {}
};

// Evaluates in this process: on the exact engine, or by the load model for `pipeline`. The problems must outlive the
// evaluator.
std::unique_ptr<Evaluator> make_local_evaluator(std::span<const Problem* const> problems, Scoring scoring);

// Evaluates in this process on the given engines, one per problem; for other objectives and published simulators.
std::unique_ptr<Evaluator> make_local_evaluator_on(std::vector<std::unique_ptr<simulate::Engine>> engines);

// The evaluators that a recipe may name: the built-in simulator, the user's own program, stand-ins.

// What the factory of an evaluator gets beside the options.
struct EvaluatorSetup {
  std::span<const Problem* const> problems;  // they (not the span) outlive the evaluator
  Scoring scoring;
  int rank = 0;  // of this process, for programs that choose a device by it
};

struct EvaluatorEntry : EntryInfo {
  // True: the evaluator measures times, or computes them by other rules than the simulator's. Then the simulator's
  // bounds do not hold, a second evaluation of the same placement may return another time, and there are no start times
  // of ops.
  bool measures = false;
  // The option that is the recipe's `problem` where the recipe does not give it; "": none.
  std::string problem_option = {};
  // `options`: the evaluator's own table of the recipe, as resolve() returns it. InputError if the evaluator cannot
  // work with these options, problems or scoring.
  std::function<std::unique_ptr<Evaluator>(const ConfigTable& options, const EvaluatorSetup& setup)> make;
  // The options with defaults filled in, and with what depends on the present folder written out.
  std::function<ConfigTable(const ConfigTable& options)> resolve;
};

// Every evaluator, in the order in which `emplace list evaluators` shows them.
std::span<const EvaluatorEntry> evaluators();
// Adds an entry (base/registry.hpp). InputError for a name that is taken or malformed.
void register_evaluator(EvaluatorEntry entry);

struct EvaluatorChoice {
  std::string name = "simulator";
  ConfigTable options;
};

// InputError for an unknown name.
const EvaluatorEntry& entry_of(const EvaluatorChoice& choice);
std::unique_ptr<Evaluator> make_evaluator(const EvaluatorChoice& choice, const EvaluatorSetup& setup);

}  // namespace emplace::evaluate
