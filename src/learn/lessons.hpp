// Placements that the policy did not draw, as samples that a learner can be taught.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/policy/policy.hpp"

namespace emplace::learn {

// The placement that is nearest to the given one if all ops of a unit are on one device: the device on which the unit
// has most work, by the ops' mean times, of those that can run all of it (of all devices if there are none). Without an
// order.
Placement on_units(const Problem& problem, const Grouping& units, const Placement& placement);

// A placement to learn from.
struct Lesson {
  std::span<const policy::Rollout> sample;  // a drawn sample of the problem, whose decisions are changed
  Placement placement;
  Outcome outcome;
};

// Samples with the decisions that give the lessons' placements, sample by sample; none for samples that cannot express
// other placements. Where a sample's decisions give another placement, because its units are coarser or its order is
// the upward rank's, that one is evaluated, and `evaluated` is called. All rounds but the last have the outcomes of the
// drawn sample.
std::vector<policy::Rollout> taught_samples(const policy::Policy& policy, evaluate::Evaluator& evaluator,
                                            std::span<const policy::PolicyProblem> problems, Schedule schedule,
                                            std::span<const Lesson> lessons,
                                            const std::function<void(const policy::Rollout&)>& evaluated);

}  // namespace emplace::learn
