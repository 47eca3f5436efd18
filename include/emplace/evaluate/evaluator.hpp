// The one door to simulations: a batch of placements in, their outcomes out. In process here; over MPI in dist.
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
  // If wanted: when each op starts, N; empty where the outcome has no times or only a load.
  std::vector<Ticks>* starts = nullptr;
  // Placements of one problem that differ little from the last one of the same series, in batch after batch: an
  // evaluator may then simulate only what changes. The outcome is the same.
  std::uint32_t series = no_series;
  // If wanted: set to the reason, one sentence, where the outcome is Infeasible::not_measured.
  std::string* message = nullptr;
};

// A batch of placements is submitted, all at once or part by part, and waited for. Where other processes evaluate, they
// begin with the first part while the caller makes the next ones or does other work.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  // Adds jobs to the batch. What they point to stays where it is until wait() or cancel() returns.
  virtual void submit(std::span<const EvaluationJob> jobs) = 0;
  // Hands out more of the batch to processes that are done with what they had. Quick; for callers that do other work
  // between submit() and wait().
  virtual void poll() {}
  // The outcomes of the batch, in the order in which its jobs were submitted, whoever computed them and whenever they
  // arrived; the batch is empty afterwards, also where this throws.
  virtual std::vector<Outcome> wait() = 0;
  // Forgets the batch, for callers that fail before they wait.
  virtual void cancel() = 0;
  // Into how many parts to cut so many jobs so that evaluation and the making of jobs overlap.
  [[nodiscard]] virtual std::size_t parts_of(std::size_t) const { return 1; }

  std::vector<Outcome> evaluate(std::span<const EvaluationJob> jobs) {
    submit(jobs);
    return wait();
  }
};

// An evaluator that does all its work in wait(): it has one function to write.
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

// What placements are judged by; the objective `pipeline` knows no schedule.
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

// Evaluates on these engines in this process, one a problem: other objectives, published simulators.
std::unique_ptr<Evaluator> make_local_evaluator_on(std::vector<std::unique_ptr<simulate::Engine>> engines);

// The evaluators that a recipe may name: the built-in simulator, the user's own program, stand-ins.

// What an evaluator is made for.
struct EvaluatorSetup {
  std::span<const Problem* const> problems;  // they (not the span) outlive the evaluator
  Scoring scoring;
  int rank = 0;  // of this process, for programs that choose a device by it
};

struct EvaluatorEntry : EntryInfo {
  // True: its times are measured, so that nothing is certain of them: no bound of the simulator's holds, a second
  // evaluation may say otherwise, and there are no start times of ops.
  bool measures = false;
  // `options`: the evaluator's own table of the recipe, as resolve() gives it. InputError where it cannot work here.
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
