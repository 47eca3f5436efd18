// emplace simulate PROBLEM PLACEMENT
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "app/command.hpp"
#include "app/given_placement.hpp"
#include "app/objective.hpp"
#include "app/result_json.hpp"
#include "app/serving.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/simulate/engine.hpp"
#include "report/perfetto.hpp"
#include "report/timeline_svg.hpp"
#include "serving/cluster_json.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "simulate/published/published.hpp"

namespace emplace::app {

namespace simulate_command {

struct Arguments {
  std::string problem, placement, trace, svg, simulator;
  GraphArguments graph;
  ScheduleArgument schedule;
  ObjectiveArgument objective;
  bool json = false;
};

void print_tables(const Problem& problem, const Outcome& outcome, const Usage& usage, const std::string& rules,
                  const std::string& reason) {
  fmt::print("{}: {} ({}), {}\n", printable(problem.name),
             outcome.timed() ? human_seconds(to_seconds(outcome.makespan)) : "no time", rules,
             outcome.feasible() ? "feasible" : "not feasible: " + reason);
  if (!outcome.timed()) return;
  const auto share = [&](Ticks busy) {
    return fmt::format("{:.1f} %",
                       100.0 * static_cast<double>(busy) / static_cast<double>(std::max<Ticks>(1, outcome.makespan)));
  };
  TextTable devices({"device", "busy", "share", "peak memory", "memory"});
  for (std::size_t d = 0; d < problem.device_count(); ++d)
    devices.add({problem.devices[d].name, human_seconds(to_seconds(usage.device_busy[d])), share(usage.device_busy[d]),
                 human_bytes(usage.device_peak[d]),
                 problem.devices[d].memory == no_memory_limit ? "no limit" : human_bytes(problem.devices[d].memory)});
  fmt::print("\n{}", devices.str());
  if (problem.channels.empty()) return;
  TextTable channels({"channel", "busy", "share", "moved"});
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    channels.add({problem.channels[c].name, human_seconds(to_seconds(usage.channel_busy[c])),
                  share(usage.channel_busy[c]), human_bytes(usage.channel_bytes[c])});
  fmt::print("\n{}", channels.str());
}

void write_trace_and_say(const Arguments& arguments, const Problem& problem, const Placement& placement,
                         const simulate::Timeline& timeline) {
  if (timeline.op_end.empty()) {
    log_warning("no trace is written: the placement cannot run");
    return;
  }
  const report::TraceSummary trace = report::write_trace_file(problem, placement, timeline, arguments.trace);
  if (trace.left_out() > 0)
    log_warning("{}: left out of the trace: {} slices, {} arrows, {} memory levels", arguments.trace, trace.slices_left,
                trace.arrows_left, trace.levels_left);
}

void write_svg(const Arguments& arguments, const Problem& problem, const Placement& placement, Schedule schedule,
               const simulate::Timeline& timeline) {
  if (timeline.op_end.empty()) {
    log_warning("no picture is written: the placement cannot run");
    return;
  }
  write_file(arguments.svg, report::timeline_svg(problem, placement, timeline,
                                                 simulate::critical_path(problem, placement, schedule, timeline)));
}

// The schedule in the placement's file is only a default: a simulator that does not support it uses its own. InputError
// for one given with --schedule that the simulator does not support.
std::unique_ptr<simulate::Engine> make_engine(const Arguments& arguments, const Problem& problem, Schedule schedule) {
  const char* const picture = !arguments.trace.empty() ? "--trace" : !arguments.svg.empty() ? "--svg" : nullptr;
  if (arguments.objective.get() == Objective::pipeline && picture != nullptr)
    throw InputError(picture, "shows one step, and the objective pipeline has none");
  if (arguments.simulator.empty()) return arguments.objective.make_engine(problem, schedule);
  if (arguments.objective.get() == Objective::pipeline)
    throw InputError("--simulator", "simulates one step, and the objective pipeline has none");
  const simulate::ChosenSimulator chosen = simulate::choose_simulator(arguments.simulator);
  if (picture != nullptr)
    throw InputError(picture, "shows channels and memory by the rules of this program, not by those of {}",
                     quote(arguments.simulator));
  if (arguments.schedule.get() || chosen.entry->takes(schedule)) return chosen.make(problem, schedule);
  if (schedule != Schedule::fifo)
    log_warning("the simulator {} has no schedule {} and ignores that of {}", chosen.entry->name, name_of(schedule),
                arguments.placement);
  return chosen.make(problem);
}

// None for another simulator: the bound and the placers' times are those of this program's rules.
void print_verdict(const Arguments& arguments, const Problem& problem, const ScheduledPlacement& given,
                   const Outcome& outcome) {
  if (!arguments.simulator.empty()) return;
  const verdict::Verdict verdict =
      verdict_on({.source = arguments.problem,
                  .file = arguments.placement,
                  .options = arguments.graph.options(),
                  .problem = &problem,
                  .placement = &given.placement,
                  .scoring = {given.schedule, arguments.objective.get(), arguments.objective.pipeline()},
                  .outcome = outcome,
                  .is_simulated = true});
  fmt::print("\n{}", verdict::text_of(verdict));
}

ExitCode run_simulate(const Arguments& arguments) {
  for (const std::string& output : {arguments.trace, arguments.svg})
    refuse_overwriting(output, {arguments.problem, arguments.placement});
  refuse_equal_outputs({{"--trace", arguments.trace}, {"--svg", arguments.svg}});
  if (serving::is_cluster_file(arguments.problem)) {
    const auto refuse = [&](const char* option, bool given) {
      refuse_for_cluster(arguments.problem, given ? option : nullptr);
    };
    refuse("--trace", !arguments.trace.empty());
    refuse("--svg", !arguments.svg.empty());
    refuse("--simulator", !arguments.simulator.empty());
    refuse("--schedule", !arguments.schedule.name.empty());
    refuse("--objective", arguments.objective.get() != Objective::step);
    refuse(arguments.graph.given(), true);
    return simulate_layout(arguments.problem, arguments.placement, arguments.json);
  }
  const Problem problem = load_problem_and_warn(arguments.problem, arguments.graph);
  const ScheduledPlacement given = read_placement_and_warn(arguments.placement, problem, arguments.schedule);
  const auto& [placement, schedule] = given;
  const auto engine = make_engine(arguments, problem, schedule);
  Usage usage;
  simulate::Timeline timeline;
  const Outcome outcome = engine->evaluate(
      placement, {.usage = &usage, .timeline = arguments.trace.empty() && arguments.svg.empty() ? nullptr : &timeline});
  if (!arguments.trace.empty()) write_trace_and_say(arguments, problem, placement, timeline);
  if (!arguments.svg.empty()) write_svg(arguments, problem, placement, schedule, timeline);
  const Objective objective = arguments.objective.get();
  const std::string reason = simulate::reason_of(objective, problem, outcome, placement.device, usage);
  if (arguments.json) {
    Json json = to_json(problem, outcome, usage, objective);
    if (!outcome.feasible()) json["reason"] = reason;
    print_json(json);
    return ExitCode::done;
  }
  if (objective == Objective::pipeline) {
    print_tables(problem, outcome, usage, "load of the busiest device", reason);
    fmt::print("{}", load_table(problem, placement, arguments.objective.pipeline()));
  } else {
    print_tables(problem, outcome, usage,
                 arguments.simulator.empty() ? fmt::format("{} schedule", name_of(schedule))
                                             : fmt::format("simulator {}", arguments.simulator),
                 reason);
  }
  print_verdict(arguments, problem, given, outcome);
  return ExitCode::done;
}

}  // namespace simulate_command

Action add_simulate(CommandLine& cli) {
  using namespace simulate_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("problem", arguments->problem, problem_help).type_name("PROBLEM").required();
  cli.add_option("placement", arguments->placement, placement_help).type_name("PLACEMENT").required();
  cli.add_option("--trace", arguments->trace, "Write the step as trace events here, for ui.perfetto.dev")
      .type_name("FILE")
      .not_empty();
  cli.add_option("--svg", arguments->svg, "Draw the step's timeline here, as an SVG for papers")
      .type_name("FILE")
      .not_empty();
  cli.add_option("--simulator", arguments->simulator,
                 "A published simulator, as NAME or NAME?key=value; see `emplace list simulators`")
      .type_name("SIMULATOR");
  arguments->schedule.add(cli);
  arguments->objective.add(cli);
  arguments->graph.add(cli);
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(
      "Examples:\n"
      "  emplace simulate problem.json best.json\n"
      "  emplace simulate problem.json best.json --svg step.svg --trace step.trace.json");
  return [arguments](dist::World*) { return run_simulate(*arguments); };
}

}  // namespace emplace::app
