// emplace explain PROBLEM PLACEMENT
#include <limits>
#include <memory>

#include "command.hpp"
#include "emplace/report/explanation.hpp"

namespace emplace::app {

namespace {

struct Arguments {
  std::string problem, placement;
  GraphArguments graph;
  ScheduleArgument schedule;
  std::optional<std::uint64_t> evaluations;
  bool json = false;
};

ExitCode run_explain(const Arguments& arguments) {
  const Problem problem = load_problem_and_warn(arguments.problem, arguments.graph);
  const auto [placement, schedule] = read_placement_and_warn(arguments.placement, problem, arguments.schedule);
  MoveLimits limits;
  if (arguments.evaluations) {
    limits.evaluations = *arguments.evaluations;
    limits.work = std::numeric_limits<std::uint64_t>::max();
  }
  const Explanation explanation = explain(problem, placement, schedule, limits);
  write_output("", arguments.json ? explanation_json(problem, placement, explanation)
                                  : explanation_text(problem, placement, explanation));
  return ExitCode::done;
}

}  // namespace

Action add_explain(CLI::App& cli) {
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("problem", arguments->problem,
                 "Problem JSON, or GRAPH@MACHINE with GRAPH a model file or zoo:NAME?key=value")
      ->required();
  cli.add_option("placement", arguments->placement, "Placement JSON")->required();
  cli.add_option("--evaluations", arguments->evaluations,
                 "Single moves tried, the critical path's first (default: 20000, fewer on large problems)");
  arguments->schedule.add(cli);
  arguments->graph.add(cli);
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  return [arguments](World*) { return run_explain(*arguments); };
}

}  // namespace emplace::app
