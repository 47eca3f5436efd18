// emplace cost GRAPH MACHINE -o problem.json
#include <fmt/core.h>

#include <memory>

#include "app/command.hpp"
#include "app/result_json.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cost/lower.hpp"
#include "cost/unsized.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/machine/machine.hpp"
#include "source/expert.hpp"

namespace emplace::app {

namespace cost_command {

struct Arguments {
  std::string graph, machine, output;
  std::vector<std::string> profiles, profile_devices;
  GraphArguments options;
  bool json = false;
};

std::vector<cost::DeviceProfile> read_profiles(const Arguments& arguments) {
  if (!arguments.profile_devices.empty() && arguments.profile_devices.size() != arguments.profiles.size())
    throw InputError("--profile-device",
                     "{} devices for {} profiles; give one for each --profile, in their order, or none",
                     arguments.profile_devices.size(), arguments.profiles.size());
  std::vector<cost::DeviceProfile> profiles;
  for (std::size_t i = 0; i < arguments.profiles.size(); ++i) {
    profiles.push_back({cost::read_profile(arguments.profiles[i]),
                        arguments.profile_devices.empty() ? std::string{} : arguments.profile_devices[i]});
    for (const std::string& warning : profiles.back().profile.warnings) log_warning("{}", warning);
  }
  return profiles;
}

// Costs of each device without and with fusion. The problem is made with one of the two.
struct Totals {
  std::vector<cost::DeviceCost> op_by_op, fused;
};

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Measured seconds of the whole model on a device: the sum of its ops, and the time of a run with fused ops (the time
// of the run if the profile has it, else the sum of its kernels). 0: not measured.
struct Measured {
  double op_by_op = 0, fused = 0;
};
Measured measured_on(const cost::Lowered& lowered, std::size_t device) {
  Measured measured;
  for (const cost::ProfileUse& use : lowered.measured.profiles) {
    const double sum = use.device_s[device];
    if (sum > 0)
      (use.fused_run ? measured.fused : measured.op_by_op) += use.fused_run && use.run_s > 0 ? use.run_s : sum;
  }
  return measured;
}

Json json_or_null(double seconds) { return seconds > 0 ? Json(seconds) : Json(nullptr); }

void print_summary(const Arguments& arguments, const cost::Lowered& lowered, const Totals& totals,
                   const std::vector<std::string>& warnings) {
  const Problem& problem = lowered.problem;
  Json json = {{"problem", problem.name}, {"ops", problem.op_count()}, {"tensors", problem.tensor_count()}};
  json["devices"] = Json::array();
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    const cost::DeviceCost& cost = lowered.costs[d];
    Json device = {{"name", problem.devices[d].name}, {"ops", cost.ops}, {"seconds", cost.seconds}};
    device["unfused_seconds"] = totals.op_by_op[d].seconds;
    device["fused_seconds"] = totals.fused[d].seconds;
    if (!arguments.profiles.empty()) {
      device["measured_ops"] = cost.measured_ops;
      device["measured_seconds"] = cost.measured_s;
      const Measured measured = measured_on(lowered, d);
      device["unfused_measured_seconds"] = json_or_null(measured.op_by_op);
      device["fused_measured_seconds"] = json_or_null(measured.fused);
    }
    json["devices"].push_back(std::move(device));
  }
  if (!arguments.profiles.empty()) {
    json["profiles"] = Json::array();
    for (const cost::ProfileUse& use : lowered.measured.profiles)
      json["profiles"].push_back(
          {{"file", use.file},
           {"fused_run", use.fused_run},
           {"run_seconds", json_or_null(use.run_s)},
           {"rows", use.times},
           {"joined_share", share(static_cast<double>(use.joined), static_cast<double>(use.times))},
           {"joined_time_share", share(use.joined_s, use.total_s)},
           {"covered_share", use.whole_run ? Json(use.covered_share) : Json(nullptr)},
           {"used", use.used},
           {"beside", use.beside},
           {"folded", use.folded},
           {"folded_seconds", use.folded_s},
           {"unmatched", use.unmatched.ops},
           {"other_type", use.other_type.ops},
           {"partial", use.partial.ops},
           {"of_fused_kernels", use.fused.ops}});
  }
  json["warnings"] = warnings;
  print_json(json);
}

// What became of a profile's times, as far as there are any.
std::vector<std::string> uses(const cost::ProfileUse& use) {
  std::vector<std::string> list = {fmt::format("{} used", use.used)};
  const auto add = [&](std::size_t times, const std::string& what) {
    if (times > 0) list.push_back(fmt::format("{} {}", times, what));
  };
  add(use.beside, "of the runtime's own kernels, counted with those that read their results");
  add(use.folded, fmt::format("of ops that are folded away ({})", human_seconds(use.folded_s)));
  add(use.unmatched.times, "unmatched");
  add(use.other_type.times, "of other types");
  add(use.partial.times, "in part");
  add(use.fused.times, "of fused kernels");
  return list;
}

void print_tables(const Arguments& arguments, const cost::Lowered& lowered, const Totals& totals) {
  const Problem& problem = lowered.problem;
  fmt::print("{}: {} ops, {} tensors, written to {}\n\n", printable(problem.name), problem.op_count(),
             problem.tensor_count(), arguments.output);
  if (const std::string removed = cost::removed_ops(lowered.became); !removed.empty()) fmt::print("{}\n\n", removed);
  const bool profiled = !arguments.profiles.empty();
  std::vector<std::string> header = {"device", "can run", "op by op", "fused"};
  if (profiled)
    header = {"device", "can run", "op by op", "as profiled", "fused", "as profiled", "measured", "share of the time"};
  TextTable table(header);
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    const cost::DeviceCost& cost = lowered.costs[d];
    std::vector<std::string> row = {problem.devices[d].name, fmt::format("{} ops", cost.ops),
                                    human_seconds(totals.op_by_op[d].seconds), human_seconds(totals.fused[d].seconds)};
    if (profiled) {
      const auto text = [](double seconds) { return seconds > 0 ? human_seconds(seconds) : std::string("-"); };
      const Measured measured = measured_on(lowered, d);
      row.insert(row.begin() + 3, text(measured.op_by_op));
      row.push_back(text(measured.fused));
      row.push_back(fmt::format("{} ops", cost.measured_ops));
      row.push_back(fmt::format("{:.1f} %", 100 * share(cost.measured_s, cost.seconds)));
    }
    table.add(std::move(row));
  }
  fmt::print("{}", table.str());
  for (const cost::ProfileUse& use : lowered.measured.profiles)
    fmt::print(
        "\n{}{}: {} times, {}; {:.1f} % of them and {:.1f} % of their sum, {}, are of ops of the graph{}\n", use.file,
        use.fused_run ? " (of a fused run)" : "", use.times, join(uses(use), ", "),
        100 * share(static_cast<double>(use.joined), static_cast<double>(use.times)),
        100 * share(use.joined_s, use.total_s), human_seconds(use.total_s),
        use.whole_run ? fmt::format(", and they cover {:.1f} % of its estimated time", 100 * use.covered_share) : "");
}

// To standard output without a file.
void write_problem(const std::string& file, const Problem& problem) {
  if (file.empty()) return write_output(file, formats::write_problem_json(problem));
  FileWriter writer(file);
  formats::write_problem_json(problem, [&](std::string_view text) { writer.write(text); });
  writer.finish();
}

ExitCode run_cost(const Arguments& arguments) {
  if (arguments.json && arguments.output.empty())
    throw InputError("--json", "needs -o FILE, since the problem itself would go to standard output");
  if (arguments.profiles.empty() && !arguments.profile_devices.empty())
    throw InputError("--profile-device", "names the device of a profile, but there is no --profile");
  std::vector<std::string> inputs = {arguments.graph, arguments.machine};
  inputs.insert(inputs.end(), arguments.profiles.begin(), arguments.profiles.end());
  refuse_overwriting(arguments.output, inputs);
  const source::SourceOptions options = arguments.options.options();
  const machine::Machine machine = machine::load_machine(arguments.machine);
  const std::vector<cost::DeviceProfile> profiles = read_profiles(arguments);
  Graph graph = source::load_graph(arguments.graph, options.read);
  cost::Lowered lowered = cost::lower(std::move(graph), machine, options.roofline, arguments.graph + "@" + machine.name,
                                      profiles, !arguments.output.empty());
  cost::refuse_unsized(lowered, options.roofline, arguments.graph);
  source::add_expert(arguments.graph, lowered);
  const std::vector<std::string> warnings = cost::cost_warnings(lowered);
  for (const std::string& warning : warnings) log_warning("{}", warning);
  lowered.graph = {};  // a large model needs the memory for its text
  write_problem(arguments.output, lowered.problem);
  if (arguments.output.empty()) return ExitCode::done;
  Totals totals{lowered.costs, lowered.other_costs};
  if (options.roofline.fuse) std::swap(totals.op_by_op, totals.fused);
  if (arguments.json)
    print_summary(arguments, lowered, totals, warnings);
  else
    print_tables(arguments, lowered, totals);
  return ExitCode::done;
}

}  // namespace cost_command

