// emplace explain PROBLEM PLACEMENT
#include <limits>
#include <memory>

#include "app/command.hpp"
#include "app/given_placement.hpp"
#include "base/progress.hpp"
#include "report/explanation.hpp"

namespace emplace::app {

namespace explain_command {

struct Arguments {
  std::string problem, placement;
  GraphArguments graph;
  ScheduleArgument schedule;
  std::optional<std::uint64_t> evaluations;
  std::string objective = "step";
  bool json = false;
};

ExitCode run_explain(const Arguments& arguments) {
  if (objective_of(arguments.objective, "--objective") == Objective::pipeline)
    throw InputError("--objective",
                     "explain shows the parts of one step, and the objective pipeline has none; simulate and compare "
                     "--objective pipeline show the load of each device");
  const Problem problem = load_problem_and_warn(arguments.problem, arguments.graph);
  const auto [placement, schedule] = read_placement_and_warn(arguments.placement, problem, arguments.schedule);
  report::MoveLimits limits;
  if (arguments.evaluations) {
    limits.simulations = *arguments.evaluations;
    limits.work = std::numeric_limits<std::uint64_t>::max();
  }
  Progress progress(true);
  const report::Explanation explanation =
      report::explain(problem, placement, schedule, limits,
                      [&](std::string_view doing, double share) { progress.update(share, std::string(doing)); });
  progress.finish();
  const verdict::Verdict verdict = verdict_on({.source = arguments.problem,
                                               .file = arguments.placement,
                                               .options = arguments.graph.options(),
                                               .problem = &problem,
                                               .placement = &placement,
                                               .scoring = {schedule, Objective::step},
                                               .outcome = explanation.outcome});
  write_output("", arguments.json ? report::explanation_json(problem, placement, explanation, verdict)
                                  : report::explanation_text(problem, placement, explanation, verdict));
  return ExitCode::done;
}

}  // namespace explain_command

Action add_explain(CommandLine& cli) {
  using namespace explain_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("problem", arguments->problem, problem_help).type_name("PROBLEM").required();
  cli.add_option("placement", arguments->placement, placement_help).type_name("PLACEMENT").required();
  cli.add_option("--evaluations", arguments->evaluations,
                 "Single moves simulated, those that look best first (default: 2000, fewer on large problems)")
      .at_least(0);
  arguments->schedule.add(cli);
  cli.add_option("--objective", arguments->objective, "step; simulate and compare also support pipeline")
      .type_name("step");
  arguments->graph.add(cli);
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(
      "Example:\n"
      "  emplace explain problem.json best.json");
  return [arguments](dist::World*) { return run_explain(*arguments); };
}

}  // namespace emplace::app
