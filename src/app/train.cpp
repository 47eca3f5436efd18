// emplace train RECIPE [key=value ...]
#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "app/command.hpp"
#include "app/compared_placers.hpp"
#include "app/objective.hpp"
#include "app/result_json.hpp"
#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/search/bound.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "experiment/run/run_subject.hpp"
#include "experiment/run/training.hpp"
#include "experiment/run/training_backend.hpp"

namespace emplace::app {

namespace train_command {

struct Arguments {
  std::string recipe;
  std::vector<std::string> overrides;
  std::string resume;
  bool go_on = false;
  std::string init;
  std::optional<std::uint64_t> seed, evaluations;
  std::optional<double> seconds;
  TimeLimitArgument time_limit;
  std::string schedule, objective;
  bool json = false;
};

std::string recipe_keys() {
  experiment::RecipeOptions options;
  OptionLister lister;
  describe(options, lister);
  std::size_t width = 0;
  for (const OptionInfo& option : lister.options) width = std::max(width, option.name.size());
  std::string text = recipe_keys_title;
  text += " (TOML file, or key=value here); a method's own options are METHOD.key=value:\n";
  for (const OptionInfo& option : lister.options) {
    text += fmt::format("  {:<{}}  {}", option.name, width, option.help);
    if (!option.choices.empty()) text += fmt::format(" One of {}.", join(option.choices, ", "));
    if (!option.default_value.empty() && option.default_value != "[]")
      text += fmt::format(" Default {}.", option.default_value);
    text += '\n';
  }
  return text +
         "\nThe run folder gets config.toml, checkpoint.h5, metrics.csv, best.placement.json, log.txt and "
         "tensorboard/.\n"
         "SIGUSR1 and Ctrl-C end the run early with a checkpoint; `emplace train --resume RUN` continues it.";
}

// Whether the argument in the recipe's place is a problem: a problem's file, or GRAPH@MACHINE.
bool is_problem(const std::string& argument) {
  if (experiment::is_shipped_recipe(argument) || argument.ends_with(".toml")) return false;
  return file_exists(argument) || source::is_graph_at_machine(argument) || argument.starts_with("zoo:");
}

// The recipe that the first argument names or, if it is a problem, the recommended recipe with this problem. MODEL
// MACHINE is MODEL@MACHINE.
ConfigTable recipe_of(Arguments& arguments) {
  if (!is_problem(arguments.recipe)) return experiment::read_recipe(arguments.recipe, "command line");
  if (!arguments.overrides.empty() && arguments.overrides.front().find('=') == std::string::npos) {
    arguments.recipe += "@" + arguments.overrides.front();
    arguments.overrides.erase(arguments.overrides.begin());
  }
  ConfigTable table = experiment::recommended_recipe();
  experiment::apply_values(table, {{"problem", {arguments.recipe, "command line"}}});
  log_info("no recipe is named: {} is trained with gdp-tuned; `emplace list recipes` shows the others",
           quote(arguments.recipe));
  return table;
}

// The folder of a run whose recipe names none: runs/NAME of the recipe or of the model.
std::string folder_for(const std::string& argument) {
  const std::string name =
      is_problem(argument) ? source::short_name(argument) : std::filesystem::path(argument).stem().string();
  return "runs/" + name;
}

// The recipe's table (of the file, or of the resumed run) with the overrides of the command line applied. InputError
// for a key that a resumed run cannot change.
ConfigTable read_config(Arguments& arguments, const experiment::RunFolder* resumed) {
  ConfigTable table = resumed != nullptr ? resumed->config() : recipe_of(arguments);
  std::vector<std::string> overrides = arguments.overrides;
  if (arguments.seed) overrides.push_back(fmt::format("seed={}", *arguments.seed));
  if (arguments.evaluations) overrides.push_back(fmt::format("evaluations={}", *arguments.evaluations));
  if (arguments.seconds) overrides.push_back(fmt::format("seconds={}", *arguments.seconds));
  if (!arguments.schedule.empty()) overrides.push_back("schedule=" + arguments.schedule);
  if (!arguments.objective.empty()) overrides.push_back("objective=" + arguments.objective);
  if (resumed != nullptr)
    for (const std::string& text : overrides) {
      const std::string key = text.substr(0, text.find('='));
      if (!experiment::may_change_on_resume(key))
        throw InputError("command line",
                         "--resume continues the run as it is; {} cannot be changed (these keys can: {})", quote(key),
                         join(experiment::keys_that_may_change_on_resume(), ", "));
    }
  experiment::apply_overrides(table, overrides);
  if (!arguments.init.empty()) table.set("init", {arguments.init, "--init"});
  if (resumed == nullptr && !table.contains("run")) table.set("run", {folder_for(arguments.recipe), "default"});
  return table;
}

// What the metrics say about the end of a training on one problem; nothing for several, whose curves are mixed.
std::optional<verdict::CurveFacts> curve_of(const experiment::Training& training) {
  if (training.problems().size() != 1) return std::nullopt;
  const auto column = [&](const char* name) {
    const auto found = training.history().find(name);
    return found == training.history().end() ? std::vector<double>() : found->second;
  };
  return verdict::curve_facts({.best = column("best_step_time"),
                               .low = column("step_time_q10"),
                               .median = column("step_time_q50"),
                               .high = column("step_time_q90")});
}

// A problem's simulated result beside one device, the expert and the bound. `found` are further placements to compare
// with.
struct Judged {
  verdict::References references;
  verdict::Verdict verdict;
};
Judged judge_result(const experiment::Training& training, const experiment::RunFolder& folder,
                    const PlacementReport& report, std::size_t p, std::vector<verdict::Reference> found = {}) {
  const evaluate::Scoring scoring{training.schedule(), training.objective()};
  const auto local = evaluate::make_local_evaluator(std::span(&report.problem, 1), scoring);
  search::PlacerRequest request;
  request.problem = report.problem;
  request.schedule = scoring.schedule;
  request.objective = scoring.objective;
  request.evaluator = local.get();
  Judged judged{verdict::find_references(request, 0), {}};
  for (verdict::Reference& each : found)
    if (each.outcome.feasible() && (!judged.references.quick || better(each.outcome, judged.references.quick->outcome)))
      judged.references.quick = std::move(each);
  verdict::Subject subject =
      experiment::subject_of_run(training.recipe(), folder.path(), p, *report.problem, report.placement);
  subject.method = report.method;
  subject.outcome = report.outcome;
  subject.proved_optimal = report.proved_optimal;
  subject.seconds = training.seconds();
  if (!report.outcome.feasible())
    subject.why_nothing = search::lower_bounds(*report.problem, training.objective(), 0).infeasible.value_or("");
  if (p < training.problems().size()) subject.curve = curve_of(training);
  judged.verdict = verdict::judge(training.objective(), subject, judged.references);
  return judged;
}

// Prints, for each problem, the step time of the learned placement and of each method of `compare`, and then the names
// of the run's files.
void print_result(const experiment::Training& training, const experiment::RunFolder& folder,
                  evaluate::Evaluator& evaluator, const std::vector<PlacementReport>& reports) {
  const search::Deadline deadline = deadline_of_comparisons(training.recipe());
  for (std::size_t p = 0; p < reports.size(); ++p) {
    const PlacementReport& report = reports[p];
    if (report.placement == nullptr) continue;
    const bool trained_on = p < training.problems().size();
    fmt::print("\n{}: {} ops, {} devices{}\n\n", report.problem->name, report.problem->op_count(),
               report.problem->device_count(), trained_on ? "" : ", held out");
    const bool pipeline = training.objective() == Objective::pipeline;
    TextTable table({"placement", pipeline ? "load" : "step time", "feasible", "evaluations"});
    ComparedPlacers compared = compare_with_placers(training, evaluator, report, p, reports.size(), deadline, table);
    table.add(compared_row(report.method + (trained_on ? " (learned)" : " (never trained on it)"), report,
                           *report.placement, report.outcome, report.evaluations));
    fmt::print("{}\n", table.str());
    if (const std::string missing = compared.missing(training.recipe()); !missing.empty()) log_info("{}", missing);
    // Measured times have no bound, and each further measurement may take minutes.
    if (report.lower_bound)
      fmt::print("{}\n",
                 verdict::text_of(judge_result(training, folder, report, p, std::move(compared.found)).verdict));
  }
  fmt::print("{} of training; files in {}/: best.placement.json, metrics.csv, checkpoint.h5, config.toml\n",
             human_seconds(training.seconds()), folder.path());
}

// The time and the message counters at one moment of the run.
struct Work {
  double seconds = 0;
  dist::Traffic traffic;
};

// Logs which share of the time rank 0 waited for the workers. It shows whether the workers or rank 0 limit the speed,
// which helps to choose the number of ranks.
void say_how_busy(const dist::World& world, std::uint64_t placements, const Work& began) {
  const double seconds = dist::World::seconds() - began.seconds;
  const dist::Traffic& traffic = world.traffic();
  if (world.size() == 1) {
    log_info("1 rank evaluated {} placements in {}", placements, human_seconds(seconds));
    return;
  }
  log_info("{} worker{} evaluated {} placements in {}; rank 0 waited for them {:.0f} % of that; {} messages, {}",
           world.size() - 1, world.size() == 2 ? "" : "s", placements, human_seconds(seconds),
           100 * (traffic.waited_s - began.traffic.waited_s) / seconds, traffic.messages - began.traffic.messages,
           human_bytes(traffic.bytes - began.traffic.bytes));
}

ExitCode run_training(Arguments arguments, dist::World* world) {
  set_work_to_save(false);  // until there is a run
  const auto deadline = arguments.time_limit.deadline();
  std::optional<experiment::RunFolder> resumed;
  if (!arguments.resume.empty()) resumed.emplace(experiment::RunFolder::open(arguments.resume));
  if (!arguments.resume.empty() && !arguments.init.empty())
    throw InputError("command line", "--resume continues with the run's own parameters; --init is for a new run");
  if (arguments.recipe.empty() == arguments.resume.empty())
    throw InputError("command line", "give a recipe, a PROBLEM, or --resume RUN to continue a run");
  ConfigTable config = read_config(arguments, resumed ? &*resumed : nullptr);
  if (arguments.go_on && !resumed)
    if (auto unfinished = experiment::unfinished_run(config, 0, experiment::IfThere::refuse)) {
      resumed.emplace(std::move(unfinished->folder));
      config = std::move(unfinished->config);
    }
  const bool resume = resumed.has_value();
  experiment::Recipe recipe = experiment::make_recipe(config);
  if (!resume) experiment::RunFolder::refuse_if_there(recipe.options.run);  // before anything slow is done
  experiment::Training training(std::move(recipe), resume && experiment::has_checkpoint(resumed->path()));
  set_work_to_save(true);
  const experiment::RunFolder folder =
      resumed ? std::move(*resumed)
              : experiment::RunFolder::create(training.recipe().options.run, training.recipe().resolved(),
                                              experiment::IfThere::refuse);

  const auto problems = training.problem_list();
  const experiment::TrainingBackend backend = experiment::make_training_backend(world, training, folder);
  const Work began = world != nullptr ? Work{dist::World::seconds(), world->traffic()} : Work{};
  const experiment::Training::End end = training.run(folder, {.evaluator = *backend.evaluator,
                                                              .learner_workers = backend.learner_workers.get(),
                                                              .resume = resume,
                                                              .show_progress = !arguments.json || log::on_terminal(),
                                                              .deadline = deadline});

  if (world != nullptr) say_how_busy(*world, training.evaluations_of_session(), began);

  if (end == experiment::Training::End::interrupted) {
    log_info("stopped early; `emplace train --resume {}` continues", folder.path());
    return ExitCode::interrupted;
  }

  set_work_to_save(false);               // all is saved
  std::vector<PlacementReport> reports;  // of the problems, then of the held-out ones
  bool all_feasible = true;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const bool trained_on = p < training.problems().size();
    const learn::Best& best =
        trained_on ? training.best()[p] : training.held_out_best()[p - training.problems().size()];
    if (!best.any) {
      log_warning("no update trained on {}, so there is no placement of it", quote(problems[p]->name));
      reports.push_back({});
      continue;
    }
    PlacementReport report{.method = training.recipe().options.policy,
                           .problem = problems[p],
                           .placement = &best.placement,
                           .outcome = best.outcome,
                           .schedule = training.schedule(),
                           .objective = training.objective(),
                           .evaluations = trained_on ? training.evaluations() : best.evaluation,
                           .seconds = training.seconds()};
    // The lower bound holds for simulated times only, not for measured ones.
    if (!evaluate::entry_of(training.evaluator()).measures)
      report.lower_bound = search::lower_bound(*problems[p], training.objective()).ticks;
    report.proved_optimal = best.outcome.feasible() && best.outcome.makespan == report.lower_bound;
    all_feasible = all_feasible && (best.outcome.feasible() || !trained_on);
    reports.push_back(report);
  }
  if (arguments.json) {
    const auto object = [&](std::size_t p) {
      if (reports[p].placement == nullptr) return Json();
      std::optional<Judged> judged;
      if (reports[p].lower_bound) judged = judge_result(training, folder, reports[p], p);
      if (judged) {
        reports[p].references = &judged->references;
        reports[p].verdict = &judged->verdict;
      }
      Json json = to_json(reports[p]);
      if (p >= training.problems().size()) json["held_out"] = true;
      return json;
    };
    Json json = object(0);
    if (reports.size() > 1) {
      json = Json::array();
      for (std::size_t p = 0; p < reports.size(); ++p) json.push_back(object(p));
    }
    print_json(json);
  } else {
    print_result(training, folder, *backend.evaluator, reports);
  }
  return all_feasible ? ExitCode::done : ExitCode::infeasible;
}

}  // namespace train_command

