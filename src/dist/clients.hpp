// What the master can have its workers do: evaluate placements, do a part of a training's work, and run placers in
// parallel.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "emplace/base/config.hpp"
#include "emplace/dist/world.hpp"
#include "emplace/policy/policy.hpp"
#include "learn/controllers.hpp"
#include "learn/learner_workers.hpp"
#include "search/common/placer_pool.hpp"
#include "search/local/polish.hpp"

namespace emplace::dist {

// For the master: broadcasts problems and choice once; each evaluate() sends pieces of the batch to idle workers and
// stores the outcomes by index. The master itself does not evaluate, so that it answers workers at once. With one rank
// this returns an evaluator of this process, made by the factory. The problems must outlive the evaluator. Its
// destructor releases the workers with exit code 0, except those of a part of a job.
std::unique_ptr<evaluate::Evaluator> make_mpi_evaluator(World& world, std::span<const Problem* const> problems,
                                                        evaluate::Scoring scoring,
                                                        const evaluate::EvaluatorChoice& choice = {},
                                                        const EvaluatorFactory& factory = evaluate::make_evaluator);

// What workers need to make the same policy as the master.
struct PolicyPlan {
  std::string name;
  ConfigTable options;
  policy::PolicySetup setup;  // its problems are the first of the evaluator's
};

// For the master: the workers of the evaluator that make_mpi_evaluator() made also draw samples and compute chunks of
// gradients, with copies of the policy that they make from the plan. The evaluator must outlive the learner workers and
// be idle while they work. Requires two ranks.
std::unique_ptr<learn::LearnerWorkers> make_mpi_learner_workers(World& world, const PolicyPlan& plan);

// What controllers need besides the problems.
struct ControllerPlan {
  PolicyPlan policy;
  std::string learner;  // with these options, asynchronous() is not null
  ConfigTable learner_options;
  std::size_t controllers = 1;
};

// For the master: the workers of the evaluator that make_mpi_evaluator() made become asynchronous controllers at the
// first give(), each with its own workers, and workers of the master again at the end(), which the destructor calls.
// The workers are divided equally, in the order of their ranks; the first rank of each group is the controller, which
// evaluates placements itself if it is alone. The evaluator must outlive the controllers and be idle from give() to
// end(). Requires a rank for each controller besides the master.
std::unique_ptr<learn::Controllers> make_mpi_controllers(World& world, const ControllerPlan& plan);

// For the master: each worker runs one placer at a time. The problem is the first one of the evaluator that
// make_mpi_evaluator() made, which must outlive the pool and be idle while it runs. Of a placer's request, the worker
// gets the start placement and the budgets. The pool's size is the number of workers. Requires two ranks.
std::unique_ptr<search::PlacerPool> make_mpi_placer_pool(World& world);

// For the master: each worker polishes one placement at a time. The problems are those of the evaluator that
// make_mpi_evaluator() made, which must outlive the pool and be idle while it runs. Requires two ranks.
std::unique_ptr<search::PolishPool> make_mpi_polish_pool(World& world);

}  // namespace emplace::dist
