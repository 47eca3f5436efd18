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
#include "report/limits.hpp"
#include "report/placement_page.hpp"

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
    found += references.single ? fmt::format("{:.2f} times as fast as one device ({})",
                                             to_seconds(references.single->outcome.makespan) / to_seconds(quick),
                                             time(references.single->outcome.makespan))
                               : "no single device can run it";
  }
  log_info("first verdict: {}; no placement is faster than {}", found, time(references.bound.ticks));
}

verdict::Verdict verdict_of(const Arguments& arguments, const std::string& output, const Problem& problem,
                            const experiment::AutomaticResult& result) {
  return verdict::judge(problem, Objective::step,
                        {.method = result.method,
                         .outcome = result.outcome,
                         .proved_optimal = result.proved_optimal,
                         .problem = arguments.model,
                         .machine = arguments.machine,
                         .constraints = arguments_of(arguments.constraints.constraints),
                         .placement_file = output,
                         .seconds = result.seconds},
                        result.references);
}

// Five lines: step time, comparison, bound, what limits the step, what to do next.
void print_result(const Problem& problem, const experiment::AutomaticResult& result, const verdict::Verdict& verdict,
                  const std::string& limit, const std::string& output, const std::string& page) {
  if (!result.outcome.feasible()) {
    fmt::print("no feasible placement of {} was found in {}\n", problem.name, human_seconds(result.seconds));
    return;
  }
  fmt::print("step time  {} by {}, in {} and {} placements; {}, {}\n",
             human_seconds(to_seconds(result.outcome.makespan)), result.method, human_seconds(result.seconds),
             result.evaluations, output, page);
  std::vector<std::string> compared(verdict.sentences.begin(), verdict.sentences.end());
  const std::string about_bound = compared.empty() ? "" : compared.back();
  if (!compared.empty()) compared.pop_back();
  fmt::print("compared   {}\n", compared.empty() ? "no single device can run it" : join(compared, "; "));
  fmt::print("bound      {}; {}\n", about_bound, result.why_ended);
  fmt::print("limit      {}\n", limit);
  fmt::print("next       {}\n", verdict.next);
  if (!result.learning.empty()) log_info("{}", result.learning);
}

Json json_of(const Problem& problem, const experiment::AutomaticResult& result, const verdict::Verdict& verdict,
             const std::string& limit, const std::string& output, const std::string& page) {
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
  json["placement"] = output;
  json["report"] = page;
  json["learning"] = result.learning.empty() ? Json(nullptr) : Json(result.learning);
  json["ended"] = result.why_ended;
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
  const std::string limit =
      result.outcome.timed()
          ? report::limits_sentence(report::limits_of(problem, result.placement, request.scoring.schedule))
          : "";
  const verdict::Verdict verdict = verdict_of(arguments, output, problem, result);
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
    print_json(json_of(problem, result, verdict, limit, output, page));
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
