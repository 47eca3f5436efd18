// What `emplace export` says of the plan that it writes: its simulated time beside that of the placement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/result_json.hpp"
#include "deploy/model_placement.hpp"
#include "problem/constraints.hpp"

namespace emplace::app {

// Where a placement's problem comes from, to simulate it again.
struct PlacedProblem {
  std::string source;     // as load_problem takes it; "": the machine in the problem's name, "MODEL@MACHINE"
  bool is_given = false;  // by the user: then a problem that cannot be read is an error
  Objective objective = Objective::step;
  // Of the run that made the placement: a plan that breaks them is infeasible, on the run's own problem.
  TaskConstraints constraints = {{}, {}};
};

// Frameworks do not run every op where it was placed (ModelPlacement::device_in_plan).
struct PlanCost {
  std::vector<std::string> moved;     // names of the ops that run elsewhere; empty: the plan is the placement
  std::vector<std::string> warnings;  // of the problem, if it is known: the same that other commands give of it
  // The rest is set if ops are moved.
  std::string problem;  // name of the simulated problem; "": none is known, for the `reason`
  Objective objective = Objective::step;
  std::optional<Outcome> placement, plan;
  std::string reason;  // why the plan is not feasible, or why nothing could be simulated; "": feasible
};

// Reads the problem, and if the plan is not the placement, simulates both on it under the placement's schedule.
// InputError if the problem is given and cannot be read, or if the placement is of another one.
PlanCost cost_of_plan(const deploy::ModelPlacement& placement, const source::SourceOptions& options,
                      const PlacedProblem& problem);

// Logs the problem's warnings, and where the plan is not the placement a sentence with both times: a warning if the
// plan is slower, not feasible or not known.
void say(const PlanCost& cost);
// The value of "plan" in the output of --json; null where the plan is the placement.
Json to_json(const PlanCost& cost);

}  // namespace emplace::app
