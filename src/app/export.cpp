// emplace export PLACEMENT --for TARGET --model FILE -o FILE
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <span>

#include "app/command.hpp"
#include "app/plan_cost.hpp"
#include "app/result_json.hpp"
#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "deploy/device_names.hpp"
#include "deploy/exporter.hpp"
#include "emplace/machine/machine.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/run/run_folder.hpp"
#include "formats/writers.hpp"

namespace emplace::app {

namespace export_command {

struct Arguments {
  std::string placement, target, model, problem, output;
  std::vector<std::string> renames;
  GraphArguments graph;
  bool json = false;
};

constexpr const char* export_help =
    "Give --batch, --shape, --training and --fuse as they were when the placement was made; a run's folder has them, "
    "and\n"
    "the model too. Ops that were folded away before placing get the device of a neighbour; ops without a device are\n"
    "listed. Where frameworks run ops of a training step on other devices than the placement, both times are "
    "simulated\n"
    "and said before a file is written.\n\n"
    "onnx        FILE.onnx with ONNX Runtime's layer_ann in each node's metadata, FILE.segments.json and a model for "
    "each\n"
    "            run of ops on one device (FILE.0.cpu.onnx, ...), at most 1000; a check proves that these models "
    "together\n"
    "            equal the model\n"
    "openvino    the IR with each layer's device as user data \"affinity\"; launch/run-openvino.py runs it\n"
    "tensorflow  the GraphDef, binary or text, with device strings\n"
    "pytorch     a device_map by module, and where modules are split the device of each op and the points at which "
    "to\n"
    "            cut the graph, for ONNX models that PyTorch exported\n"
    "json        the device of each op of the model\n\n"
    "  emplace export runs/mine --for onnx -o placed.onnx\n"
    "  emplace export best.json --for openvino --model model.xml --rename gpu:0=GPU.1 -o placed.xml";

// The placement's file, the model that it places, and the options with which the model became the problem.
struct Placed {
  std::string file;
  std::string model;
  source::SourceOptions source;
  std::string problem;  // the problem as the run's recipe names it; "" if the placement is not of a run
  Objective objective = Objective::step;
  TaskConstraints constraints = {{}, {}};  // of the run
};

// The recipe of the run in this folder; none if it is not a run's folder.
std::optional<experiment::Recipe> recipe_of(const std::string& folder) {
  if (!file_exists(folder + "/config.toml") || !file_exists(folder + "/checkpoint.h5")) return {};
  return experiment::make_recipe(experiment::RunFolder::config_of(folder));
}

// The number of the run's problem that this file of its folder places; none for other files.
std::optional<std::size_t> problem_of(const std::string& file, std::size_t problems) {
  const std::string name = std::filesystem::path(file).filename().string();
  for (std::size_t problem = 0; problem < problems; ++problem)
    if (name == experiment::best_placement_file(problem, problems)) return problem;
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
  const std::optional<experiment::Recipe> recipe = recipe_of(folder);
  if (is_folder && !recipe)
    throw InputError(folder, "is not a run's folder: it has no config.toml with a checkpoint.h5");
  if (recipe) {
    const std::vector<std::string> sources = recipe->sources();
    if (is_folder && sources.size() > 1)
      throw InputError(folder, "holds placements of {} problems; name one: {}/best.0.placement.json to best.{}",
                       sources.size(), folder, sources.size() - 1);
    const auto problem = problem_of(placed.file, sources.size());
    if (problem) {
      placed.problem = sources[*problem];
      placed.constraints = recipe->constraints();
    }
    placed.objective = objective_of(recipe->options.objective, recipe->place);
    if (problem && source::is_graph_at_machine(sources[*problem])) {
      if (const char* given = arguments.graph.given(); given != nullptr)
        throw InputError(given,
                         "cannot be given here: {}/config.toml has the options with which the model became the problem",
                         folder);
      placed.source = recipe->source;
      if (placed.model.empty()) placed.model = sources[*problem].substr(0, sources[*problem].rfind('@'));
    }
  }
  if (placed.model.empty())
    throw InputError("--model", "is missing: give the model that the placement is of{}",
                     recipe ? fmt::format(", which {}/config.toml does not name", folder) : "");
  return placed;
}

// Names of placed ops that the model's file does not have: all of them, those of shared weights, and those of the
// training step.
struct Added {
  std::vector<std::string> names, shared, of_training;
};

Added added_ops(const deploy::ModelPlacement& placement) {
  Added added;
  for (const OpId op : placement.not_in_model()) {
    const GraphOp& graph_op = placement.passed.graph.ops[op.index()];
    added.names.push_back(graph_op.name);
    (graph_op.type == "Variable" ? added.shared : added.of_training).push_back(graph_op.name);
  }
  return added;
}

struct Counts {
  std::size_t placed = 0, follows = 0;
  std::vector<std::string> not_placed;
};

Counts count(const deploy::ModelPlacement& placement) {
  Counts counts;
  for (std::size_t i = 0; i < placement.reason_of_op.size(); ++i) switch (placement.reason_of_op[i]) {
      case deploy::ModelPlacement::Reason::placed: ++counts.placed; break;
      case deploy::ModelPlacement::Reason::follows: ++counts.follows; break;
      case deploy::ModelPlacement::Reason::none: counts.not_placed.push_back(placement.graph.ops[i].name); break;
    }
  return counts;
}

void print_text(const deploy::ModelPlacement& placement, const deploy::Exported& exported, const PlanCost& cost) {
  const Counts counts = count(placement);
  fmt::print("{}: {} of {} as placed", exported.files.front(), counts.placed,
             deploy::counted(placement.graph.ops.size(), "op"));
  if (counts.follows > 0) fmt::print(", {} that were folded away follow their neighbours", counts.follows);
  fmt::print("\n");
  constexpr std::size_t most_files = 10;
  for (std::size_t i = 1; i < std::min(exported.files.size(), most_files); ++i) fmt::print("{}\n", exported.files[i]);
  if (exported.files.size() > most_files)
    fmt::print("and {} more\n", deploy::counted(exported.files.size() - most_files, "file"));
  if (!counts.not_placed.empty())
    fmt::print("without a device, for nothing says where: {}\n", deploy::listed(counts.not_placed));
  const Added added = added_ops(placement);
  const auto print_added = [](const std::vector<std::string>& names, const char* what) {
    if (!names.empty()) fmt::print("{} {}: {}\n", deploy::counted(names.size(), "op"), what, deploy::listed(names));
  };
  print_added(added.shared, "placed but not in the model (weights or constants that several ops read)");
  print_added(added.of_training, "placed but not in the model (of the training step)");
  print_added(cost.moved, "of these on another device than their op of the model, with which frameworks run them");
  for (const std::string& note : exported.notes) fmt::print("{}\n", note);
}

Json to_json(const Arguments& arguments, const deploy::ModelPlacement& placement, const deploy::Exported& exported,
             const PlanCost& cost) {
  const Counts counts = count(placement);
  const Added added = added_ops(placement);
  return {{"for", arguments.target},           {"model", placement.model},    {"files", exported.files},
          {"ops", placement.graph.ops.size()}, {"placed", counts.placed},     {"follows", counts.follows},
          {"not_placed", counts.not_placed},   {"not_in_model", added.names}, {"not_with_their_op", cost.moved},
          {"plan", app::to_json(cost)},        {"notes", exported.notes}};
}

// The devices of the machine for which the run placed. Empty if the placement is not of a run, or if the files of its
// problem cannot be read any more.
std::vector<std::string> devices_of_machine(const Placed& placed) {
  std::vector<std::string> names;
  if (placed.problem.empty()) return names;
  try {
    const auto take = [&](const auto& devices) {
      for (const auto& device : devices) names.push_back(device.name);
    };
    if (source::is_graph_at_machine(placed.problem))
      take(machine::load_machine(placed.problem.substr(placed.problem.rfind('@') + 1)).devices);
    else
      take(source::load_problem(placed.problem, placed.source).problem.devices);
  } catch (const std::runtime_error&) {  // InputError and EnvironmentError
    names.clear();
  }
  return names;
}

// Reports renames of devices that no op is on: a warning if the machine has no such device. If the machine has it,
// nothing is reported, because the same set of renames may be used for many placements.
void say_what_is_not_renamed(const std::map<std::string, std::string>& renamed, const deploy::ModelPlacement& placement,
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
      log_info("--rename: no op is on the device {}; there are ops on {}", quote(device), deploy::listed(used));
    else if (!has(devices, device))
      log_warning("--rename: the machine has no device {}{}", quote(device), did_you_mean(device, devices));
}

// The first SIGINT or SIGTERM requests a stop, which is found between two files; the second ends the program at once.
void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { request_stop(); };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

ExitCode run_export(const Arguments& arguments) {
  const deploy::ExportEntry& exporter = find_entry(deploy::exporters(), arguments.target, "target", "--for");
  const auto renamed = deploy::parse_renames(arguments.renames);
  const Placed placed = find(arguments);
  refuse_overwriting(arguments.output, {parent_folder(placed.file)});
  if (exporter.needs_file && placed.model.starts_with("zoo:"))
    throw InputError(placed.model,
                     "is built by the program and has no file that --for {} could copy; --for json has the device "
                     "of each op",
                     arguments.target);
  const deploy::ModelPlacement placement = deploy::read_model_placement(placed.model, placed.source, placed.file);
  placement.refuse_to_replace(std::span(&arguments.output, 1));
  say_what_is_not_renamed(renamed, placement, placed);
  const PlanCost cost = cost_of_plan(placement, placed.source,
                                     {.source = arguments.problem.empty() ? placed.problem : arguments.problem,
                                      .is_given = !arguments.problem.empty(),
                                      .objective = placed.objective,
                                      .constraints = placed.constraints});
  say(cost);
  stop_on_signals();
  deploy::Exported exported;
  try {
    exported = exporter.write({placement, renamed, arguments.output, stop_requested});
  } catch (const formats::WritingStopped&) {
    log_warning("stopped on request; the files written so far were removed");
    return ExitCode::interrupted;
  }
  if (arguments.json)
    print_json(to_json(arguments, placement, exported, cost));
  else
    print_text(placement, exported, cost);
  return ExitCode::done;
}

}  // namespace export_command

Action add_export(CommandLine& cli) {
  using namespace export_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("placement", arguments->placement,
                 "Placement JSON, or the folder of a run, whose best placement is exported")
      .type_name("PLACEMENT")
      .required();
  cli.add_option("--for", arguments->target, "The framework that will read it")
      .type_name(join(entry_names(deploy::exporters()), "|"))
      .required();
  cli.add_option("--model", arguments->model, "Model file that was placed; not needed for a run's folder")
      .type_name("FILE")
      .not_empty();
  cli.add_option(
         "--problem", arguments->problem,
         "Simulate the exported plan on this problem; without it on that of the run, or on the machine that the "
         "placement names")
      .type_name("PROBLEM")
      .not_empty();
  cli.add_option("-o,--output", arguments->output, "File to write").type_name("FILE").required().not_empty();
  cli.add_option("--rename", arguments->renames,
                 "The framework's name of a device, for example gpu:0=GPU.1; may be repeated")
      .type_name("DEVICE=NAME")
      .one_value();
  cli.add_flag("--json", arguments->json, "Print the files and what could not be placed as one JSON object");
  arguments->graph.add(cli);
  cli.footer(export_help);
  return [arguments](dist::World*) { return run_export(*arguments); };
}

}  // namespace emplace::app
