// emplace export PLACEMENT --for TARGET --model FILE -o FILE
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <span>

#include "command.hpp"
#include "emplace/base/files.hpp"
#include "emplace/base/log.hpp"
#include "emplace/base/text.hpp"
#include "emplace/deploy/device_names.hpp"
#include "emplace/deploy/exporter.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/run/recipe.hpp"
#include "emplace/run/run_folder.hpp"
#include "result_json.hpp"

namespace emplace::app {

namespace {

struct Arguments {
  std::string placement, target, model, output;
  std::vector<std::string> renames;
  GraphArguments graph;
  bool json = false;
};

constexpr const char* export_help =
    "Give --batch, --shape, --training and --fuse as they were when the placement was made; a run's folder knows them, "
    "and\n"
    "the model too. Ops that were folded away before placing go where their neighbours go; what has no place is "
    "listed.\n\n"
    "onnx        FILE.onnx with ONNX Runtime's layer_ann in each node's metadata, FILE.segments.json and a model for "
    "each\n"
    "            run of ops on one device (FILE.0.cpu.onnx, ...), which together are checked to be the model\n"
    "openvino    the IR with each layer's device as user data \"affinity\"; launch/run-openvino.py compiles it\n"
    "tensorflow  the GraphDef, binary or text, with device strings\n"
    "pytorch     a device_map by module, for ONNX models that PyTorch exported\n"
    "json        the device of each op of the model\n\n"
    "  emplace export runs/mine --for onnx -o placed.onnx\n"
    "  emplace export best.json --for openvino --model model.xml --rename gpu:0=GPU.1 -o placed.xml";

// What was placed: the file, the model, and how that became the problem.
struct Placed {
  std::string file;
  std::string model;
  SourceOptions source;
  std::string problem;  // what a run says that it is of; "" where no run says it
};

// The recipe of the run that the placement is of: PLACEMENT is its folder or lies in it.
std::optional<Recipe> recipe_of(const std::string& folder) {
  if (!file_exists(folder + "/config.toml") || !file_exists(folder + "/checkpoint.h5")) return {};
  return make_recipe(RunFolder::config_of(folder));
}

// Which of the run's problems a file of its folder places; none for other files.
std::optional<std::size_t> problem_of(const std::string& file, std::size_t problems) {
  const std::string name = std::filesystem::path(file).filename().string();
  for (std::size_t problem = 0; problem < problems; ++problem)
    if (name == best_placement_file(problem, problems)) return problem;
  return {};
}

Placed find(const Arguments& arguments) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(arguments.placement, error);
  if (!std::filesystem::exists(arguments.placement, error))
    throw InputError(arguments.placement, "cannot be read: {}", why_unreadable(arguments.placement, ENOENT));
  const std::string folder = is_folder ? arguments.placement : parent_folder(arguments.placement);
  Placed placed{.file = is_folder ? folder + "/best.placement.json" : arguments.placement,
                .model = arguments.model,
                .source = arguments.graph.options(),
                .problem = {}};
  const std::optional<Recipe> recipe = recipe_of(folder);
  if (is_folder && !recipe) throw InputError(folder, "is no run's folder: it has no config.toml with a checkpoint.h5");
  if (recipe) {
    const std::vector<std::string> sources = recipe->sources();
    if (is_folder && sources.size() > 1)
      throw InputError(folder, "holds placements of {} problems; name one: {}/best.0.placement.json to best.{}",
                       sources.size(), folder, sources.size() - 1);
    const auto problem = problem_of(placed.file, sources.size());
    if (problem) placed.problem = sources[*problem];
    if (problem && is_graph_at_machine(sources[*problem])) {
      if (const char* given = arguments.graph.given(); given != nullptr)
        throw InputError(given, "is known: {}/config.toml says how the model became the problem", folder);
      placed.source = recipe->source;
      if (placed.model.empty()) placed.model = sources[*problem].substr(0, sources[*problem].rfind('@'));
    }
  }
  if (placed.model.empty())
    throw InputError("--model", "is wanted: the model that the placement is of{}",
                     recipe ? fmt::format(", which {}/config.toml does not say", folder) : "");
  return placed;
}

// What the model's file has no op for, by what made it, and how much of it would go elsewhere than the op that it
// belongs to, where frameworks put it.
struct Added {
  std::vector<std::string> names, shared, of_training, elsewhere;
};

Added added_ops(const ModelPlacement& placement) {
  Added added;
  for (const OpId op : placement.not_in_model()) {
    const GraphOp& graph_op = placement.passed.graph.ops[op.index()];
    added.names.push_back(graph_op.name);
    (graph_op.type == "Variable" ? added.shared : added.of_training).push_back(graph_op.name);
    if (!graph_op.forward_of.is_none() &&
        placement.device_of_placed[op.index()] != placement.device_of_placed[graph_op.forward_of.index()])
      added.elsewhere.push_back(graph_op.name);
  }
  return added;
}

struct Counts {
  std::size_t placed = 0, follows = 0;
  std::vector<std::string> not_placed;
};

Counts count(const ModelPlacement& placement) {
  Counts counts;
  for (std::size_t i = 0; i < placement.reason_of_op.size(); ++i) switch (placement.reason_of_op[i]) {
      case ModelPlacement::Reason::placed: ++counts.placed; break;
      case ModelPlacement::Reason::follows: ++counts.follows; break;
      case ModelPlacement::Reason::none: counts.not_placed.push_back(placement.graph.ops[i].name); break;
    }
  return counts;
}

void print_text(const ModelPlacement& placement, const Exported& exported) {
  const Counts counts = count(placement);
  fmt::print("{}: {} of {} as placed", exported.files.front(), counts.placed,
             counted(placement.graph.ops.size(), "op"));
  if (counts.follows > 0) fmt::print(", {} that were folded away follow their neighbours", counts.follows);
  fmt::print("\n");
  constexpr std::size_t most_files = 10;
  for (std::size_t i = 1; i < std::min(exported.files.size(), most_files); ++i) fmt::print("{}\n", exported.files[i]);
  if (exported.files.size() > most_files)
    fmt::print("and {} more\n", counted(exported.files.size() - most_files, "file"));
  if (!counts.not_placed.empty())
    fmt::print("without a device, for nothing says where: {}\n", listed(counts.not_placed));
  const Added added = added_ops(placement);
  const auto print_added = [](const std::vector<std::string>& names, const char* what) {
    if (!names.empty()) fmt::print("{} {}: {}\n", counted(names.size(), "op"), what, listed(names));
  };
  print_added(added.shared, "placed and not in the model, for weights or constants that several ops read");
  print_added(added.of_training, "placed and not in the model, of the training step");
  print_added(added.elsewhere, "of these on another device than the op of the model that frameworks put each with");
  for (const std::string& note : exported.notes) fmt::print("{}\n", note);
}

Json to_json(const Arguments& arguments, const ModelPlacement& placement, const Exported& exported) {
  const Counts counts = count(placement);
  const Added added = added_ops(placement);
  return {{"for", arguments.target},
          {"model", placement.model},
          {"files", exported.files},
          {"ops", placement.graph.ops.size()},
          {"placed", counts.placed},
          {"follows", counts.follows},
          {"not_placed", counts.not_placed},
          {"not_in_model", added.names},
          {"not_with_their_op", added.elsewhere},
          {"notes", exported.notes}};
}

// Of the machine that a run placed for; none where no run says which, or where its files are gone.
std::vector<std::string> devices_of_machine(const Placed& placed) {
  std::vector<std::string> names;
  if (placed.problem.empty()) return names;
  try {
    const auto take = [&](const auto& devices) {
      for (const auto& device : devices) names.push_back(device.name);
    };
    if (is_graph_at_machine(placed.problem))
      take(load_machine(placed.problem.substr(placed.problem.rfind('@') + 1)).devices);
    else
      take(load_problem(placed.problem, placed.source).problem.devices);
  } catch (const std::runtime_error&) {  // InputError and EnvironmentError
    names.clear();
  }
  return names;
}

// A device without ops is not renamed anywhere; where the machine has it, one set of names is for all placements.
void say_what_is_not_renamed(const std::map<std::string, std::string>& renamed, const ModelPlacement& placement,
                             const Placed& placed) {
  const auto has = [](const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  std::vector<std::string> unused;
  const std::vector<std::string> used = placement.devices();
  for (const auto& [device, name] : renamed)
    if (!has(used, device)) unused.push_back(device);
  if (unused.empty()) return;
  const std::vector<std::string> devices = devices_of_machine(placed);
  for (const std::string& device : unused)
    if (devices.empty())
      log_info("--rename: no op is on the device {}; there are ops on {}", quote(device), listed(used));
    else if (!has(devices, device))
      log_warning("--rename: the machine has no device {}{}", quote(device), did_you_mean(device, devices));
}

ExitCode run_export(const Arguments& arguments) {
  const ExportEntry& exporter = find_entry(exporters(), arguments.target, "target", "--for");
  const auto renamed = parse_renames(arguments.renames);
  const Placed placed = find(arguments);
  refuse_overwriting(arguments.output, {parent_folder(placed.file)});
  if (exporter.needs_file && placed.model.starts_with("zoo:"))
    throw InputError(placed.model,
                     "is built by the program and has no file that --for {} could copy; --for json has the device "
                     "of each op",
                     arguments.target);
  const ModelPlacement placement = read_model_placement(placed.model, placed.source, placed.file);
  placement.refuse_to_replace(std::span(&arguments.output, 1));
  say_what_is_not_renamed(renamed, placement, placed);
  const Exported exported = exporter.write({placement, renamed, arguments.output});
  if (arguments.json)
    print_json(to_json(arguments, placement, exported));
  else
    print_text(placement, exported);
  return ExitCode::done;
}

}  // namespace

Action add_export(CLI::App& cli) {
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("placement", arguments->placement, "Placement JSON, or the folder of a run, whose best it is")
      ->type_name("PLACEMENT")
      ->required();
  cli.add_option("--for", arguments->target, "The framework that is to read it")
      ->type_name(join(entry_names(exporters()), "|"))
      ->required();
  cli.add_option("--model", arguments->model, "Model file that was placed; a run's folder knows its own")
      ->type_name("FILE")
      ->check(not_empty);
  cli.add_option("-o,--output", arguments->output, "File to write")->type_name("FILE")->required()->check(not_empty);
  cli.add_option("--rename", arguments->renames, "What the framework calls a device, as gpu:0=GPU.1; may be repeated")
      ->type_name("DEVICE=NAME")
      ->allow_extra_args(false);
  cli.add_flag("--json", arguments->json, "Print the files and what could not be placed as one JSON object");
  arguments->graph.add(cli);
  cli.footer(export_help);
  return [arguments](World*) { return run_export(*arguments); };
}

}  // namespace emplace::app
