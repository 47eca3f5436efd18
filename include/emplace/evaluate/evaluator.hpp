// The one door to simulations: a batch of placements in, their outcomes out. In process here; over MPI in dist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/simulate/engine.hpp"
#include "emplace/simulate/pipeline.hpp"

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

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // outcomes[i] belongs to jobs[i], whoever computed it and whenever it arrived.
  virtual std::vector<Outcome> evaluate(std::span<const EvaluationJob> jobs) = 0;

  // The same of jobs that the caller is still making: `more` appends some, or does other work, and answers false once
  // there is nothing left to do. Where others evaluate, they begin with the first jobs meanwhile. What the jobs point
  // to stays where it is.
  using MoreJobs = std::function<bool(std::vector<EvaluationJob>& jobs)>;
  virtual std::vector<Outcome> evaluate_while(const MoreJobs& more);
  // Into how many parts to cut so many jobs for that.
  [[nodiscard]] virtual std::size_t parts_of(std::size_t) const { return 1; }
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

}  // namespace emplace::evaluate
