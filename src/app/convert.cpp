// emplace convert GRAPH -o FILE: .dot, .onnx, .json
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "app/command.hpp"
#include "app/result_json.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cost/lower.hpp"
#include "deploy/model_placement.hpp"
#include "emplace/formats/problem_json.hpp"
#include "formats/writers.hpp"

namespace emplace::app {

namespace convert_command {

struct Arguments {
  std::string graph, output, machine, placement;
  std::string clusters;
  bool as_is = false;
  GraphArguments options;
};

// For each op of the file: the device of the op that it became, or "" if a pass removed it.
std::vector<std::string> devices_in_file(const deploy::ModelPlacement& placed) {
  std::vector<std::string> devices = placed.device_of_op;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (placed.reason_of_op[i] != deploy::ModelPlacement::Reason::placed) devices[i].clear();
  return devices;
}

formats::DotOptions::Clusters clusters_of(const std::string& name) {
  using Clusters = formats::DotOptions::Clusters;
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
  formats::DotOptions options;
  options.clusters = clusters_of(arguments.clusters);
  const source::SourceOptions source = arguments.options.options();
  if (!arguments.placement.empty()) {
    const deploy::ModelPlacement placed = deploy::read_model_placement(arguments.graph, source, arguments.placement);
    options.device_of_op = arguments.as_is ? devices_in_file(placed) : placed.device_of_placed;
    write_output(arguments.output, formats::write_dot(arguments.as_is ? placed.graph : placed.passed.graph, options));
    return;
  }
  const Graph file = source::load_graph(arguments.graph, source.read);
  write_output(arguments.output,
               formats::write_dot(
                   arguments.as_is ? file : cost::apply_passes(file, source.roofline, arguments.graph).graph, options));
}

void convert_to_onnx(const Arguments& arguments) {
  if (!arguments.machine.empty()) throw InputError("--machine", "is for .json; a .onnx file needs none");
  if (arguments.placement.empty())
    throw InputError(arguments.output, "needs --placement FILE: an ONNX file is written with the placement in it");
  if (arguments.graph.starts_with("zoo:"))
    throw InputError(arguments.graph, "is not an ONNX model; only ONNX models can be written as ONNX");
  const deploy::ModelPlacement placed =
      deploy::read_model_placement(arguments.graph, arguments.options.options(), arguments.placement);
  formats::OnnxAnnotations annotations{.device_of_node = devices_in_file(placed)};
  const std::vector<std::string>& devices = annotations.device_of_node;
  if (!placed.problem.empty()) annotations.metadata.emplace_back("emplace.problem", placed.problem);
  if (!placed.schedule.empty()) annotations.metadata.emplace_back("emplace.schedule", placed.schedule);
  for (const std::string& device : std::set<std::string>(devices.begin(), devices.end())) {
    const auto nodes = std::count(devices.begin(), devices.end(), device);
    annotations.metadata.emplace_back(device.empty() ? "emplace.not_placed" : "emplace.device." + device,
                                      fmt::format("{} {}", nodes, nodes == 1 ? "node" : "nodes"));
  }
  formats::write_annotated_onnx(arguments.graph, arguments.output, annotations);
}

void convert_to_json(const Arguments& arguments) {
  if (arguments.machine.empty())
    throw InputError(arguments.output, "needs --machine MACHINE: a .json file is a problem, which has costs");
  if (!arguments.placement.empty()) throw InputError("--placement", "is for .dot and .onnx; a problem holds none");
  const source::LoadedProblem loaded =
      source::load_problem(arguments.graph, arguments.machine, arguments.options.options());
  for (const std::string& warning : loaded.warnings) log_warning("{}", warning);
  write_output(arguments.output, formats::write_problem_json(loaded.problem));
}

ExitCode run_convert(const Arguments& arguments) {
  refuse_overwriting(arguments.output, {arguments.graph, arguments.placement, arguments.machine});
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

}  // namespace convert_command

Action add_convert(CommandLine& cli) {
  using namespace convert_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("graph", arguments->graph, "Model file, also FILE?key=value, or zoo:NAME?key=value")
      .type_name("GRAPH")
      .required();
  cli.add_option("-o,--output", arguments->output, "FILE.dot, FILE.onnx or FILE.json: the ending selects the format")
      .type_name("FILE")
      .required()
      .not_empty();
  cli.add_option("--placement", arguments->placement,
                 "Placement JSON of this model: colours ops by device in .dot, annotates nodes in .onnx")
      .type_name("PLACEMENT")
      .not_empty();
  cli.add_option("--machine", arguments->machine, "For .json: machine preset or TOML file").type_name("MACHINE");
  cli.add_option(
         "--clusters", arguments->clusters,
         "For .dot, which ops are drawn together: layer, colocation, none, or auto (the default): layers where the "
         "model names any, else co-location groups")
      .type_name("layer|colocation|none|auto");
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
      "Give --batch, --shape and --training as they were when the placement was made.\n\n"
      "Examples:\n"
      "  emplace convert model.onnx --placement best.json -o model.dot\n"
      "  emplace convert model.onnx --machine k40x2 -o problem.json");
  return [arguments](dist::World*) { return run_convert(*arguments); };
}

}  // namespace emplace::app
