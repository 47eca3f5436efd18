// emplace auto MODEL MACHINE [-o FILE] [--seconds S], also `emplace MODEL MACHINE`
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "app/command.hpp"
#include "app/result_json.hpp"
#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/formats/reader.hpp"
#include "experiment/automatic/automatic.hpp"
#include "experiment/run/next_commands.hpp"
#include "report/limits.hpp"
#include "report/placement_page.hpp"
#include "verdict/infeasible.hpp"

namespace emplace::app {

namespace auto_command {

struct Arguments {
  std::string model, machine, output;
  GraphArguments graph;
  ConstraintArguments constraints;
  double seconds = 60;
  std::uint64_t seed = 0;
  bool json = false;
};

// The files that the command writes.
struct Output {
  std::string placement;
  std::string page;  // "": none, because the placement goes to a pipe or a device

  [[nodiscard]] bool is_file() const { return !page.empty(); }
};
Output output_of(const Arguments& arguments) {
  Output output{arguments.output, {}};
  if (output.placement.empty()) output.placement = source::short_name(arguments.model) + ".placement.json";
  std::error_code none;
  if (std::filesystem::exists(output.placement, none) && !std::filesystem::is_regular_file(output.placement, none))
    return output;
  output.page = std::filesystem::path(output.placement).replace_extension(".html").string();
  if (output.page == output.placement)
    throw InputError("--output", "{} is the name of the report, which is written beside the placement: wanted .json",
                     quote(output.placement));
  return output;
}

source::LoadedProblem load(const Arguments& arguments) {
  if (arguments.machine.empty()) return load_all_and_warn(arguments.model, arguments.graph);
  if (source::is_problem_file(arguments.model) && formats::reader_of(arguments.model) == nullptr)
    throw InputError("command line", "{} is a problem, which has its machine already; found {} after it",
                     quote(arguments.model), quote(arguments.machine));
  source::LoadedProblem loaded = source::load_problem(arguments.model, arguments.machine, arguments.graph.options());
  for (const std::string& warning : loaded.warnings) log_warning("{}", warning);
  return loaded;
}

const char* no_single_device(const verdict::References& references) {
  return references.tried_every_device ? "no single device can run it" : "no single device that was tried can run it";
}

void print_references(const verdict::References& references) {
  const auto time = [](Ticks ticks) { return human_seconds(to_seconds(ticks)); };
  std::string found = "no quick placer found a feasible placement";
  if (references.quick) {
    const Ticks quick = references.quick->outcome.makespan;
    found = fmt::format("{} by {}, ", time(quick), references.quick->method);
    if (references.quick->method == "single")
      found = time(quick) + " on one device";
    else if (references.single)
      found += fmt::format("{:.2f} times as fast as one device ({})",
                           to_seconds(references.single->outcome.makespan) / to_seconds(quick),
                           time(references.single->outcome.makespan));
    else
      found += no_single_device(references);
  }
  log_info("first verdict: {}; no placement is faster than {} ({}, a quick bound)", found, time(references.bound.ticks),
           verdict::proof_text(references.bound));
}

verdict::Subject subject_of(const Arguments& arguments, const Output& output, const Problem& problem,
                            const experiment::AutomaticResult& result, const evaluate::Scoring& scoring) {
  verdict::Subject subject{
      .method = result.method,
      .outcome = result.outcome,
      .proved_optimal = result.proved_optimal,
      .why_nothing = result.why_nothing,
      .split = result.split,
      .commands = experiment::next_commands(
          {.source = arguments.machine.empty() ? arguments.model : arguments.model + "@" + arguments.machine,
           .options = arguments.graph.options(),
           .constraints = arguments.constraints.constraints,
           .file = output.is_file() ? output.placement : "",
           .has_page = output.is_file(),
           .problem = &problem,
           .placement = &result.placement}),
      .seconds = result.seconds};
  verdict::explain_infeasible(subject, problem, result.placement, scoring);
  return subject;
}

// The first limits of the step, and which cost the problem may count too much.
std::string limit_of(const Arguments& arguments, const Problem& problem, const experiment::AutomaticResult& result,
                     Schedule schedule) {
  if (!result.outcome.timed()) return {};
  constexpr std::size_t most = 2;
  std::vector<report::Limit> limits = report::limits_of(problem, result.placement, schedule);
  if (limits.size() > most) limits.resize(most);
  std::string text = report::limits_sentence(limits);
  const bool is_model = !arguments.machine.empty() || source::is_graph_at_machine(arguments.model);
  if (is_model && !arguments.graph.fuse)
    text += "; ops are costed one by one: --fuse costs them as a runtime that merges element-wise ops";
  return text;
}

void print_infeasible(const Problem& problem, const experiment::AutomaticResult& result,
                      const verdict::Verdict& verdict) {
  fmt::print("{}: {}, in {} and {} placements\n", printable(problem.name), join(verdict.sentences, "; "),
             human_seconds(result.seconds), result.evaluations);
  if (!verdict.next.empty()) fmt::print("next       {}\n", verdict.next);
}

// Five lines: step time, comparison, bound, what limits the step, what to do next (if there is anything).
void print_result(const Problem& problem, const experiment::AutomaticResult& result, const verdict::Verdict& verdict,
                  const std::string& limit, const Output& output) {
  if (!result.outcome.feasible()) {
    print_infeasible(problem, result, verdict);
    return;
  }
  fmt::print("step time  {} by {}, in {} and {} placements; {}{}{}\n",
             human_seconds(to_seconds(result.outcome.makespan)), result.method, human_seconds(result.seconds),
             result.evaluations, output.placement, output.is_file() ? ", " : "", output.page);
  std::vector<std::string> compared = verdict.sentences;
  std::erase(compared, verdict.about_bound);
  fmt::print("compared   {}\n", compared.empty() ? no_single_device(result.references) : join(compared, "; "));
  fmt::print("bound      {}{}{}\n", verdict.about_bound, result.why_ended.empty() ? "" : "; ", result.why_ended);
  fmt::print("limit      {}\n", limit);
  if (!verdict.next.empty()) fmt::print("next       {}\n", verdict.next);
  if (!result.learning.empty()) log_info("{}", result.learning);
}

Json json_of(const Problem& problem, const experiment::AutomaticResult& result, const verdict::Verdict& verdict,
             const std::string& limit, const verdict::Subject& subject, const Output& output) {
  const std::string& reason = subject.why_nothing.empty() ? subject.reason : subject.why_nothing;
  Json json;
  json["problem"] = problem.name;
  json["step_s"] = result.outcome.timed() ? Json(to_seconds(result.outcome.makespan)) : Json(nullptr);
  json["feasible"] = result.outcome.feasible();
  json["single_s"] = time_of(result.references.single);
  json["expert_s"] = time_of(result.references.expert);
  json["lower_bound_s"] = to_seconds(result.references.bound.ticks);
  json["proved_optimal"] = result.proved_optimal;
  json["method"] = result.method;
  json["evaluations"] = result.evaluations;
  json["seconds"] = result.seconds;
  json["limit"] = limit.empty() ? Json(nullptr) : Json(limit);
  json["reason"] = reason.empty() ? Json(nullptr) : Json(reason);
  json["placement"] = output.placement;
  json["report"] = output.is_file() ? Json(output.page) : Json(nullptr);
  json["learning"] = result.learning.empty() ? Json(nullptr) : Json(result.learning);
  json["ended"] = result.why_ended.empty() ? Json(nullptr) : Json(result.why_ended);
  json["verdict"] = verdict.sentences;
  json["next"] = verdict.next.empty() ? Json(nullptr) : Json(verdict.next);
  return json;
}

experiment::AutomaticResult find_placement(const Arguments& arguments, const Output& output,
                                           const source::LoadedProblem& loaded, const evaluate::Scoring& scoring,
                                           dist::World* world) {
  Progress progress(true);
  experiment::AutomaticRequest request;
  request.loaded = &loaded;
  request.scoring = scoring;
  request.seconds = arguments.seconds;
  request.seed = arguments.seed;
  request.world = world;
  request.run = (output.is_file() ? output.placement : source::short_name(arguments.model)) + ".run";
  request.stop = [] { return stop_requested(); };
  request.on_references = print_references;
  request.on_progress = [&](std::string_view phase, std::optional<Ticks> best, double share) {
    progress.update(
        std::min(share, 0.999),
        fmt::format("{}: {} so far", phase, best ? "step time " + human_seconds(to_seconds(*best)) : "no placement"));
  };
  experiment::AutomaticResult result = experiment::place_automatically(request);
  progress.finish();
  return result;
}

ExitCode run_auto(const Arguments& arguments, dist::World* world) {
  if (!(arguments.seconds > 0))
    throw InputError("--seconds", "a budget must be above zero, found {}", arguments.seconds);
  const Output output = output_of(arguments);
  for (const std::string& file : {output.placement, output.page})
    refuse_overwriting(file, {arguments.model, arguments.machine});
  const auto loaded = std::make_shared<source::LoadedProblem>(load(arguments));
  arguments.constraints.apply(loaded->problem);
  const Problem& problem = loaded->problem;
  // Files that cannot be written fail now and not after the search.
  FileWriter writer(output.placement);
  std::optional<FileWriter> page_writer;
  if (output.is_file()) page_writer.emplace(output.page);

  const evaluate::Scoring scoring;
  const experiment::AutomaticResult result = find_placement(arguments, output, *loaded, scoring, world);
  writer.write(formats::write_placement_json(problem, result.placement, scoring.schedule));
  writer.finish();
  const std::string limit = limit_of(arguments, problem, result, scoring.schedule);
  const verdict::Subject subject = subject_of(arguments, output, problem, result, scoring);
  const verdict::Verdict verdict = verdict::judge(scoring.objective, subject, result.references);
  if (page_writer) {
    page_writer->write(report::placement_page({.source = arguments.model,
                                               .method = result.method,
                                               .loaded = loaded,
                                               .placement = result.placement,
                                               .scoring = scoring,
                                               .bound = result.references.bound,
                                               .evaluations = std::max<std::uint64_t>(1, result.evaluations)},
                                              verdict));
    page_writer->finish();
  }
  if (arguments.json)
    print_json(json_of(problem, result, verdict, limit, subject, output));
  else
    print_result(problem, result, verdict, limit, output);
  if (stop_requested()) return ExitCode::interrupted;
  return result.outcome.feasible() ? ExitCode::done : ExitCode::infeasible;
}

}  // namespace auto_command

Action add_auto(CommandLine& cli) {
  using namespace auto_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("model", arguments->model, "A model file, zoo:NAME?key=value, or a PROBLEM (which has its machine)")
      .type_name("MODEL")
      .required();
  cli.add_option("machine", arguments->machine, "A machine's name or TOML file").type_name("MACHINE");
  cli.add_option("-o,--output", arguments->output,
                 "Write the placement JSON here (default: MODEL.placement.json), and beside it its report as .html")
      .type_name("FILE")
      .not_empty();
  cli.add_option("--seconds", arguments->seconds, "Time for everything together (default 60)");
  cli.add_option("--seed", arguments->seed, "Seed of every random stream (default 0)").at_least(0);
  arguments->graph.add(cli);
  arguments->constraints.add(cli);
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(
      "Examples:\n"
      "  emplace auto model.onnx k40x2\n"
      "  emplace auto 'zoo:nmt?layers=2' k40x2 --training --seconds 20 -o nmt.json");
  return [arguments](dist::World* world) { return run_auto(*arguments, world); };
}

}  // namespace emplace::app
