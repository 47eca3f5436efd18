// emplace compare PROBLEM PLACEMENT PLACEMENT...
#include <memory>

#include "app/command.hpp"
#include "app/objective.hpp"
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
  write_output(
      "", arguments.json ? report::comparison_json(problem, comparison) : report::comparison_text(problem, comparison));
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
  return [arguments](dist::World*) { return run_compare(*arguments); };
}

}  // namespace emplace::app
