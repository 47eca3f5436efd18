// emplace simulate PROBLEM PLACEMENT
#include <fmt/core.h>

#include <memory>

#include "command.hpp"
#include "emplace/base/log.hpp"
#include "emplace/base/text.hpp"
#include "emplace/report/perfetto.hpp"
#include "emplace/simulate/engine.hpp"
#include "result_json.hpp"

namespace emplace::app {

namespace {

struct Arguments {
  std::string problem, placement, trace;
  GraphArguments graph;
  ScheduleArgument schedule;
  bool json = false;
};

void print_tables(const Problem& problem, const Placement& placement, const Outcome& outcome, const Usage& usage,
                  Schedule schedule) {
  fmt::print(
      "{}: {} ({} schedule), {}\n", problem.name,
      outcome.timed() ? human_seconds(to_seconds(outcome.makespan)) : "no time", name_of(schedule),
      outcome.feasible() ? "feasible" : "not feasible: " + reason_text(problem, outcome, placement.device, usage));
  if (!outcome.timed()) return;
  const auto share = [&](Ticks busy) {
    return fmt::format("{:.1f} %", 100.0 * static_cast<double>(busy) / static_cast<double>(outcome.makespan));
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
                         const Timeline& timeline) {
  if (timeline.op_end.empty()) {
    log_warning("no trace is written: the placement cannot run");
    return;
  }
  const TraceSummary trace = write_trace_file(problem, placement, timeline, arguments.trace);
  if (trace.left_out() > 0)
    log_warning("{}: left out of the trace: {} slices, {} arrows, {} memory levels", arguments.trace, trace.slices_left,
                trace.arrows_left, trace.levels_left);
}

ExitCode run_simulate(const Arguments& arguments) {
  const Problem problem = load_problem_and_warn(arguments.problem, arguments.graph);
  const auto [placement, schedule] = read_placement_and_warn(arguments.placement, problem, arguments.schedule);
  const auto engine = make_exact_engine(problem, schedule);
  Usage usage;
  Timeline timeline;
  const Outcome outcome =
      engine->evaluate(placement, {.usage = &usage, .timeline = arguments.trace.empty() ? nullptr : &timeline});
  if (!arguments.trace.empty()) write_trace_and_say(arguments, problem, placement, timeline);
  if (arguments.json) {
    Json json = to_json(problem, outcome, usage);
    if (!outcome.feasible()) json["reason"] = reason_text(problem, outcome, placement.device, usage);
    print_json(json);
  } else {
    print_tables(problem, placement, outcome, usage, schedule);
  }
  return ExitCode::done;
}

}  // namespace

Action add_simulate(CLI::App& cli) {
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("problem", arguments->problem,
                 "Problem JSON, or GRAPH@MACHINE with GRAPH a model file or zoo:NAME?key=value")
      ->required();
  cli.add_option("placement", arguments->placement, "Placement JSON")->required();
  cli.add_option("--trace", arguments->trace, "Write the step as trace events here, for ui.perfetto.dev");
  arguments->schedule.add(cli);
  arguments->graph.add(cli);
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  return [arguments](World*) { return run_simulate(*arguments); };
}

}  // namespace emplace::app