Action add_cost(CommandLine& cli) {
  using namespace cost_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("graph", arguments->graph, "Model file, also FILE?key=value, or zoo:NAME?key=value")
      .type_name("GRAPH")
      .required();
  cli.add_option("machine", arguments->machine, "Machine preset (`emplace list machines`) or TOML file")
      .type_name("MACHINE")
      .required();
  cli.add_option("-o,--output", arguments->output, "Write the problem JSON here; standard output without it")
      .type_name("FILE")
      .not_empty();
  cli.add_option(
         "--profile", arguments->profiles,
         "Measured op times, which replace the estimates: a profile of ONNX Runtime (JSON), OpenVINO (execution graph, "
         "detailed counters), PyTorch (trace) or TensorFlow (step stats, timeline, XSpace), as launch/profile-model.py "
         "makes them; a table by op with the columns node, op, min_us (tabs); or a table op x device (tabs or commas) "
         "whose header names devices and units, as in op,cpu:0,gpu:0 (ms). May be repeated")
      .type_name("FILE")
      .one_value();
  cli.add_option(
         "--profile-device", arguments->profile_devices,
         "The device that the profile measured, if the profile does not name it; gpu means gpu:0, gpu:1, ... One for "
         "each --profile, in their order")
      .type_name("DEVICE")
      .one_value();
  arguments->options.add(cli);
  cli.add_flag("--json", arguments->json, "Print a summary as one JSON object (needs -o)");
  cli.footer(
      "An op lasts max(compute, traffic) + launch overhead, with compute = (FLOPs + half_flops) / (peak x efficiency) "
      "and\n"
      "traffic = (bytes + half_bytes) / memory bandwidth, by op class, dtype and device (configs/machines/README.md).\n"
      "The sum over the ops is printed twice: op by op, and with element-wise ops fused into their producers, which is "
      "the\n"
      "time of a runtime that fuses; each is beside the measured time if a profile has one. --fuse writes the problem "
      "of the fused\n"
      "ops.\n"
      "A profile of a run with fused ops (OpenVINO's, and where rows name the output tensors of kernels) is used with "
      "--fuse.\n"
      "It is refused if less than half of it, by the number or the sum of its times, is of ops of the graph.\n"
      "`emplace calibrate` fits these figures to profiles. `emplace inspect GRAPH` shows which share of a cost is a "
      "guess.\n\n"
      "Examples:\n"
      "  emplace cost model.onnx k40x2 -o problem.json\n"
      "  emplace cost zoo:nmt?layers=4 cluster-2x4 --training -o problem.json\n"
      "  emplace cost model.onnx laptop --profile times.tsv --profile-device cpu:0 -o problem.json");
  return [arguments](dist::World*) { return run_cost(*arguments); };
}

}  // namespace emplace::app
