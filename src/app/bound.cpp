// emplace bound PROBLEM [--objective pipeline] [--seconds S]
#include <fmt/core.h>

#include <cmath>
#include <memory>

#include "app/command.hpp"
#include "app/objective.hpp"
#include "app/result_json.hpp"
#include "app/serving.hpp"
#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "emplace/search/bound.hpp"
#include "serving/cluster_json.hpp"

namespace emplace::app {

namespace bound_command {

struct Arguments {
  std::string problem;
  GraphArguments graph;
  ObjectiveArgument objective;
  double seconds = 10;
  bool json = false;
};

ExitCode run_bound(const Arguments& arguments) {
  if (!(arguments.seconds > 0 && std::isfinite(arguments.seconds)))
    throw InputError("--seconds", "a budget must be above zero and finite, found {}", arguments.seconds);
  const Objective objective = arguments.objective.get();
  if (serving::is_cluster_file(arguments.problem)) {
    refuse_for_cluster(arguments.problem, objective != Objective::step ? "--objective" : arguments.graph.given());
    return bound_throughput(arguments.problem, arguments.seconds, arguments.json);
  }
  const Problem problem = load_problem_and_warn(arguments.problem, arguments.graph);
  const search::BoundReport report =
      search::lower_bounds(problem, objective, arguments.seconds, [] { return stop_requested(); });
  const search::LowerBound best = report.best();
  if (arguments.json) {
    Json json;
    json["lower_bound_s"] = report.infeasible ? Json(nullptr) : Json(to_seconds(best.ticks));
    json["lower_bound_ps"] = report.infeasible ? Json(nullptr) : Json(best.ticks);
    json["method"] = report.infeasible ? Json(nullptr) : Json(best.method);
    json["reason"] = report.infeasible ? Json(*report.infeasible) : Json(nullptr);
    json["methods"] = Json::array();
    for (const search::LowerBound& each : report.methods)
      json["methods"].push_back({{"method", each.method}, {"lower_bound_s", to_seconds(each.ticks)}});
    print_json(json);
  } else if (report.infeasible) {
    fmt::print("no placement of {} is feasible: {}\n", printable(problem.name), *report.infeasible);
  } else {
    fmt::print("no placement of {} {} {} ({})\n\n", printable(problem.name),
               objective == Objective::pipeline ? "has a load below" : "takes less than",
               human_seconds(to_seconds(best.ticks)), best.method);
    TextTable table({"method", "bound", "of the best"});
    for (const search::LowerBound& each : report.methods)
      if (each.ticks > 0)
        table.add({each.method, human_seconds(to_seconds(each.ticks)),
                   fmt::format("{:.1f} %", 100 * static_cast<double>(each.ticks) / static_cast<double>(best.ticks))});
      else
        table.add({each.method, "none found", ""});
    fmt::print("{}", table.str());
  }
  if (report.infeasible) return ExitCode::infeasible;
  if (!stop_requested()) return ExitCode::done;
  fmt::print(stderr, "stopped early on request: these are the best bounds so far\n");
  return ExitCode::interrupted;
}

}  // namespace bound_command

Action add_bound(CommandLine& cli) {
  using namespace bound_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("problem", arguments->problem, problem_help).type_name("PROBLEM").required();
  cli.add_option("--seconds", arguments->seconds, "Budget: seconds for all methods together (default 10)");
  arguments->objective.add(cli);
  arguments->graph.add(cli);
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(
      "Examples:\n"
      "  emplace bound problem.json\n"
      "  emplace bound 'zoo:inception-v3?batch=32@k40x2' --seconds 60");
  return [arguments](dist::World*) { return run_bound(*arguments); };
}

}  // namespace emplace::app
