// emplace compare PROBLEM PLACEMENT PLACEMENT...
#include <memory>

#include "command.hpp"
#include "emplace/report/comparison.hpp"
#include "objective.hpp"

namespace emplace::app {

namespace {

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
  std::vector<NamedPlacement> placements;
  for (const std::string& file : arguments.placements) {
    ScheduledPlacement read = read_placement_and_warn(file, problem, arguments.schedule);
    placements.push_back({file, std::move(read.placement), read.schedule});
  }
  std::optional<PipelineOptions> pipeline;
  if (arguments.objective.get() == Objective::pipeline) pipeline = arguments.objective.pipeline();
  const Comparison comparison = compare(problem, placements, pipeline);
  write_output("", arguments.json ? comparison_json(problem, comparison) : comparison_text(problem, comparison));
  return ExitCode::done;
}

}  // namespace

Action add_compare(CLI::App& cli) {
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("problem", arguments->problem, problem_help)->type_name("PROBLEM")->required();
  cli.add_option("placements", arguments->placements,
                 "Placement JSON files or expert splits of dnn-partitioning, two or more")
      ->type_name("PLACEMENT")
      ->required()
      ->expected(2, -1);
  arguments->schedule.add(cli);
  arguments->objective.add(cli);
  arguments->graph.add(cli);
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  return [arguments](World*) { return run_compare(*arguments); };
}

}  // namespace emplace::app
