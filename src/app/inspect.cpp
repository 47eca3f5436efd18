// emplace inspect FILE: graph, problem (GRAPH@MACHINE too), placement, machine, checkpoint or run folder
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "app/command.hpp"
#include "app/inspect_checkpoint.hpp"
#include "app/inspect_language.hpp"
#include "app/inspect_machine.hpp"
#include "app/result_json.hpp"
#include "app/serving.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cost/lower.hpp"
#include "cost/unsized.hpp"
#include "emplace/machine/machine.hpp"
#include "evaluate/cached/cached_evaluator.hpp"
#include "formats/json/json_peek.hpp"
#include "formats/json/placement_devices.hpp"
#include "formats/workload/workload.hpp"
#include "graph/ops/inputs.hpp"
#include "graph/ops/op_table.hpp"
#include "serving/cluster_json.hpp"

namespace emplace::app {

namespace inspect_command {

struct Arguments {
  std::string file;
  GraphArguments graph;
  bool names = false, json = false;
};

// What is not a problem has no devices and ops to list.
void refuse_names(const Arguments& arguments, std::string_view kind) {
  if (arguments.names) throw InputError("--names", "is for problems; {} is a {}", quote(arguments.file), kind);
}

void print_pairs(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::size_t width = 0;
  for (const auto& [name, value] : pairs) width = std::max(width, name.size());
  for (const auto& [name, value] : pairs) fmt::print("{:<{}}  {}\n", name, width, value);
}

Json statistics_json(const GraphStatistics& s) {
  Json uncosted = Json::object();
  for (const auto& [type, count] : s.uncosted_ops) uncosted[type] = count;
  Json by_class = Json::object();
  for (const auto& [cls, flops] : s.flops_by_class) by_class[name_of(cls)] = flops;
  return {{"ops", s.ops},
          {"edges", s.edges},
          {"tensors", s.tensors},
          {"parameters", s.parameters},
          {"weights", s.weights},
          {"flops", s.flops},
          {"flops_by_class", by_class},
          {"bytes", s.bytes},
          {"static_tensors", s.static_tensors},
          {"uncosted_ops", uncosted},
          {"uncosted_bytes", s.uncosted_bytes}};
}

std::string uncosted_text(const GraphStatistics& s) {
  if (s.uncosted_ops.empty()) return "none";
  std::vector<std::string> parts;
  std::size_t total = 0;
  for (const auto& [type, count] : s.uncosted_ops) {
    parts.push_back(fmt::format("{} {}", count, quote(type)));
    total += count;
  }
  const auto percent = [](auto part, auto whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  return fmt::format("{} ({:.1f} % of the ops, {:.1f} % of the memory traffic; only this traffic gives their times)",
                     join(parts, ", "), percent(total, s.ops), percent(s.uncosted_bytes, s.bytes));
}

// Sizes by dimension, null where one is not fixed; null without a known rank.
Json sizes_json(const Shape& shape) {
  if (!shape.ranked) return nullptr;
  Json sizes = Json::array();
  for (const std::int64_t size : shape.dims) sizes.push_back(size == Shape::unknown_dimension ? Json() : Json(size));
  return sizes;
}

Json inputs_json(const Graph& graph) {
  Json list = Json::array();
  for (const auto& [name, tensor] : inputs_of(graph))
    list.push_back({{"name", name}, {"type", name_of(tensor->dtype)}, {"shape", sizes_json(tensor->shape)}});
  return list;
}

void print_inputs(const Graph& graph) {
  constexpr std::size_t shown = 20;
  const std::vector<GraphInput> inputs = inputs_of(graph);
  if (inputs.empty()) {
    fmt::print("inputs: none\n\n");
    return;
  }
  TextTable table({"input", "type", "shape"});
  for (std::size_t i = 0; i < std::min(inputs.size(), shown); ++i)
    table.add({printable(inputs[i].name), name_of(inputs[i].tensor->dtype), inputs[i].tensor->shape.str()});
  fmt::print("{}", table.str());
  if (inputs.size() > shown) fmt::print("and {} more inputs\n", inputs.size() - shown);
  fmt::print("\n");
}

void inspect_graph(const Arguments& arguments) {
  refuse_names(arguments, "graph");
  const source::SourceOptions options = arguments.graph.options();
  const Graph graph = source::load_graph(arguments.file, options.read);
  const GraphStatistics file = statistics(graph);
  const PassResult passed = cost::apply_passes(graph, options.roofline, arguments.file);
  const GraphStatistics lowered = statistics(passed.graph);
  if (arguments.json) {
    Json json = {{"kind", "graph"}, {"name", graph.name}};
    json.update(statistics_json(file));
    if (file.cut_edges > 0) json["cut_edges"] = file.cut_edges;
    json["inputs"] = inputs_json(graph);
    if (const auto model = language_model_of(arguments.file)) json["language_model"] = language_json(*model, graph);
    json["lowered"] = statistics_json(lowered);
    print_json(json);
    return;
  }
  fmt::print("graph {}\n\n", quote(graph.name));
  if (const auto model = language_model_of(arguments.file)) print_language_model(*model, graph);
  print_inputs(graph);
  TextTable table({"", "as the file has it", "after passes"});
  const auto row = [&](const std::string& name, const auto& text) { table.add({name, text(file), text(lowered)}); };
  using S = const GraphStatistics&;
  row("ops", [](S s) { return fmt::format("{}", s.ops); });
  row("edges", [](S s) { return fmt::format("{}", s.edges); });
  if (file.cut_edges > 0) row("of these cut to open loops", [](S s) { return fmt::format("{}", s.cut_edges); });
  row("tensors", [](S s) { return fmt::format("{}", s.tensors); });
  row("of these of fixed size", [](S s) { return fmt::format("{}", s.static_tensors); });
  row("parameters", [](S s) { return human_count(static_cast<double>(s.parameters)); });
  // Tensors of unknown size count nothing.
  const auto at_least = [](S s) { return s.unknown_tensors.empty() ? "" : "at least "; };
  row("FLOPs", [&](S s) { return at_least(s) + human_count(s.flops); });
  row("memory traffic", [&](S s) { return at_least(s) + human_bytes(s.bytes); });
  fmt::print("{}\nop types without a cost: {}\n", table.str(), uncosted_text(lowered));
  if (const std::string removed = cost::removed_ops(passed.became); !removed.empty()) fmt::print("{}\n", removed);
  if (!lowered.unknown_tensors.empty()) {
    constexpr std::size_t shown = 5;
    std::vector<std::string> names;
    for (const std::string& name : lowered.unknown_tensors)
      if (names.size() < shown) names.push_back(quote(name));
    fmt::print("{} tensors without a fixed size, among them {}; {}\n", lowered.unknown_tensors.size(),
               join(names, ", "), cost::advice_on_sizes(passed.graph));
  }
}

void inspect_problem(const Arguments& arguments, const Problem& problem) {
  if (!source::is_graph_at_machine(arguments.file)) arguments.graph.refuse(arguments.file, "problem");
  const std::string digest = evaluate::problem_digest(problem);
  if (arguments.json) {
    Json json = {{"kind", "problem"},
                 {"name", problem.name},
                 {"devices", problem.device_count()},
                 {"ops", problem.op_count()},
                 {"tensors", problem.tensor_count()}};
    if (arguments.names) {
      json["digest"] = digest;
      json["device_names"] = Json::array();
      for (const Device& device : problem.devices) json["device_names"].push_back(device.name);
      json["op_names"] = problem.op_names;
    }
    print_json(json);
    return;
  }
  Bytes resident = 0;
  Bytes moved = 0;
  for (const Bytes bytes : problem.resident) resident += bytes;
  for (const Bytes bytes : problem.tensor_bytes) moved += bytes;
  print_pairs({{"problem", quote(problem.name)},
               {"digest", digest},
               {"devices", fmt::format("{}", problem.device_count())},
               {"channels", fmt::format("{}", problem.channels.size())},
               {"ops", fmt::format("{}", problem.op_count())},
               {"tensors", fmt::format("{} ({})", problem.tensor_count(), human_bytes(moved))},
               {"edges", fmt::format("{}", problem.edge_count())},
               {"co-location groups", fmt::format("{}", problem.group_names.size())},
               {"resident", human_bytes(resident)}});
  if (!arguments.names) return;
  fmt::print("\n");
  for (const Device& device : problem.devices) fmt::print("device  {}\n", quote(device.name));
  for (const std::string& op : problem.op_names) fmt::print("op  {}\n", quote(op));
}

void inspect_placement(const Arguments& arguments, std::string_view text) {
  arguments.graph.refuse(arguments.file, "placement");
  refuse_names(arguments, "placement");
  const formats::PlacementContents placement = formats::placement_contents(text, arguments.file);
  const std::string schedule(placement.schedule ? name_of(*placement.schedule) : "");
  if (arguments.json) {
    print_json({{"kind", "placement"},
                {"problem", placement.problem},
                {"ops", placement.ops},
                {"schedule", schedule.empty() ? Json() : Json(schedule)},
                {"ops_by_device", placement.ops_by_device}});
    return;
  }
  print_pairs({{"placement of", quote(placement.problem)},
               {"ops", fmt::format("{}", placement.ops)},
               {"schedule", schedule.empty() ? "not given" : schedule},
               {"order", placement.ordered == 0 ? "not given" : fmt::format("of {} ops", placement.ordered)}});
  for (const auto& [device, ops_there] : placement.ops_by_device)
    fmt::print("  {} ops on {}\n", ops_there, quote(device));
}

void inspect_machine_of(const Arguments& arguments) {
  arguments.graph.refuse(arguments.file, "machine");
  refuse_names(arguments, "machine");
  inspect_machine(machine::load_machine(arguments.file), arguments.json);
}

ExitCode run_inspect(const Arguments& arguments) {
  const std::string& file = arguments.file;
  if (source::is_graph_at_machine(file)) {
    inspect_problem(arguments, load_problem_and_warn(file, arguments.graph));
    return ExitCode::done;
  }
  if (file.starts_with("zoo:") || source::file_of_model(file) != file || formats::model_file(file) != file) {
    inspect_graph(arguments);
    return ExitCode::done;
  }
  if (const auto address = formats::parse_problem_address(file); address && address->file != file) {
    inspect_problem(arguments, formats::read_problem_file(*address));
    return ExitCode::done;
  }
  if (std::filesystem::is_directory(file)) {
    if (!file_exists(file + "/config.toml"))
      throw InputError(file, "is a folder without a config.toml, so not a run folder");
    const std::string status =
        file_exists(file + "/status") ? split(read_file(file + "/status", 4096), '\n').front() : "unknown";
    arguments.graph.refuse(file, "run");
    refuse_names(arguments, "run");
    inspect_checkpoint(file, experiment::load_newest_checkpoint(file), status, arguments.json);
    return ExitCode::done;
  }
  if (!file_exists(file) && file.find('/') == std::string::npos && file.find('.') == std::string::npos) {
    inspect_machine_of(arguments);  // a preset's name
    return ExitCode::done;
  }
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension == ".toml") {
    inspect_machine_of(arguments);
  } else if (extension == ".h5" || extension == ".hdf5") {
    arguments.graph.refuse(file, "checkpoint");
    refuse_names(arguments, "checkpoint");
    inspect_checkpoint(file, experiment::load_checkpoint(file), "", arguments.json);
  } else if (extension == ".json" && serving::is_cluster_file(file)) {
    arguments.graph.refuse(file, "cluster");
    refuse_names(arguments, "cluster");
    inspect_cluster(file, arguments.json);
  } else if (extension == ".json") {
    const std::string text = read_file(file);
    const formats::json::TopKeys keys = formats::json::top_keys(text);
    if (keys.model_topology || formats::reader_of(file) != nullptr)
      inspect_graph(arguments);
    else if (keys.format.starts_with("placement/"))
      inspect_placement(arguments, text);
    else
      inspect_problem(arguments, formats::read_problem_text(text, file));  // throws if it is not a problem
  } else if (extension == ".txt") {
    inspect_problem(arguments, formats::read_problem_file({file, {}}));
  } else {
    inspect_graph(arguments);
  }
  return ExitCode::done;
}

}  // namespace inspect_command

Action add_inspect(CommandLine& cli) {
  using namespace inspect_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("file", arguments->file,
                 "Model file, also FILE?key=value, zoo:NAME?key=value, GRAPH@MACHINE, problem, placement, machine, "
                 "checkpoint, or run folder")
      .type_name("SOURCE")
      .required();
  arguments->graph.add(cli);
  cli.add_flag("--names", arguments->names, "Also list the devices and ops of a problem, in its order");
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(
      "Examples:\n"
      "  emplace inspect model.onnx\n"
      "  emplace inspect zoo:bert-base@k40x2\n"
      "  emplace inspect runs/mine");
  return [arguments](dist::World*) { return run_inspect(*arguments); };
}

}  // namespace emplace::app
