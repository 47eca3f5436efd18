// emplace calibrate MACHINE --device NAME GRAPH=PROFILE... -o FILE
#include <fmt/core.h>

#include <cmath>
#include <memory>

#include "app/command.hpp"
#include "app/result_json.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cost/calibrate.hpp"
#include "emplace/machine/machine.hpp"

namespace emplace::app {

namespace calibrate_command {

struct Arguments {
  std::string machine, device, output;
  std::vector<std::string> models, fused;
  GraphArguments options;
  bool json = false;
};

// Splits GRAPH=PROFILE at the last '=', since zoo:NAME?key=value contains '=' too. InputError if there is no such
// profile.
std::pair<std::string, std::string> graph_and_profile(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw InputError("calibrate", "a model is given as GRAPH=PROFILE (model.onnx=times.tsv), got {}", quote(text));
  const std::string profile = text.substr(equals + 1);
  if (!file_exists(profile))
    throw InputError("calibrate", "{} is read as GRAPH=PROFILE, and there is no profile {}", quote(text),
                     quote(profile));
  return {text.substr(0, equals), profile};
}

Json error_json(const cost::PredictionError& error) {
  return {{"name", error.model},
          {"ops", error.ops},
          {"measured_s", error.measured_s},
          {"predicted_s", error.predicted_s},
          {"median_error", error.median_error},
          {"spearman", std::isnan(error.spearman) ? Json(nullptr) : Json(error.spearman)}};
}

Json class_json(const cost::ClassFit& fit) {
  const cost::ClassTrust& trust = fit.trust;
  Json json = error_json(fit.error);
  json.update({{"samples", trust.samples},
               {"compute_bound", trust.compute_bound},
               {"efficiency", trust.efficiency > 0 ? Json(trust.efficiency) : Json(nullptr)},
               {"efficiency_from", cost::name_of(trust.efficiency_from)},
               {"bytes_per_s", trust.samples > 0 ? Json(trust.bytes_per_s) : Json(nullptr)},
               {"bytes_per_s_from", cost::name_of(trust.bandwidth_from)},
               {"expected_error", trust.expected_error},
               {"compute_bound_error", trust.compute_error}});
  return json;
}

Json errors_json(const std::vector<cost::PredictionError>& errors) {
  Json list = Json::array();
  for (const cost::PredictionError& error : errors) list.push_back(error_json(error));
  return list;
}

double total_error(const cost::PredictionError& error) {
  return error.measured_s > 0 ? error.predicted_s / error.measured_s - 1 : 0;
}

// The mean over the models of the absolute relative error of the total time.
double mean_total_error(const std::vector<cost::PredictionError>& errors) {
  double sum = 0;
  for (const cost::PredictionError& error : errors) sum += std::abs(total_error(error));
  return errors.empty() ? 0 : sum / static_cast<double>(errors.size());
}

Json runs_json(const std::vector<cost::RunPrediction>& runs) {
  Json list = Json::array();
  const auto known = [](double seconds) { return std::isnan(seconds) ? Json(nullptr) : Json(seconds); };
  for (const cost::RunPrediction& run : runs)
    list.push_back({{"name", run.model},
                    {"unfused_measured_s", known(run.unfused_measured_s)},
                    {"unfused_predicted_s", known(run.unfused_s)},
                    {"fused_measured_s", run.fused_measured_s},
                    {"fused_predicted_s", run.fused_s}});
  return list;
}

double run_error(const cost::RunPrediction& run) {
  return run.fused_measured_s > 0 ? run.fused_s / run.fused_measured_s - 1 : 0;
}

void print_runs(const char* first, const std::vector<cost::RunPrediction>& runs) {
  TextTable table({first, "ops measured", "predicted", "run measured", "predicted", "run off by"});
  for (const cost::RunPrediction& run : runs)
    table.add({run.model, human_seconds(run.unfused_measured_s), human_seconds(run.unfused_s),
               human_seconds(run.fused_measured_s), human_seconds(run.fused_s),
               fmt::format("{:+.1f} %", 100 * run_error(run))});
  fmt::print("\n{}", table.str());
}

void add_row(TextTable& table, const cost::PredictionError& error) {
  table.add({error.model, fmt::format("{}", error.ops), human_seconds(error.measured_s),
             human_seconds(error.predicted_s), fmt::format("{:+.1f} %", 100 * total_error(error)),
             fmt::format("{:.1f} %", 100 * error.median_error),
             std::isnan(error.spearman) ? std::string("-") : fmt::format("{:.3f}", error.spearman)});
}

// A figure and where it comes from: "0.35, fitted".
std::string figure_text(const std::string& figure, cost::FigureSource source) {
  switch (source) {
    case cost::FigureSource::none: return "-";
    case cost::FigureSource::fitted: return figure + ", fitted";
    case cost::FigureSource::few: return figure + ", one or two ops";
    case cost::FigureSource::machine: return figure + ", prior: the machine's";
    case cost::FigureSource::all_classes: return figure + ", prior: all classes";
  }
  return figure;
}

// How far each class can be trusted: how many ops show which figure, and the error to expect of the time of one op.
void print_trust(const cost::Calibration& calibration) {
  TextTable table({"op class", "ops", "bound by compute", "efficiency", "memory bandwidth",
                   "expected error of such an op", "of one bound by compute"});
  for (const cost::ClassFit& fit : calibration.classes) {
    const cost::ClassTrust& trust = fit.trust;
    if (trust.samples == 0) continue;
    table.add(
        {fit.error.model, fmt::format("{}", trust.samples),
         fmt::format("{:.0f} %", 100 * static_cast<double>(trust.compute_bound) / static_cast<double>(trust.samples)),
         figure_text(fmt::format("{:.3g}", trust.efficiency), trust.efficiency_from),
         figure_text(fmt::format("{:.3g} GB/s", 1e-9 * trust.bytes_per_s), trust.bandwidth_from),
         fmt::format("{:.0f} %", 100 * trust.expected_error), fmt::format("{:.0f} %", 100 * trust.compute_error)});
  }
  fmt::print("how far each class can be trusted\n{}\n", table.str());
}

void print_tables(const Arguments& arguments, const cost::Calibration& calibration) {
  const auto header = [](const char* first) {
    return TextTable({first, "ops", "measured", "predicted", "total off by", "median op", "rank correlation"});
  };
  fmt::print("device {} of {}, written to {}\n\n", quote(arguments.device), arguments.machine, arguments.output);
  TextTable classes = header("op class");
  for (const cost::ClassFit& fit : calibration.classes) add_row(classes, fit.error);
  fmt::print("{}\n", classes.str());
  print_trust(calibration);
  TextTable types = header("op type");
  for (const cost::PredictionError& error : calibration.types) add_row(types, error);
  fmt::print("{}\n", types.str());
  TextTable models = header("fitted to all models");
  for (const cost::PredictionError& error : calibration.models) add_row(models, error);
  fmt::print("{}", models.str());
  if (calibration.left_out.empty()) {
    fmt::print("\nThere is only one model, so the error on unseen models cannot be estimated.\n");
  } else {
    TextTable left_out = header("left out, predicted from the others");
    for (const cost::PredictionError& error : calibration.left_out) add_row(left_out, error);
    fmt::print("\n{}\nleave-one-model-out error of the total: {:.1f} %\n", left_out.str(),
               100 * mean_total_error(calibration.left_out));
  }
  if (calibration.runs.empty()) return;
  TextTable kernels = header("kernels of fused runs");
  for (const cost::PredictionError& error : calibration.kernels) add_row(kernels, error);
  fmt::print("\n{}", kernels.str());
  print_runs("whole models, ops one by one and as fused runs", calibration.runs);
  if (!calibration.left_out_runs.empty()) print_runs("left out, predicted from the others", calibration.left_out_runs);
  std::vector<std::string> speedups;
  for (const auto& [cls, speedup] : calibration.device.fused_speedup)
    speedups.push_back(fmt::format("{} {:.3g}", cls, speedup));
  fmt::print("\nfused_speedup: {}\n", join(speedups, ", "));
}

void print_summary(const Arguments& arguments, const cost::Calibration& calibration) {
  Json json = {{"machine", arguments.machine}, {"device", arguments.device}, {"output", arguments.output}};
  json["classes"] = Json::array();
  for (const cost::ClassFit& fit : calibration.classes) json["classes"].push_back(class_json(fit));
  json["types"] = errors_json(calibration.types);
  json["models"] = errors_json(calibration.models);
  json["left_out"] = errors_json(calibration.left_out);
  json["kernels"] = errors_json(calibration.kernels);
  json["runs"] = runs_json(calibration.runs);
  json["left_out_runs"] = runs_json(calibration.left_out_runs);
  json["fused_speedup"] = calibration.device.fused_speedup;
  json["left_out_error"] = calibration.left_out.empty() ? Json(nullptr) : Json(mean_total_error(calibration.left_out));
  print_json(json);
}

// A comment line of the TOML file. Control characters are replaced by '?', so that the text stays on one line.
std::string comment(const std::string& text) {
  std::string line = "# ";
  for (const char c : text) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  return line + "\n";
}

std::string command_line(const Arguments& arguments) {
  const GraphArguments& graph = arguments.options;
  std::string text = fmt::format("emplace calibrate {} --device {}", arguments.machine, arguments.device);
  if (graph.batch) text += fmt::format(" --batch {}", *graph.batch);
  for (const std::string& shape : graph.shapes) text += " --shape " + shape;
  if (graph.training) text += " --training";
  if (!graph.optimizer.empty()) text += " --optimizer " + graph.optimizer;
  for (const std::string& run : arguments.fused) text += " --fused " + run;
  return fmt::format("{} {} -o {}", text, join(arguments.models, " "), arguments.output);
}

std::string origin(const Arguments& arguments, const std::vector<cost::TimedModel>& models,
                   const cost::Calibration& calibration) {
  std::string text = comment(fmt::format("{} with the figures of its device {} fitted to measured op times by",
                                         arguments.machine, arguments.device));
  text += comment("    " + command_line(arguments));
  for (std::size_t i = 0; i < models.size(); ++i)
    text += comment(fmt::format("{}: {} ops of {}, {:+.1f} % off in the total{}", models[i].use.file,
                                models[i].use.used, models[i].name, 100 * total_error(calibration.models[i]),
                                calibration.left_out.empty()
                                    ? std::string{}
                                    : fmt::format(", {:+.1f} % when predicted from the other models",
                                                  100 * total_error(calibration.left_out[i]))));
  for (const cost::RunPrediction& run : calibration.runs)
    text += comment(fmt::format("a fused run of {}: {} measured, {:+.1f} % off", run.model,
                                human_seconds(run.fused_measured_s), 100 * run_error(run)));
  return text;
}

// `fused`: whether the profiles must be of fused runs. The models, without it, may be all of ops or all of fused runs.
std::vector<cost::TimedModel> timed_models(const std::vector<std::string>& pairs, source::SourceOptions options,
                                           const std::string& column, const machine::MachineDevice& device,
                                           bool fused) {
  std::vector<cost::TimedModel> models;
  for (const std::string& text : pairs) {
    const auto [file, profile_file] = graph_and_profile(text);
    const Graph graph = source::load_graph(file, options.read);
    cost::Profile profile = cost::read_profile(profile_file);
    options.roofline.fuse = fused || (models.empty() ? cost::is_fused_run(profile, graph) : options.roofline.fuse);
    models.push_back(cost::timed_model(file, graph, options.roofline, std::move(profile), column, device));
    for (const std::string& warning : models.back().warnings) log_warning("{}", warning);
  }
  return models;
}

ExitCode run_calibrate(const Arguments& arguments) {
  std::vector<std::string> inputs = {arguments.machine};
  for (const auto& pairs : {arguments.models, arguments.fused})
    for (const std::string& text : pairs) {
      const auto [graph, profile] = graph_and_profile(text);
      inputs.insert(inputs.end(), {graph, profile});
    }
  refuse_overwriting(arguments.output, inputs);
  const machine::Machine machine = machine::load_machine(arguments.machine);
  const machine::MachineDevice& device =
      machine.devices[cost::devices_meant(machine, arguments.device, "--device").front()];
  const source::SourceOptions options = arguments.options.options();
  const std::vector<cost::TimedModel> models = timed_models(arguments.models, options, arguments.device, device, false);
  if (models.front().use.fused_run && !arguments.fused.empty())
    throw InputError("--fused",
                     "the models are fused runs already ({}); give profiles of ops one by one, or no --fused",
                     models.front().use.file);
  const std::vector<cost::TimedModel> fused = timed_models(arguments.fused, options, arguments.device, device, true);
  const cost::Calibration calibration = cost::calibrate(device, models, fused);
  for (const std::string& warning : calibration.warnings) log_warning("{}", warning);
  const std::string name = machine.name + "-calibrated";
  const std::string toml = origin(arguments, models, calibration) +
                           machine::refitted_machine_toml(arguments.machine, calibration.device, name);
  machine::parse_machine(toml, arguments.output);  // checks that the written machine can be read again
  write_file(arguments.output, toml);
  if (arguments.json)
    print_summary(arguments, calibration);
  else
    print_tables(arguments, calibration);
  return ExitCode::done;
}

}  // namespace calibrate_command

Action add_calibrate(CommandLine& cli) {
  using namespace calibrate_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("machine", arguments->machine, "Machine preset (`emplace list machines`) or TOML file")
      .type_name("MACHINE")
      .required();
  cli.add_option(
         "models", arguments->models,
         "GRAPH=PROFILE: a model file or zoo:NAME?key=value, and op times measured on the device, in a form that "
         "`emplace cost --profile` reads. Two or more give the error on unseen models")
      .type_name("GRAPH=PROFILE")
      .required();
  cli.add_option(
         "--fused", arguments->fused,
         "GRAPH=PROFILE of a run with the runtime's optimisations on, whose rows are kernels of fused ops; fits "
         "fused_speedup. May be repeated")
      .type_name("GRAPH=PROFILE")
      .one_value();
  cli.add_option("--device", arguments->device, "The device that was measured; gpu means gpu:0, gpu:1, ...")
      .type_name("DEVICE")
      .required();
  cli.add_option("-o,--output", arguments->output, "Write the machine with the fitted figures here (TOML)")
      .type_name("FILE")
      .required()
      .not_empty();
  arguments->options.add(cli, false);
  cli.add_flag("--json", arguments->json, "Print the residuals as one JSON object");
  cli.footer(
      "Fits, for each class of ops, seconds = a + FLOPs / (peak x efficiency) + bytes / bandwidth by robust least "
      "squares on\n"
      "relative residuals, and writes efficiency, memory_efficiency, half_flops, half_bytes, launch_overhead_s and "
      "overlap\n"
      "(configs/machines/README.md). The peak stays as it is. Ops that are bound by memory show a bandwidth, but no "
      "efficiency: a\n"
      "class with fewer than three ops that are bound by compute keeps the efficiency that the machine names for it, "
      "corrected by\n"
      "what the machine is off in the other classes, or takes theirs if it is far off. A table shows how far each "
      "class "
      "can be\n"
      "trusted. Classes without a measured op keep the machine's figures, or take those of all classes together. "
      "Profile without fusion "
      "(ONNX\n"
      "Runtime: optimisation level 0), so that kernels are the graph's ops. If the runtime always fuses (OpenVINO), "
      "the "
      "figures are\n"
      "fitted to its kernels, for `emplace cost --fuse`. A run with fused ops saves launches and "
      "traffic, and is\n"
      "faster still because the runtime chooses data layouts for the whole graph: fused_speedup, by class, is fitted "
      "to "
      "profiles of\n"
      "such runs, given with --fused.\n\n"
      "Example:\n"
      "  emplace calibrate laptop --device cpu:0 resnet50.onnx=resnet50.tsv inception.onnx=inception.json -o "
      "mine.toml\n"
      "  emplace calibrate laptop --device cpu:0 r.onnx=r_opt0.tsv --fused r.onnx=r_opt99.tsv -o mine.toml\n"
      "  emplace cost model.onnx mine.toml -o problem.json");
  return [arguments](dist::World*) { return run_calibrate(*arguments); };
}

}  // namespace emplace::app
