// emplace train RECIPE [key=value ...]
#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/files.hpp"
#include "emplace/base/log.hpp"
#include "emplace/base/text.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/run/run_evaluator.hpp"
#include "emplace/run/training.hpp"
#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"
#include "objective.hpp"
#include "result_json.hpp"

namespace emplace::app {

namespace {

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
  RecipeOptions options;
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

// The recipe's table with everything of the command line in it.
ConfigTable read_config(const Arguments& arguments, const RunFolder* resumed) {
  std::vector<std::string> overrides = arguments.overrides;
  if (arguments.seed) overrides.push_back(fmt::format("seed={}", *arguments.seed));
  if (arguments.evaluations) overrides.push_back(fmt::format("evaluations={}", *arguments.evaluations));
  if (arguments.seconds) overrides.push_back(fmt::format("seconds={}", *arguments.seconds));
  if (!arguments.schedule.empty()) overrides.push_back("schedule=" + arguments.schedule);
  if (!arguments.objective.empty()) overrides.push_back("objective=" + arguments.objective);
  if (resumed != nullptr)
    for (const std::string& text : overrides) {
      const std::string key = text.substr(0, text.find('='));
      if (!may_change_on_resume(key))
        throw InputError("command line",
                         "--resume continues the run as it is; {} cannot be changed (budgets, threads, workers, "
                         "checkpoint_every and compare can)",
                         quote(key));
    }
  ConfigTable table = resumed != nullptr ? resumed->config() : ConfigTable::read_toml(arguments.recipe);
  apply_overrides(table, overrides);
  if (!arguments.init.empty()) table.set("init", {arguments.init, "--init"});
  if (resumed == nullptr && !table.contains("run"))
    table.set("run", {"runs/" + std::filesystem::path(arguments.recipe).stem().string(), "default"});
  return table;
}

// Step time of each method of `compare` beside the learned one, and where the files are.
void print_result(const Training& training, const RunFolder& folder, Evaluator& evaluator,
                  const std::vector<PlacementReport>& reports) {
  const Recipe& recipe = training.recipe();
  for (std::size_t p = 0; p < reports.size(); ++p) {
    if (reports[p].placement == nullptr) continue;
    const Problem* const problem_address = reports[p].problem;
    const Problem& problem = *problem_address;
    fmt::print("\n{}: {} ops, {} devices{}\n\n", problem.name, problem.op_count(), problem.device_count(),
               p < training.problems().size() ? "" : ", held out");
    const bool pipeline = training.objective() == Objective::pipeline;
    TextTable table({"placement", pipeline ? "load" : "step time", "feasible", "evaluations"});
    const auto add = [&](const std::string& name, const Placement& placement, const Outcome& outcome,
                         std::uint64_t evaluations) {
      table.add({name, outcome.timed() ? human_seconds(to_seconds(outcome.makespan)) : "-",
                 outcome.feasible() ? "yes"
                                    : "no: " + reason_of(training.objective(), problem, outcome, placement.device, {}),
                 fmt::format("{}", evaluations)});
    };
    // With an evaluator of its own a run is about times that cost much more: placers search on the simulator, and only
    // what each finds is evaluated as the run's placements were. `random` alone, with as many evaluations as the
    // training, would double the run's cost.
    const bool simulated = recipe.options.evaluator == EvaluatorChoice().name;
    const Scoring scoring{training.schedule(), training.objective()};
    // Several problems: the workers' evaluator numbers them, placers expect number 0.
    std::unique_ptr<Evaluator> local;
    if (reports.size() > 1 || !simulated) local = make_local_evaluator(std::span(&problem_address, 1), scoring);
    for (const std::string& method : recipe.options.compare) {
      PlacerRequest request;
      request.problem = &problem;
      request.schedule = training.schedule();
      request.objective = training.objective();
      request.expert = training.expert(p);
      request.seed = static_cast<std::uint64_t>(recipe.options.seed);
      request.evaluations = std::max<std::uint64_t>(1, reports[p].evaluations);
      request.evaluator = local ? local.get() : &evaluator;
      try {
        const PlacerResult result = place_with(method, request, ConfigTable("compare"));
        const EvaluationJob job{static_cast<std::uint32_t>(p), &result.placement};
        add(method, result.placement, simulated ? result.outcome : evaluator.evaluate(std::span(&job, 1)).front(),
            result.evaluations);
      } catch (const InputError& error) {  // it has no answer to this problem; the others have
        table.add({method, "-", fmt::format("no: {}", error.what()), "0"});
      }
    }
    add(reports[p].method + (p < training.problems().size() ? " (learned)" : " (never trained on it)"),
        *reports[p].placement, reports[p].outcome, reports[p].evaluations);
    fmt::print("{}\n", table.str());
    if (const auto bound = reports[p].lower_bound)
      fmt::print("no placement is faster than {}\n", human_seconds(to_seconds(*bound)));
  }
  fmt::print("{} of training; files in {}/: best.placement.json, metrics.csv, checkpoint.h5, config.toml\n",
             human_seconds(training.seconds()), folder.path());
}

// A moment of a job.
struct Work {
  double seconds = 0;
  Traffic traffic;
};

// Whether workers or rank 0 are the limit: of use to who decides on the number of ranks.
void say_how_busy(const World& world, std::uint64_t placements, const Work& began) {
  const double seconds = World::seconds() - began.seconds;
  const Traffic& traffic = world.traffic();
  if (world.size() == 1) {
    log_info("1 rank evaluated {} placements in {}", placements, human_seconds(seconds));
    return;
  }
  log_info("{} worker{} evaluated {} placements in {}; rank 0 waited for them {:.0f} % of that; {} messages, {}",
           world.size() - 1, world.size() == 2 ? "" : "s", placements, human_seconds(seconds),
           100 * (traffic.waited_s - began.traffic.waited_s) / seconds, traffic.messages - began.traffic.messages,
           human_bytes(traffic.bytes - began.traffic.bytes));
}

ExitCode run_training(const Arguments& arguments, World* world) {
  const auto deadline = arguments.time_limit.deadline();
  std::optional<RunFolder> resumed;
  if (!arguments.resume.empty()) resumed.emplace(RunFolder::open(arguments.resume));
  if (!arguments.resume.empty() && !arguments.init.empty())
    throw InputError("command line", "--resume continues with the run's own parameters; --init is for a new run");
  if (arguments.recipe.empty() == arguments.resume.empty())
    throw InputError("command line", "give a recipe, or --resume RUN to continue a run");
  ConfigTable config = read_config(arguments, resumed ? &*resumed : nullptr);
  if (arguments.go_on && !resumed)
    if (auto unfinished = unfinished_run(config)) {
      resumed.emplace(std::move(unfinished->folder));
      config = std::move(unfinished->config);
    }
  const bool resume = resumed.has_value();
  Training training(make_recipe(config), resume && has_checkpoint(resumed->path()));
  const RunFolder folder =
      resumed ? std::move(*resumed) : RunFolder::create(training.recipe().options.run, training.recipe().resolved());
  if (!folder.moved_aside().empty())
    log_info("the run that was in {} is now in {}", folder.path(), folder.moved_aside());

  const auto problems = training.problem_list();
  const TrainingTeam team = make_team(world, training, folder);
  const Work began = world != nullptr ? Work{World::seconds(), world->traffic()} : Work{};
  const Training::End end = training.run(folder, {.evaluator = *team.evaluator,
                                                  .crew = team.crew.get(),
                                                  .resume = resume,
                                                  .show_progress = !arguments.json || log::on_terminal(),
                                                  .deadline = deadline});

  if (world != nullptr) say_how_busy(*world, training.evaluations_of_session(), began);

  if (end == Training::End::interrupted) {
    log_info("stopped early; `emplace train --resume {}` continues", folder.path());
    return ExitCode::interrupted;
  }

  std::vector<PlacementReport> reports;  // of the problems, then of the held-out ones
  bool all_feasible = true;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const bool trained_on = p < training.problems().size();
    const Best& best = trained_on ? training.best()[p] : training.held_out_best()[p - training.problems().size()];
    if (!best.any) {
      log_warning("no update was about {}: it has no placement", quote(problems[p]->name));
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
    // What the simulator cannot undercut says nothing of a clock.
    if (!entry_of(training.evaluator()).measures)
      report.lower_bound = lower_bound(*problems[p], training.objective()).ticks;
    report.proved_optimal = best.outcome.feasible() && best.outcome.makespan == report.lower_bound;
    all_feasible = all_feasible && (best.outcome.feasible() || !trained_on);
    reports.push_back(report);
  }
  if (arguments.json) {
    const auto object = [&](std::size_t p) {
      if (reports[p].placement == nullptr) return Json();
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
    print_result(training, folder, *team.evaluator, reports);
  }
  return all_feasible ? ExitCode::done : ExitCode::infeasible;
}

}  // namespace

Action add_train(CLI::App& cli) {
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("recipe", arguments->recipe, "Recipe TOML file; with --resume the first key=value")
      ->type_name("RECIPE");
  cli.add_option("overrides", arguments->overrides, "key=value pairs over the recipe")->type_name("KEY=VALUE");
  cli.add_option("--resume", arguments->resume, "Continue the run in this folder")->type_name("RUN");
  cli.add_flag("--continue", arguments->go_on,
               "Resume the run of this recipe where its folder holds one, else begin it: the same command again and "
               "again until it is done");
  cli.add_option("--init", arguments->init, "Start from the parameters of the policy in this run folder")
      ->type_name("RUN");
  cli.add_option("--seed", arguments->seed, "Seed of every random stream")->check(at_least(0));
  cli.add_option("--evaluations", arguments->evaluations, "Budget: placements simulated")->check(at_least(0));
  cli.add_option("--seconds", arguments->seconds, "Budget: seconds of training");
  arguments->time_limit.add(cli, "with a checkpoint and exit code 75");
  cli.add_option("--schedule", arguments->schedule, "fifo, priority or in-order")->type_name("fifo|priority|in-order");
  cli.add_option("--objective", arguments->objective, "step or pipeline")->type_name("step|pipeline");
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(recipe_keys());
  return [arguments](World* world) {
    // The first positional of `--resume RUN key=value` is an override, not a recipe.
    if (!arguments->resume.empty() && arguments->recipe.find('=') != std::string::npos) {
      arguments->overrides.insert(arguments->overrides.begin(), arguments->recipe);
      arguments->recipe.clear();
    }
    return run_training(*arguments, world);
  };
}

}  // namespace emplace::app
