// emplace convert GRAPH -o FILE: .dot, .onnx, .json
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "command.hpp"
#include "emplace/base/files.hpp"
#include "emplace/base/log.hpp"
#include "emplace/base/text.hpp"
#include "emplace/cost/lower.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/formats/writers.hpp"
#include "emplace/problem/builder.hpp"
#include "result_json.hpp"

namespace emplace::app {

namespace {

struct Arguments {
  std::string graph, output, machine, placement;
  std::string clusters;
  bool as_is = false;
  GraphArguments options;
};

// The graph before and after the passes.
struct Converted {
  Graph file;
  PassResult passed;
};

Converted load(const Arguments& arguments) {
  const SourceOptions options = arguments.options.options();
  Converted converted;
  converted.file = load_graph(arguments.graph, options.read);
  converted.passed = apply_passes(converted.file, options.roofline, arguments.graph);
  return converted;
}

// A Problem with the ops of the graph and the devices that the placement names, to read the placement against: it needs
// no machine.
Problem problem_to_read_against(const Graph& graph, const std::string& text, const std::string& file) {
  std::set<std::string> devices;
  if (const Json json = Json::parse(text, nullptr, false); json.is_object() && json.contains("ops"))
    for (const auto& [op, device] : json["ops"].items())
      if (device.is_string()) devices.insert(device.get<std::string>());
  if (devices.size() > max_devices)
    throw InputError(file, "names {} devices; a machine has at most {}", devices.size(), max_devices);
  if (devices.empty()) devices.insert("none");  // the reader will say what is wrong

  ProblemBuilder builder(graph.name);
  for (const std::string& device : devices) builder.add_device({device, "", no_memory_limit}, file);
  for (const GraphOp& op : graph.ops) {
    OpSpec spec;
    spec.name = op.name;
    spec.seconds.assign(devices.size(), 0);
    builder.add_op(std::move(spec));
  }
  for (const GraphTensor& tensor : graph.tensors)
    if (!tensor.producer.is_none()) builder.add_tensor(tensor.producer, 0, tensor.consumers);
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const OpId before : graph.ops[i].after) builder.add_tensor(before, 0, {OpId{i}});
  return builder.build(file);
}

struct Placed {
  std::vector<std::string> device_of_op;  // of the graph after the passes
  std::string problem;
  std::string schedule;
};

Placed read_placement(const std::string& file, const Graph& graph) {
  const std::string text = read_file(file);
  const Problem problem = problem_to_read_against(graph, text, file);
  const PlacementFile read = read_placement_json(text, file, problem);
  Placed placed;
  for (const std::uint8_t device : read.placement.device) placed.device_of_op.push_back(problem.devices[device].name);
  placed.problem = read.problem_name;
  if (read.schedule) placed.schedule = name_of(*read.schedule);
  return placed;
}

// Of the file's ops: that of the op that each became; "" where it vanished.
std::vector<std::string> devices_in_file(const Converted& converted, const Placed& placed) {
  std::vector<std::string> devices;
  for (const OpId now : converted.passed.became)
    devices.push_back(now.is_none() ? "" : placed.device_of_op[now.index()]);
  return devices;
}

DotOptions::Clusters clusters_of(const std::string& name) {
  using Clusters = DotOptions::Clusters;
  static const std::vector<std::string> choices = {"auto", "layer", "colocation", "none"};
  if (name.empty() || name == "auto") return Clusters::automatic;
  if (name == "layer") return Clusters::layer;
  if (name == "colocation") return Clusters::colocation;
  if (name == "none") return Clusters::none;
  throw InputError("--clusters", "should be one of {}, found {}{}", join(choices, ", "), quote(name),
                   did_you_mean(name, choices));
}

void convert_to_dot(const Arguments& arguments) {
  if (!arguments.machine.empty()) throw InputError("--machine", "is for .json; a .dot file needs none");
  DotOptions options;
  options.clusters = clusters_of(arguments.clusters);
  const Converted converted = load(arguments);
  if (!arguments.placement.empty()) {
    const Placed placed = read_placement(arguments.placement, converted.passed.graph);
    options.device_of_op = arguments.as_is ? devices_in_file(converted, placed) : placed.device_of_op;
  }
  write_output(arguments.output, write_dot(arguments.as_is ? converted.file : converted.passed.graph, options));
}

void convert_to_onnx(const Arguments& arguments) {
  if (!arguments.machine.empty()) throw InputError("--machine", "is for .json; a .onnx file needs none");
  if (arguments.placement.empty())
    throw InputError(arguments.output, "needs --placement FILE: an ONNX file is written with the placement in it");
  if (arguments.graph.starts_with("zoo:"))
    throw InputError(arguments.graph, "is no ONNX model; only one can be written as one");
  const Converted converted = load(arguments);
  const Placed placed = read_placement(arguments.placement, converted.passed.graph);
  const std::vector<std::string> devices = devices_in_file(converted, placed);
  std::vector<std::pair<std::string, std::string>> metadata;
  if (!placed.problem.empty()) metadata.emplace_back("emplace.problem", placed.problem);
  if (!placed.schedule.empty()) metadata.emplace_back("emplace.schedule", placed.schedule);
  for (const std::string& device : std::set<std::string>(devices.begin(), devices.end())) {
    const auto nodes = std::count(devices.begin(), devices.end(), device);
    metadata.emplace_back(device.empty() ? "emplace.not_placed" : "emplace.device." + device,
                          fmt::format("{} {}", nodes, nodes == 1 ? "node" : "nodes"));
  }
  write_annotated_onnx(arguments.graph, arguments.output, devices, metadata);
}

void convert_to_json(const Arguments& arguments) {
  if (arguments.machine.empty())
    throw InputError(arguments.output, "needs --machine MACHINE: a .json file is a problem, which has costs");
  if (!arguments.placement.empty()) throw InputError("--placement", "is for .dot and .onnx; a problem holds none");
  const LoadedProblem loaded = load_problem(arguments.graph, arguments.machine, arguments.options.options());
  for (const std::string& warning : loaded.warnings) log_warning("{}", warning);
  write_output(arguments.output, write_problem_json(loaded.problem));
}

ExitCode run_convert(const Arguments& arguments) {
  const std::string ending = std::filesystem::path(arguments.output).extension().string();
  if (ending != ".dot" && (arguments.as_is || !arguments.clusters.empty()))
    throw InputError(arguments.as_is ? "--as-is" : "--clusters", "is for .dot, found the output {}",
                     quote(arguments.output));
  if (ending == ".dot")
    convert_to_dot(arguments);
  else if (ending == ".onnx")
    convert_to_onnx(arguments);
  else if (ending == ".json")
    convert_to_json(arguments);
  else
    throw InputError(arguments.output, "should end in .dot, .onnx or .json, found the ending {}", quote(ending));
  return ExitCode::done;
}

}  // namespace

