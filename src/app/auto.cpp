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
#include "simulate/pipeline/pipeline.hpp"

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

source::LoadedProblem load(const Arguments& arguments) {
  if (arguments.machine.empty()) return load_all_and_warn(arguments.model, arguments.graph);
  if (source::is_problem_file(arguments.model) && formats::reader_of(arguments.model) == nullptr)
    throw InputError("command line", "{} is a problem, which has its machine already; found {} after it",
                     quote(arguments.model), quote(arguments.machine));
  source::LoadedProblem loaded = source::load_problem(arguments.model, arguments.machine, arguments.graph.options());
  for (const std::string& warning : loaded.warnings) log_warning("{}", warning);
  return loaded;
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
      found += "no single device can run it";
  }
  log_info("first verdict: {}; no placement is faster than {}", found, time(references.bound.ticks));
}

// Why the placement is not feasible; "" if it is.
std::string reason_of(const Problem& problem, const Placement& placement, Schedule schedule) {
  Usage usage;
  const Outcome outcome = simulate::make_exact_engine(problem, schedule)->evaluate(placement, {.usage = &usage});
  return outcome.feasible() ? "" : simulate::reason_of(Objective::step, problem, outcome, placement.device, usage);
}

verdict::Verdict verdict_of(const Arguments& arguments, const std::string& output, const Problem& problem,
                            const experiment::AutomaticResult& result, Schedule schedule) {
  return verdict::judge(
      Objective::step,
      {.method = result.method,
       .outcome = result.outcome,
       .proved_optimal = result.proved_optimal,
       .reason = reason_of(problem, result.placement, schedule),
       .why_nothing = result.why_nothing,
       .split = result.split,
       .commands = experiment::next_commands(
           {.source = arguments.machine.empty() ? arguments.model : arguments.model + "@" + arguments.machine,
            .options = arguments.graph.options(),
            .constraints = arguments.constraints.constraints,
            .file = output,
            .problem = &problem,
            .placement = &result.placement}),
       .seconds = result.seconds},
      result.references);
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
  fmt::print("{}: {}, in {} and {} placements\n", problem.name, join(verdict.sentences, "; "),
             human_seconds(result.seconds), result.evaluations);
  if (!verdict.next.empty()) fmt::print("next       {}\n", verdict.next);
}

// Five lines: step time, comparison, bound, what limits the step, what to do next.
void print_result(const Problem& problem, const experiment::AutomaticResult& result, const verdict::Verdict& verdict,
                  const std::string& limit, const std::string& output, const std::string& page) {
  if (!result.outcome.feasible()) {
    print_infeasible(problem, result, verdict);
    return;
  }
  fmt::print("step time  {} by {}, in {} and {} placements; {}, {}\n",
             human_seconds(to_seconds(result.outcome.makespan)), result.method, human_seconds(result.seconds),
             result.evaluations, output, page);
  std::vector<std::string> compared = verdict.sentences;
  std::erase(compared, verdict.about_bound);
  fmt::print("compared   {}\n", compared.empty() ? "no single device can run it" : join(compared, "; "));
  fmt::print("bound      {}{}{}\n", verdict.about_bound, result.why_ended.empty() ? "" : "; ", result.why_ended);
  fmt::print("limit      {}\n", limit);
  fmt::print("next       {}\n", verdict.next);
  if (!result.learning.empty()) log_info("{}", result.learning);
}

Json json_of(const Problem& problem, const experiment::AutomaticResult& result, const verdict::Verdict& verdict,
             const std::string& limit, const std::string& reason, const std::string& output, const std::string& page) {
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
  json["placement"] = output;
  json["report"] = page;
  json["learning"] = result.learning.empty() ? Json(nullptr) : Json(result.learning);
  json["ended"] = result.why_ended.empty() ? Json(nullptr) : Json(result.why_ended);
  json["verdict"] = verdict.sentences;
  json["next"] = verdict.next.empty() ? Json(nullptr) : Json(verdict.next);
  return json;
}

ExitCode run_auto(const Arguments& arguments, dist::World* world) {
  if (!(arguments.seconds > 0))
    throw InputError("--seconds", "a budget must be above zero, found {}", arguments.seconds);
  const std::string output =
      arguments.output.empty() ? source::short_name(arguments.model) + ".placement.json" : arguments.output;
  const std::string page = std::filesystem::path(output).replace_extension(".html").string();
  for (const std::string& file : {output, page}) refuse_overwriting(file, {arguments.model, arguments.machine});
  const auto loaded = std::make_shared<source::LoadedProblem>(load(arguments));
  arguments.constraints.apply(loaded->problem);
  const Problem& problem = loaded->problem;
  // Files that cannot be written fail now and not after the search.
  FileWriter writer(output), page_writer(page);

  Progress progress(true);
  experiment::AutomaticRequest request;
  request.loaded = loaded.get();
  request.seconds = arguments.seconds;
  request.seed = arguments.seed;
  request.world = world;
  request.run = output + ".run";
  request.stop = [] { return stop_requested(); };
  request.on_references = print_references;
  request.on_progress = [&](std::string_view phase, std::optional<Ticks> best, double share) {
    progress.update(std::min(share, 0.999),
                    fmt::format("{}  best {}", phase, best ? human_seconds(to_seconds(*best)) : "none"));
  };
  const experiment::AutomaticResult result = experiment::place_automatically(request);
  progress.finish();

  writer.write(formats::write_placement_json(problem, result.placement, request.scoring.schedule));
  writer.finish();
  const Schedule schedule = request.scoring.schedule;
  const std::string limit = limit_of(arguments, problem, result, schedule);
  const verdict::Verdict verdict = verdict_of(arguments, output, problem, result, schedule);
  page_writer.write(report::placement_page({.source = arguments.model,
                                            .method = result.method,
                                            .loaded = loaded,
                                            .placement = result.placement,
                                            .scoring = request.scoring,
                                            .bound = result.references.bound,
                                            .evaluations = std::max<std::uint64_t>(1, result.evaluations)},
                                           verdict));
  page_writer.finish();
  if (arguments.json)
    print_json(json_of(problem, result, verdict, limit,
                       result.why_nothing.empty() ? reason_of(problem, result.placement, schedule) : result.why_nothing,
                       output, page));
  else
    print_result(problem, result, verdict, limit, output, page);
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
  cli.add_option("--seconds", arguments->seconds, "Time for everything together (60 where not given)");
  cli.add_option("--seed", arguments->seed, "Seed of every random stream").at_least(0);
  arguments->graph.add(cli);
  arguments->constraints.add(cli);
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  return [arguments](dist::World* world) { return run_auto(*arguments, world); };
}

}  // namespace emplace::app
