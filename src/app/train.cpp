// emplace train [RECIPE] [PROBLEM] [key=value ...]
#include <fmt/core.h>

#include <memory>

#include "app/command.hpp"
#include "app/train_config.hpp"
#include "app/training_result.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "experiment/run/training.hpp"
#include "experiment/run/training_backend.hpp"

namespace emplace::app {

namespace train_command {

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
         "SIGUSR1 and Ctrl-C end the run early with a checkpoint; `emplace train --resume RUN` continues it.\n\n"
         "Examples:\n"
         "  emplace train problem.json --seconds 60\n"
         "  emplace train post problem.json run=runs/mine --evaluations 20000\n"
         "  emplace train --resume runs/mine evaluations=40000";
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

// The run that continues, if one does, and its configuration; else that of the new run.
struct Begun {
  std::optional<experiment::RunFolder> resumed;
  ConfigTable config;
};
Begun begin(const TrainArguments& arguments) {
  if (!arguments.resume.empty()) {
    Begun begun{experiment::RunFolder::open(arguments.resume), {}};
    begun.config = read_config(arguments, &*begun.resumed);
    return begun;
  }
  Begun begun{std::nullopt, read_config(arguments, nullptr)};
  if (!arguments.go_on) return begun;
  if (auto unfinished = experiment::unfinished_run(begun.config, 0, experiment::IfThere::refuse))
    return {std::move(unfinished->folder), std::move(unfinished->config)};
  return begun;
}

ExitCode run_training(TrainArguments arguments, dist::World* world) {
  set_work_to_save(false);  // until there is a run
  const auto deadline = arguments.time_limit.deadline();
  check(arguments);
  Begun begun = begin(arguments);
  const bool resume = begun.resumed.has_value();
  experiment::Recipe recipe = experiment::make_recipe(begun.config);
  if (!resume) experiment::RunFolder::refuse_if_there(recipe.options.run);  // before anything slow is done
  experiment::Training training(std::move(recipe), resume && experiment::has_checkpoint(begun.resumed->path()));
  training.check_ranks(world);
  set_work_to_save(true);
  const experiment::RunFolder folder =
      resume ? std::move(*begun.resumed)
             : experiment::RunFolder::create(training.recipe().options.run, training.recipe().resolved(),
                                             experiment::IfThere::refuse);

  const experiment::TrainingBackend backend = experiment::make_training_backend(world, training, folder);
  const Work began = world != nullptr ? Work{dist::World::seconds(), world->traffic()} : Work{};
  experiment::Training::Session session = backend.session();
  session.resume = resume;
  session.show_progress = !arguments.json || log::on_terminal();
  session.deadline = deadline;
  const experiment::Training::End end = training.run(folder, session);
  if (world != nullptr) say_how_busy(*world, training.evaluations_of_session(), began);
  if (end == experiment::Training::End::interrupted) {
    log_info("stopped early; `emplace train --resume {}` continues", folder.path());
    return ExitCode::interrupted;
  }

  // From here on a stop leaves out comparisons only: the run is saved.
  const std::vector<PlacementReport> reports = reports_of(training);
  if (arguments.json)
    print_json(training_json(training, folder, reports));
  else
    print_training(training, folder, *backend.evaluator, reports);
  if (stop_requested()) {
    log_info("the training had ended when the stop was requested: all of it is saved");
    return ExitCode::interrupted;
  }
  return all_feasible(training) ? ExitCode::done : ExitCode::infeasible;
}

}  // namespace train_command

Action add_train(CommandLine& cli) {
  using namespace train_command;
  const auto arguments = std::make_shared<TrainArguments>();
  cli.add_option(
         "recipe", arguments->words.recipe,
         "Recipe: a name of `emplace list recipes` or a TOML file. Without one, a recipe is chosen for the PROBLEM")
      .type_name("RECIPE");
  cli.add_option("overrides", arguments->words.overrides,
                 "The PROBLEM to train on (else the recipe's own), and key=value pairs that override the recipe")
      .type_name("[PROBLEM] KEY=VALUE");
  cli.add_option("--resume", arguments->resume, "Continue the run in this folder").type_name("RUN");
  cli.add_flag("--continue", arguments->go_on,
               "Resume the run in the recipe's folder if there is one, else start it; the same command can be repeated "
               "until the run is done");
  cli.add_option("--init", arguments->init, "Start from the parameters of the policy in this run folder")
      .type_name("RUN");
  cli.add_option("--seed", arguments->seed, "Seed of every random stream (default: the recipe's, or 0)").at_least(0);
  cli.add_option("--evaluations", arguments->evaluations, "Budget: placements simulated (default: the recipe's)")
      .at_least(0);
  cli.add_option("--seconds", arguments->seconds, "Budget: seconds of training (default: the recipe's)");
  arguments->time_limit.add(cli, "with a checkpoint and exit code 75");
  cli.add_option("--schedule", arguments->schedule, "fifo, priority or in-order (default: the recipe's, or fifo)")
      .type_name("fifo|priority|in-order");
  cli.add_option("--objective", arguments->objective, "step or pipeline (default: the recipe's, or step)")
      .type_name("step|pipeline");
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(recipe_keys());
  return [arguments](dist::World* world) { return run_training(*arguments, world); };
}

}  // namespace emplace::app