Action add_train(CommandLine& cli) {
  using namespace train_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("recipe", arguments->recipe,
                 "Recipe: a name of `emplace list recipes` or a TOML file; or a PROBLEM, for which a recipe is chosen")
      .type_name("RECIPE");
  cli.add_option("overrides", arguments->overrides, "key=value pairs that override the recipe").type_name("KEY=VALUE");
  cli.add_option("--resume", arguments->resume, "Continue the run in this folder").type_name("RUN");
  cli.add_flag("--continue", arguments->go_on,
               "Resume the run in the recipe's folder if there is one, else start it; the same command can be repeated "
               "until the run is done");
  cli.add_option("--init", arguments->init, "Start from the parameters of the policy in this run folder")
      .type_name("RUN");
  cli.add_option("--seed", arguments->seed, "Seed of every random stream").at_least(0);
  cli.add_option("--evaluations", arguments->evaluations, "Budget: placements simulated").at_least(0);
  cli.add_option("--seconds", arguments->seconds, "Budget: seconds of training");
  arguments->time_limit.add(cli, "with a checkpoint and exit code 75");
  cli.add_option("--schedule", arguments->schedule, "fifo, priority or in-order").type_name("fifo|priority|in-order");
  cli.add_option("--objective", arguments->objective, "step or pipeline").type_name("step|pipeline");
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(recipe_keys());
  return [arguments](dist::World* world) {
    // The first positional of `--resume RUN key=value` is an override, not a recipe.
    if (!arguments->resume.empty() && arguments->recipe.find('=') != std::string::npos) {
      arguments->overrides.insert(arguments->overrides.begin(), arguments->recipe);
      arguments->recipe.clear();
    }
    return run_training(*arguments, world);
  };
}

}  // namespace emplace::app
