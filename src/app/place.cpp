// emplace place METHOD PROBLEM [key=value ...] [-o FILE]
#include <fmt/core.h>

#include <chrono>
#include <memory>

#include "command.hpp"
#include "emplace/base/text.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/run/recipe.hpp"
#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"
#include "objective.hpp"
#include "result_json.hpp"

namespace emplace::app {

namespace {

struct Arguments {
  std::string method, problem, output;
  std::vector<std::string> options;
  GraphArguments graph;
  ScheduleArgument schedule;
  ObjectiveArgument objective;
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> evaluations;
  std::optional<double> seconds;
  bool json = false;
};

ExitCode run_place(const Arguments& arguments) {
  using Clock = std::chrono::steady_clock;
  if (arguments.evaluations && *arguments.evaluations == 0)
    throw InputError("--evaluations", "a budget must be above zero, found 0");
  if (arguments.seconds && !(*arguments.seconds > 0))
    throw InputError("--seconds", "a budget must be above zero, found {}", *arguments.seconds);
  ConfigTable options("command line");
  apply_overrides(options, arguments.options);
  const LoadedProblem loaded = load_all_and_warn(arguments.problem, arguments.graph);
  const Problem& problem = loaded.problem;
  const Schedule schedule = arguments.schedule.get().value_or(Schedule::fifo);
  const Objective objective = arguments.objective.get();
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(arguments.objective.make_engine(problem, schedule));
  const auto evaluator = make_local_evaluator_on(std::move(engines));
  PlacerRequest request;
  request.problem = &problem;
  request.schedule = schedule;
  request.objective = objective;
  request.pipeline = arguments.objective.pipeline();
  request.expert = loaded.expert;
  request.seed = arguments.seed;
  request.seconds = arguments.seconds;
  request.evaluations = arguments.evaluations;
  request.evaluator = evaluator.get();

  const auto start = Clock::now();
  const PlacerResult result = place_with(arguments.method, request, options);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();

  LowerBound bound = lower_bound(problem, objective);
  if (result.lower_bound > bound.ticks) bound = {result.lower_bound, arguments.method};
  const bool proved = result.proved_optimal || (result.outcome.feasible() && result.outcome.makespan == bound.ticks);
  if (!arguments.output.empty())
    write_output(arguments.output, write_placement_json(problem, result.placement, schedule));
  if (arguments.json) {
    print_json(to_json(PlacementReport{arguments.method, &problem, &result.placement, result.outcome, schedule,
                                       objective, result.evaluations, seconds, bound.ticks, proved}));
    if (!result.note.empty()) fmt::print(stderr, "{}\n", result.note);
  } else {
    fmt::print("{} on {}: {}{}\n", arguments.method, problem.name, objective == Objective::pipeline ? "load " : "",
               result.outcome.timed() ? human_seconds(to_seconds(result.outcome.makespan)) : "no time");
    if (!result.outcome.feasible())
      fmt::print("not feasible: {}\n", reason_of(objective, problem, result.outcome, result.placement.device, {}));
    fmt::print("no placement is faster than {} ({}){}\n", human_seconds(to_seconds(bound.ticks)), bound.method,
               proved ? "; this one is optimal" : "");
    if (!result.note.empty()) fmt::print("{}\n", result.note);
    if (!result.steps.empty()) {
      TextTable steps({"better by", "after", "evaluations", "step time"});
      for (const PlacerStep& step : result.steps)
        if (step.is_new_best)
          steps.add({step.method, human_seconds(step.seconds), fmt::format("{}", step.evaluations),
                     step.outcome.timed() ? human_seconds(to_seconds(step.outcome.makespan)) : "none"});
      fmt::print("\n{}", steps.str());
    }
    TextTable table({"device", "ops", "work"});
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      std::size_t ops = 0;
      Ticks work = 0;
      for (std::size_t op = 0; op < problem.op_count(); ++op)
        if (result.placement.device[op] == d) {
          ++ops;
          work += std::max<Ticks>(0, problem.time(OpId{op}, DeviceId{d}));
        }
      table.add({problem.devices[d].name, fmt::format("{}", ops), human_seconds(to_seconds(work))});
    }
    fmt::print("\n{}", table.str());
    if (!arguments.output.empty()) fmt::print("\nwritten to {}\n", arguments.output);
  }
  return result.outcome.feasible() ? ExitCode::done : ExitCode::infeasible;
}

}  // namespace

Action add_place(CLI::App& cli) {
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("method", arguments->method, "A placer; see `emplace list placers`")->required();
  cli.add_option("problem", arguments->problem, problem_help)->required();
  cli.add_option("options", arguments->options, "key=value options of the method");
  cli.add_option("-o,--output", arguments->output, "Write the placement JSON here")->check(not_empty);
  cli.add_option("--seed", arguments->seed, "Seed of every random stream")->check(CLI::NonNegativeNumber);
  cli.add_option("--evaluations", arguments->evaluations, "Budget: placements simulated")
      ->check(CLI::NonNegativeNumber);
  cli.add_option("--seconds", arguments->seconds, "Budget: seconds");
  arguments->schedule.add(cli);
  arguments->objective.add(cli);
  arguments->graph.add(cli);
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  return [arguments](World*) { return run_place(*arguments); };
}

}  // namespace emplace::app
