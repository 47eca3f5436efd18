// What the master does with its workers: evaluations, a training's work, and placers side by side.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "emplace/base/config.hpp"
#include "emplace/dist/world.hpp"
#include "emplace/policy/policy.hpp"
#include "learn/learner_workers.hpp"
#include "search/common/placer_pool.hpp"

namespace emplace::dist {

// Master: broadcasts problems and choice once; each evaluate() hands pieces to idle workers and places the outcomes by
// index. The master itself does not evaluate, so that it answers at once. With one rank it evaluates in process, on an
// evaluator from the factory. The problems must outlive it. Its destructor releases the workers with exit code 0, but
// for those of a part.
std::unique_ptr<evaluate::Evaluator> make_mpi_evaluator(World& world, std::span<const Problem* const> problems,
                                                        evaluate::Scoring scoring,
                                                        const evaluate::EvaluatorChoice& choice = {},
                                                        const EvaluatorFactory& factory = evaluate::make_evaluator);

// A training's policy, so that workers make the same.
struct PolicyPlan {
  std::string name;
  ConfigTable options;
  policy::PolicySetup setup;  // its problems are the first of the evaluator's
};

// Master: the workers of the evaluator that make_mpi_evaluator() made draw samples and compute chunks of gradients too,
// with copies of the policy that they make from the plan. The evaluator must outlive the learner workers and be idle
// while it works. Requires two ranks.
std::unique_ptr<learn::LearnerWorkers> make_mpi_learner_workers(World& world, const PolicyPlan& plan);

// Master: gives each worker one placer at a time. The problem is the first of the evaluator that make_mpi_evaluator()
// made, which must outlive the pool and be idle while it runs; of the placers' requests the workers get start
// and budgets. Its size is the number of workers. Requires two ranks.
std::unique_ptr<search::PlacerPool> make_mpi_placer_pool(World& world);

}  // namespace emplace::dist
