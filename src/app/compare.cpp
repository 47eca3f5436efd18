// emplace compare PROBLEM PLACEMENT PLACEMENT...
#include <fmt/core.h>

#include <memory>

#include "app/command.hpp"
#include "app/given_placement.hpp"
#include "app/objective.hpp"
#include "base/text.hpp"
#include "report/comparison.hpp"

namespace emplace::app {

namespace compare_command {

struct Arguments {
  std::string problem;
  std::vector<std::string> placements;
  GraphArguments graph;
  ScheduleArgument schedule;
  ObjectiveArgument objective;
  bool json = false;
};

// The verdict on the best of them.
std::string verdict_text(const Arguments& arguments, const Problem& problem,
                         const std::vector<report::NamedPlacement>& placements, const report::Comparison& comparison) {
  const report::NamedPlacement& best = placements[comparison.best];
  const Outcome& outcome = comparison.placements[comparison.best].outcome;
  const verdict::Verdict verdict =
      verdict_on({.source = arguments.problem,
                  .file = best.name,
                  .options = arguments.graph.options(),
                  .problem = &problem,
                  .placement = &best.placement,
                  .scoring = {best.schedule, arguments.objective.get(), arguments.objective.pipeline()},
                  .outcome = outcome});
  return fmt::format("\n{}: {}\n{}", outcome.feasible() ? "the best of them" : "none is feasible; the nearest",
                     printable(best.name), verdict::text_of(verdict));
}

ExitCode run_compare(const Arguments& arguments) {
  const Problem problem = load_problem_and_warn(arguments.problem, arguments.graph);
  std::vector<report::NamedPlacement> placements;
  for (const std::string& file : arguments.placements) {
    ScheduledPlacement read = read_placement_and_warn(file, problem, arguments.schedule);
    placements.push_back({file, std::move(read.placement), read.schedule});
  }
  std::optional<simulate::PipelineOptions> pipeline;
  if (arguments.objective.get() == Objective::pipeline) pipeline = arguments.objective.pipeline();
  const report::Comparison comparison = report::compare(problem, placements, pipeline);
  write_output("", arguments.json ? report::comparison_json(problem, comparison)
                                  : report::comparison_text(problem, comparison) +
                                        verdict_text(arguments, problem, placements, comparison));
  return ExitCode::done;
}

}  // namespace compare_command

Action add_compare(CommandLine& cli) {
  using namespace compare_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("problem", arguments->problem, problem_help).type_name("PROBLEM").required();
  cli.add_option("placements", arguments->placements,
                 "Placement JSON files or expert splits of dnn-partitioning, two or more")
      .type_name("PLACEMENT")
      .required()
      .values(2, -1);
  arguments->schedule.add(cli);
  arguments->objective.add(cli);
  arguments->graph.add(cli);
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(
      "Example:\n"
      "  emplace compare problem.json heft.json best.json");
  return [arguments](dist::World*) { return run_compare(*arguments); };
}

}  // namespace emplace::app
