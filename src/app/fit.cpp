// emplace fit MODEL MACHINE [--context N] [--sequences N] [--runtime NAME] ...
#include <fmt/core.h>

#include "app/command.hpp"
#include "app/fit_output.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/simulate/engine.hpp"
#include "fit/formation.hpp"
#include "formats/language_reader.hpp"
#include "report/timeline_svg.hpp"
#include "zoo/language_presets.hpp"

namespace emplace::app {

namespace fit_command {

struct Arguments {
  std::string model, machine, output, placement, timeline;
  std::string kv_type = "F16", objective = "latency", runtime = "llama.cpp", reserve = "512MiB";
  std::int64_t context = 4096, sequences = 1, micro_batch = 512;
  std::optional<std::int64_t> prompt;
  bool layers_in_order = false, what_if = false, json = false;
};

// Bytes of "512MiB", "2 GB" or "0".
Bytes bytes_of_text(const std::string& text) {
  static constexpr std::pair<std::string_view, double> units[] = {{"TiB", 1099511627776.0},
                                                                  {"GiB", 1073741824.0},
                                                                  {"MiB", 1048576.0},
                                                                  {"KiB", 1024.0},
                                                                  {"TB", 1e12},
                                                                  {"GB", 1e9},
                                                                  {"MB", 1e6},
                                                                  {"kB", 1e3},
                                                                  {"B", 1},
                                                                  {"", 1}};
  for (const auto& [unit, size] : units) {
    if (!text.ends_with(unit)) continue;
    double number = 0;
    const std::string_view digits = trimmed(std::string_view(text).substr(0, text.size() - unit.size()));
    if (parse_number(digits, number) && number >= 0 && number * size <= static_cast<double>(total_limit))
      return static_cast<Bytes>(number * size);
    break;
  }
  throw InputError("--reserve", "wanted a size such as 512MiB or 2GB, found {}", quote(text));
}

fit::Aim aim_of(const std::string& name) {
  if (name == "latency") return fit::Aim::latency;
  if (name == "throughput") return fit::Aim::throughput;
  static const std::string known[] = {"latency", "throughput"};
  throw InputError("--objective", "wanted latency or throughput, found {}{}", quote(name), did_you_mean(name, known));
}

// Tables of the same plan for other contexts and numbers of sequences.
std::vector<WhatIf> table_around(const fit::FitRequest& request) {
  std::vector<WhatIf> cells;
  for (const std::int64_t sequences : {1, 2, 4, 8})
    for (const std::int64_t quarters : {1, 2, 4, 8, 16}) {
      fit::FitRequest other = request;
      other.scenario.context = std::max<std::int64_t>(256, request.scenario.context / 4 * quarters);
      other.scenario.sequences = sequences;
      other.prompt = std::min(request.prompt, other.scenario.context);
      const fit::Fit fitted = fit::fit(other);
      cells.push_back(
          {other.scenario.context, sequences, fitted.plan ? std::optional(fitted.plan->tokens_per_s) : std::nullopt});
    }
  return cells;
}

// A step of decode: for throughput that of one group of sequences, for replicas that of the first one.
void write_timeline(const std::string& file, const fit::Fit& fitted) {
  simulate::Timeline timeline;
  const Placement& placement = fitted.plan->placement;
  const auto engine = simulate::make_exact_engine(fitted.problem, Schedule::fifo);
  static_cast<void>(engine->evaluate(placement, {.timeline = &timeline}));
  const auto path = simulate::critical_path(fitted.problem, placement, Schedule::fifo, timeline);
  write_file(file, report::timeline_svg(fitted.problem, placement, timeline, path));
}

void write_files(const Arguments& arguments, const fit::Fit& fitted) {
  if (!arguments.output.empty()) {
    write_output(arguments.output, fitted.saying.text);
    if (!arguments.json) fmt::print("written to {}\n", arguments.output);
  }
  if (!arguments.placement.empty()) {
    write_output(arguments.placement,
                 formats::write_placement_json(fitted.problem, fitted.plan->placement, Schedule::fifo));
    if (!arguments.json) fmt::print("the placement of the ops is written to {}\n", arguments.placement);
  }
  if (!arguments.timeline.empty()) {
    write_timeline(arguments.timeline, fitted);
    if (!arguments.json) fmt::print("the timeline of a token is written to {}\n", arguments.timeline);
  }
}

// A placement has one device for each op.
void refuse_placement(const fit::Fit& fitted) {
  if (fitted.plan && !fitted.parallel.is_plain())
    throw InputError("--placement",
                     "the plan ({}) has ops on several devices, which no placement says; --timeline "
                     "draws it, and --layers-in-order plans without",
                     fit::name_of(fitted.parallel.tensor, fitted.parallel.replicas));
}

language::LanguageModel read_model(const std::string& model) {
  constexpr std::string_view zoo_prefix = "zoo:";
  if (model.starts_with(zoo_prefix)) return zoo::zoo_language_model(model.substr(zoo_prefix.size()), model);
  return formats::read_language_model(model);
}

ExitCode run(const Arguments& arguments) {
  for (const std::string& file : {arguments.output, arguments.placement, arguments.timeline})
    refuse_overwriting(file, {arguments.model, arguments.machine});
  refuse_equal_outputs(
      {{"--output", arguments.output}, {"--placement", arguments.placement}, {"--timeline", arguments.timeline}});
  const language::LanguageModel model = read_model(arguments.model);
  const machine::Machine machine = machine::load_machine(arguments.machine, "command line");
  fit::FitRequest request{
      .model = model, .machine = machine, .file = arguments.model, .machine_name = arguments.machine, .scenario = {}};
  request.scenario.context = arguments.context;
  request.scenario.sequences = arguments.sequences;
  request.scenario.batch = arguments.micro_batch;
  request.scenario.kv_type = arguments.kv_type;
  request.prompt = arguments.prompt.value_or(std::min<std::int64_t>(512, arguments.context));
  request.aim = aim_of(arguments.objective);
  request.runtime = &find_entry(fit::runtimes(), arguments.runtime, "runtime", "--runtime");
  request.reserve = bytes_of_text(arguments.reserve);
  request.layers_in_order = arguments.layers_in_order;
  FitReport report{.request = request, .fit = fit::fit(request), .draws_timeline = !arguments.timeline.empty()};
  if (!arguments.placement.empty()) refuse_placement(report.fit);
  for (const std::string& note : model.notes) log_warning("{}", note);
  if (model.trained_context > 0 && arguments.context > model.trained_context)
    log_warning("{} was trained for a context of {}", arguments.model, model.trained_context);
  if (!report.fit.plan) report.longest_context = fit::longest_context(request);
  if (arguments.what_if) report.what_if = table_around(request);
  if (arguments.json)
    print_json(to_json(report));
  else
    fmt::print("{}", text_of(report));
  if (!report.fit.plan) {
    fmt::print(stderr, "{}\n", why_nothing_fits(report));
    return ExitCode::infeasible;
  }
  write_files(arguments, report.fit);
  return ExitCode::done;
}

}  // namespace fit_command

Action add_fit(CommandLine& cli) {
  auto a = std::make_shared<fit_command::Arguments>();
  cli.add_option("model", a->model,
                 "Language model: a .gguf file, a folder or config.json of Hugging Face, or zoo:NAME?size=...&type=...")
      .type_name("MODEL")
      .required();
  cli.add_option("machine", a->machine, "Machine: a preset or a TOML file").type_name("MACHINE").required();
  cli.add_option("--context", a->context, "Tokens for which the KV cache of each sequence has room (default 4096)")
      .at_least(1);
  cli.add_option("--sequences", a->sequences, "Sequences that are answered at the same time (default 1)").at_least(1);
  cli.add_option("--kv-type", a->kv_type, "Type of keys and values in the cache: F16 (default), Q8_0, ...")
      .type_name("TYPE");
  cli.add_option("--prompt", a->prompt, "Tokens of the prompt whose first answer is timed (default 512)").at_least(1);
  cli.add_option("--micro-batch", a->micro_batch, "Tokens of a prompt that are computed at one time (default 512)")
      .at_least(1);
  cli.add_option("--objective", a->objective,
                 "What is wanted: latency (default), the time of a token, or throughput, the tokens of a full pipeline")
      .type_name("latency|throughput");
  cli.add_option("--runtime", a->runtime,
                 "What runs the plan: llama.cpp (default), vllm, ... (`emplace list runtimes`)")
      .type_name("RUNTIME");
  cli.add_option("--reserve", a->reserve, "Memory that stays free on each accelerator (default 512MiB)")
      .type_name("SIZE");
  cli.add_flag("--layers-in-order", a->layers_in_order,
               "Only plans with each layer on one device, once: neither tensor-parallel nor replicas");
  cli.add_flag("--what-if", a->what_if, "Also a table of other contexts and numbers of sequences");
  cli.add_option("-o,--output", a->output, "Write what the runtime reads to this file").type_name("FILE").not_empty();
  cli.add_option("--placement", a->placement, "Write the placement of the ops of a step, for `emplace simulate`")
      .type_name("FILE")
      .not_empty();
  cli.add_option("--timeline", a->timeline, "Draw the plan's step of a token here, as an SVG")
      .type_name("FILE")
      .not_empty();
  cli.add_flag("--json", a->json, "Print JSON");
  cli.footer(
      "Example:\n"
      "  emplace fit model.gguf laptop --context 8192 --what-if");
  return [a](dist::World*) { return fit_command::run(*a); };
}

}  // namespace emplace::app
