// emplace cost GRAPH MACHINE -o problem.json
#include <fmt/core.h>

#include <memory>

#include "command.hpp"
#include "emplace/base/log.hpp"
#include "emplace/base/text.hpp"
#include "emplace/cost/lower.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/search/bound.hpp"
#include "result_json.hpp"

namespace emplace::app {

namespace {

struct Arguments {
  std::string graph, machine, output;
  GraphArguments options;
  bool json = false;
};

ExitCode run_cost(const Arguments& arguments) {
  if (arguments.json && arguments.output.empty())
    throw InputError("--json", "needs -o FILE, since the problem itself would go to standard output");
  const LoadedProblem loaded = load_problem(arguments.graph, arguments.machine, arguments.options.options());
  for (const std::string& warning : loaded.warnings) log_warning("{}", warning);
  const Problem& problem = loaded.problem;
  write_output(arguments.output, write_problem_json(problem));
  if (arguments.output.empty()) return ExitCode::done;

  std::vector<Ticks> work(problem.device_count(), 0);
  std::vector<std::size_t> runnable(problem.device_count(), 0);
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    for (std::size_t d = 0; d < problem.device_count(); ++d)
      if (problem.can_run(OpId{op}, DeviceId{d})) {
        work[d] += problem.time(OpId{op}, DeviceId{d});
        ++runnable[d];
      }
  if (arguments.json) {
    Json json = {{"problem", problem.name}, {"ops", problem.op_count()}, {"tensors", problem.tensor_count()}};
    json["devices"] = Json::array();
    for (std::size_t d = 0; d < problem.device_count(); ++d)
      json["devices"].push_back(
          {{"name", problem.devices[d].name}, {"ops", runnable[d]}, {"seconds", to_seconds(work[d])}});
    json["warnings"] = loaded.warnings;
    print_json(json);
    return ExitCode::done;
  }
  fmt::print("{}: {} ops, {} tensors, written to {}\n\n", problem.name, problem.op_count(), problem.tensor_count(),
             arguments.output);
  TextTable table({"device", "can run", "all of that"});
  for (std::size_t d = 0; d < problem.device_count(); ++d)
    table.add({problem.devices[d].name, fmt::format("{} ops", runnable[d]), human_seconds(to_seconds(work[d]))});
  fmt::print("{}", table.str());
  return ExitCode::done;
}

}  // namespace

Action add_cost(CLI::App& cli) {
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("graph", arguments->graph, "Model file or zoo:NAME?key=value")->required();
  cli.add_option("machine", arguments->machine, "Machine preset (`emplace list machines`) or TOML file")->required();
  cli.add_option("-o,--output", arguments->output, "Write the problem JSON here; standard output without it");
  arguments->options.add(cli);
  cli.add_flag("--json", arguments->json, "Print a summary as one JSON object (needs -o)");
  return [arguments](World*) { return run_cost(*arguments); };
}

}  // namespace emplace::app