Action add_convert(CLI::App& cli) {
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("graph", arguments->graph, "Model file or zoo:NAME?key=value")->required();
  cli.add_option("-o,--output", arguments->output, "FILE.dot, FILE.onnx or FILE.json: the ending says what is written")
      ->required()
      ->check(not_empty);
  cli.add_option("--placement", arguments->placement,
                 "Placement JSON of this model: colours ops by device in .dot, annotates nodes in .onnx")
      ->check(not_empty);
  cli.add_option("--machine", arguments->machine, "For .json: machine preset or TOML file");
  cli.add_option("--clusters", arguments->clusters,
                 "For .dot, what is drawn together: layer, colocation, none, or auto (the default): layers where the "
                 "model names any, else co-location groups");
  cli.add_flag("--as-is", arguments->as_is,
               "For .dot: the graph as the file has it, constants and identities included");
  arguments->options.add(cli);
  cli.footer(
      ".dot   the graph after the passes, for Graphviz: dot -Tsvg FILE.dot > FILE.svg\n"
      ".onnx  a copy of the ONNX model GRAPH, weights included, for Netron: the documentation of each node begins "
      "with\n"
      "       'emplace device: NAME', and the model's metadata count the nodes of each device. Nodes that were folded\n"
      "       away before placing have none. Weights in files beside the model stay there: FILE must be there too.\n"
      ".json  the problem that `emplace cost` makes of GRAPH and MACHINE.\n"
      "Give --batch, --shape and --training as they were when the placement was made.");
  return [arguments](World*) { return run_convert(*arguments); };
}

}  // namespace emplace::app
