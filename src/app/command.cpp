#include "app/command.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>
#include <map>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/shapes.hpp"
#include "base/text.hpp"
#include "doctor/machine.hpp"
#include "emplace/formats/reader.hpp"
#include "experiment/sweep/coordinator.hpp"
#include "experiment/tables/reproduction.hpp"
#include "formats/workload/workload.hpp"

namespace emplace::app {

namespace {

int serve_evaluations(dist::World& world) { return dist::serve(world); }
int serve_pings(dist::World& world) { return dist::answer_pings(world, doctor::program_text()); }
int serve_trials(dist::World& world) {
  experiment::train_trials(world);
  return static_cast<int>(ExitCode::done);
}
int serve_cells(dist::World& world) {
  experiment::make_cells(world);
  return static_cast<int>(ExitCode::done);
}

}  // namespace

std::span<const Command> commands() {
  static const Command list[] = {
      {"auto", "the best placement of a model on a machine, with no method to choose", add_auto, serve_evaluations},
      {"train", "learn a placement, alone or under mpirun", add_train, serve_evaluations},
      {"sweep", "many trainings over a space of recipe keys, alone or under mpirun", add_sweep, serve_trials},
      {"place", "place with a search, or with all of them (best), alone or under mpirun", add_place, serve_evaluations},
      {"fit", "whether and how fast a language model runs on unlike devices, and the line that tells its runtime",
       add_fit},
      {"bound", "a certified lower bound: the step time that no placement can beat", add_bound, nullptr, true},
      {"simulate", "the step time and memory of a placement", add_simulate},
      {"explain", "what takes the time and memory of a placement, and which moves would help", add_explain},
      {"compare", "placements of one problem side by side", add_compare},
      {"cost", "turn a model and a machine into a problem", add_cost},
      {"calibrate", "fit a device's figures to measured op times", add_calibrate},
      {"machine", "describe this host as a machine file: cores, memory, PCIe links, GPUs", add_machine},
      {"convert", "write a model for Graphviz, for Netron with its placement, or as a problem", add_convert},
      {"export", "write a placement in the form that a framework reads: OpenVINO, ONNX, TensorFlow, PyTorch, JSON",
       add_export},
      {"inspect", "describe what a file holds", add_inspect},
      {"reproduce", "a published table, its numbers and ours side by side", add_reproduce, serve_cells},
      {"report", "a page for a browser: a sweep's trials, or what runs learned and found", add_report},
      {"doctor", "whether this machine has what is needed; which inputs of a recipe change nothing", add_doctor,
       serve_pings},
      {"list",
       "recipes, policies, learners, placers, serving-placers, evaluators, strategies, models, machines, tables, "
       "readers, exporters, runtimes, "
       "simulators",
       add_list},
      {"completion", "what bash, zsh and fish need to complete command lines", add_completion},
      {"manual", "all of this as a manual page", add_manual},
  };
  return list;
}

void GraphArguments::add(CommandLine& cli, bool with_fuse) {
  cli.add_option("--batch", batch, "Size of the unknown first dimension of the model's inputs").at_least(1);
  cli.add_option("--shape", shapes, "Size of a graph input, as input=1x3x224x224; may be repeated")
      .type_name("INPUT=SIZES")
      .one_value();
  cli.add_flag("--training", training, "Expand the model to a training step: forward, backward, updates");
  if (with_fuse)
    cli.add_flag("--fuse", fuse,
                 "Fuse element-wise ops into their producers, as runtimes do: one launch, no traffic between");
  cli.add_option("--optimizer", optimizer,
                 "State kept for each parameter, with --training: sgd (default), momentum or adam")
      .type_name("sgd|momentum|adam");
  cli.add_flag("--allow-unsized", allow_unsized,
               "Accept a model with tensors of unknown size at more than 1 % of its ops; they count 0 bytes");
}

source::SourceOptions GraphArguments::options() const {
  if (!optimizer.empty() && !training) throw InputError("--optimizer", "is for --training");
  source::SourceOptions options;
  options.read.batch = batch;
  options.read.shapes = parse_shapes(shapes, "--shape");
  ConfigTable roofline("command line");
  if (training) roofline.set("training", {true, "--training"});
  if (fuse) roofline.set("fuse", {true, "--fuse"});
  if (!optimizer.empty()) roofline.set("optimizer", {optimizer, "--optimizer"});
  if (allow_unsized) roofline.set("allow_unsized", {true, "--allow-unsized"});
  options.roofline = read_options<cost::RooflineOptions>(roofline);
  return options;
}

const char* GraphArguments::given() const {
  return batch                ? "--batch"
         : !shapes.empty()    ? "--shape"
         : training           ? "--training"
         : fuse               ? "--fuse"
         : !optimizer.empty() ? "--optimizer"
         : allow_unsized      ? "--allow-unsized"
                              : nullptr;
}

void GraphArguments::refuse(const std::string& file, const char* kind) const {
  if (const char* option = given(); option != nullptr)
    throw InputError(option, "is for models and GRAPH@MACHINE; {} is read as a {}", quote(file), kind);
}

void ConstraintArguments::add(CommandLine& cli) {
  cli.add_option("--pin", constraints.pin,
                 "Ops or modules that must run on a device, as 'encoder/*=gpu:0'; may be repeated")
      .type_name("PATTERN=DEVICE")
      .one_value();
  cli.add_option("--forbid", constraints.forbid,
                 "A device that no op may use, or the ops that may not use it, as 'decoder/*=gpu:1'; may be repeated")
      .type_name("[PATTERN=]DEVICE")
      .one_value();
  cli.add_option("--together", constraints.together,
                 "Modules whose ops must share a device, as 'encoder/layer.*'; may be repeated")
      .type_name("PATTERN")
      .one_value();
  cli.add_option("--max-cuts", constraints.max_cuts,
                 "At most this number of tensors may be sent between devices; each counts once, to however many "
                 "devices it is sent. It is not written into the placement: other commands do not check it")
      .at_least(0);
}

void ScheduleArgument::add(CommandLine& cli) {
  cli.add_option("--schedule", name, "In which order a device runs ready ops: fifo (default), priority, in-order")
      .type_name("fifo|priority|in-order");
}

std::optional<Schedule> ScheduleArgument::get() const {
  if (name.empty()) return std::nullopt;
  return schedule_of(name, "--schedule");
}

void refuse_equal_outputs(std::initializer_list<std::pair<const char*, std::string>> outputs) {
  std::map<std::string, const char*> named;
  for (const auto& [option, file] : outputs) {
    if (file.empty()) continue;
    if (const auto [other, is_new] = named.emplace(file, option); !is_new)
      throw InputError(option, "and {} name one file, {}: one would replace the other", other->second, quote(file));
  }
}

void refuse_overwriting(const std::string& output, const std::vector<std::string>& inputs) {
  std::error_code none;  // set if there is no such file
  if (!std::filesystem::exists(output, none)) return;
  for (const std::string& input : inputs) {
    const std::size_t hash = input.rfind('#'), at = input.rfind('@');
    std::vector<std::string> named = {input};
    if (hash != std::string::npos) named.push_back(input.substr(0, hash));
    if (at != std::string::npos) named.insert(named.end(), {input.substr(0, at), input.substr(at + 1)});
    for (const char* kept :
         {"config.toml", "checkpoint.h5", "checkpoint.previous.h5", "metrics.csv", "log.txt", "status"})
      if (std::filesystem::equivalent(input + "/" + kept, output, none))
        throw InputError(output, "is a file of the run {}, and would be lost", input);
    for (const std::string& name : named) {
      if (!std::filesystem::is_regular_file(name, none)) continue;
      for (const std::string& file : formats::files_of_model(name))
        if (std::filesystem::equivalent(file, output, none))
          throw InputError(output, "is read by the same command, and would be lost");
    }
  }
}

void write_output(const std::string& file, const std::string& text) {
  if (!file.empty()) {
    write_file(file, text);
    return;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw EnvironmentError("standard output cannot be written");
}

source::LoadedProblem load_all_and_warn(const std::string& source, const GraphArguments& graph) {
  if (source::is_problem_file(source)) graph.refuse(source, "problem");
  source::LoadedProblem loaded = source::load_problem(source, graph.options());
  for (const std::string& warning : loaded.warnings) log_warning("{}", warning);
  return loaded;
}

Problem load_problem_and_warn(const std::string& source, const GraphArguments& graph) {
  return std::move(load_all_and_warn(source, graph).problem);
}

ScheduledPlacement read_placement_and_warn(const std::string& file, const Problem& problem,
                                           const ScheduleArgument& schedule) {
  formats::PlacementFile read = formats::read_placement_text(read_file(file), file, problem);
  if (!read.problem_name.empty() && read.problem_name != problem.name)
    log_warning("{} was made for the problem {}, this one is {}", file, quote(read.problem_name), quote(problem.name));
  const Schedule chosen = schedule.get().value_or(read.schedule.value_or(Schedule::fifo));
  if (chosen != Schedule::fifo && read.placement.order.empty())
    throw InputError(file, "the schedule {} needs an order, and the placement has none", name_of(chosen));
  return {std::move(read.placement), chosen};
}

void TimeLimitArgument::add(CommandLine& cli, const std::string& end) {
  cli.add_option("--time-limit", text,
                 fmt::format("End early, {}, before this much time has passed: 90s, 20m, 3h30m", end))
      .type_name("TIME")
      .not_empty();
}

std::optional<std::chrono::steady_clock::time_point> TimeLimitArgument::deadline() const {
  if (text.empty()) return {};
  const std::optional<double> seconds = parse_duration(text);
  if (!seconds) throw InputError("--time-limit", "should be a time such as 90s, 20m or 3h30m, found {}", quote(text));
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(*seconds));
}

}  // namespace emplace::app
