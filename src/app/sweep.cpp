// emplace sweep SPACE [key=value ...]
#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "app/command.hpp"
#include "app/result_json.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "experiment/run/run_folder.hpp"
#include "experiment/sweep/coordinator.hpp"
#include "experiment/sweep/sweep_checks.hpp"
#include "experiment/sweep/sweep_folder.hpp"
#include "experiment/sweep/sweep_table.hpp"

namespace emplace::app {

namespace sweep_command {

struct Arguments {
  std::string space;
  std::vector<std::string> overrides;
  std::string resume;
  bool go_on = false;
  std::optional<std::size_t> trial;
  TimeLimitArgument time_limit;
  bool json = false;
};

std::string sweep_help() {
  std::string text =
      "SPACE is a TOML file: a recipe, or `recipe = FILE` (from this folder or from SPACE's) and keys that override\n"
      "it, and also\n\n"
      "  strategy = \"random\"        how trials are chosen (`emplace list strategies`)\n"
      "  trials = 50                how many\n"
      "  seeds = 3                  of each trial, or a list; the trial's objective is the median over them\n"
      "  ranks_per_trial = 1        MPI ranks that train one trial; one more coordinates\n"
      "  [space]                    the keys that vary:\n"
      "  learner = [\"ppo\", \"reinforce\"]\n"
      "  ppo.learning_rate = { log_uniform = [1e-4, 1e-1], when = { learner = \"ppo\" } }\n"
      "  reinforce.learning_rate = { uniform = [0.01, 0.1], when = { learner = \"reinforce\" } }\n"
      "  groups = { integers = [50, 400], log = true }\n\n"
      "The sweep's folder gets config.toml, sweep.csv (a row for each trial), record.jsonl and, under trials/, a run\n"
      "folder for each trial. `emplace sweep --resume FOLDER` continues a killed or interrupted sweep; no finished\n"
      "trial is trained again. Without MPI across trials, as a job array: `emplace sweep SPACE --trial I` for I from "
      "0.\n\n"
      "Example:\n"
      "  emplace sweep configs/sweeps/post-learners.toml run=runs/sweep";
  return text;
}

ConfigTable read_config(const Arguments& arguments, const experiment::RunFolder* resumed) {
  ConfigTable table = resumed != nullptr ? resumed->config() : ConfigTable::read_toml(arguments.space);
  if (resumed != nullptr) {
    const experiment::SweepOptions defaults;
    const auto& strategy = find_entry(experiment::sweep_strategies(), table.text("strategy", defaults.strategy),
                                      "strategy", table.place());
    for (const std::string& text : arguments.overrides) {
      const std::string key = text.substr(0, text.find('='));
      if (!experiment::sweep_may_change_on_resume(key, strategy))
        throw InputError("command line", "--resume continues the sweep as it is; {} cannot be changed", quote(key));
    }
  }
  experiment::apply_sweep_overrides(table, arguments.overrides);
  if (resumed == nullptr && !table.contains("run"))
    table.set("run", {"runs/" + std::filesystem::path(arguments.space).stem().string(), "default"});
  return table;
}

// Writes sweep.csv of a job array from the records that its trials have written so far, and returns its rows.
std::vector<experiment::TrialRow> write_table_of_array(const experiment::Sweep& sweep, const std::string& folder) {
  const std::vector<experiment::TrialRow> rows =
      experiment::collect_rows(sweep, experiment::records_of_array(sweep, folder));
  write_file(folder + "/sweep.csv", experiment::sweep_csv(sweep.space, rows));
  return rows;
}

using Clock = std::chrono::steady_clock;

void print_result(const experiment::Sweep& sweep, const std::vector<experiment::TrialRow>& rows,
                  const std::string& folder, Clock::time_point start, bool json) {
  const experiment::TrialRow* best = experiment::best_row(rows);
  if (json) {
    Json object = {{"trials", rows.size()}, {"folder", folder}, {"best", nullptr}};
    for (const experiment::TrialStatus status : {experiment::TrialStatus::finished, experiment::TrialStatus::stopped,
                                                 experiment::TrialStatus::failed, experiment::TrialStatus::waiting})
      object[experiment::name_of(status)] = std::ranges::count(rows, status, &experiment::TrialRow::status);
    if (best != nullptr) {
      Json values = Json::object();
      for (std::size_t p = 0; p < sweep.space.size(); ++p)
        if (best->assignment->values[p])
          values[sweep.space.parameters()[p].key] = sweep.space.parameters()[p].text(*best->assignment->values[p]);
      object["best"] = {{"trial", best->trial}, {"objective_s", *best->objective}, {"values", values}};
    }
    print_json(object);
    return;
  }
  fmt::print("{}files in {}/: sweep.csv, config.toml, trials/\n",
             experiment::sweep_progress(
                 sweep.space, rows, {.elapsed_seconds = std::chrono::duration<double>(Clock::now() - start).count()}),
             folder);
}

ExitCode exit_code_of(const std::vector<experiment::TrialRow>& rows) {
  return experiment::best_row(rows) != nullptr ? ExitCode::done : ExitCode::infeasible;
}

// Trains one trial of a job array. Other tasks may train other trials in the same folder at the same time.
ExitCode run_one_trial(const Arguments& arguments, dist::World* world) {
  const auto start = Clock::now();
  experiment::Sweep sweep = experiment::make_sweep(read_config(arguments, nullptr));
  const std::string folder = sweep.options.run;
  const std::string config = sweep.resolved().to_toml();
  experiment::check_alone(sweep, *arguments.trial);
  if (file_exists(folder + "/" + experiment::sweep_record_name))
    throw InputError(folder, "holds a sweep of all trials: `emplace sweep --resume {}` continues it", folder);
  make_folder(folder + "/trials");
  const auto lock = [&] {
    return experiment::FileLock(folder + "/lock.array", experiment::lock_patience_s, folder,
                                "another task holds its lock");
  };
  {
    const experiment::FileLock others = lock();
    if (!file_exists(folder + "/config.toml")) write_file(folder + "/config.toml", config);
  }
  if (read_file(folder + "/config.toml") != config)
    throw InputError(folder,
                     "holds another sweep (or this one with another ranks_per_trial): name another folder with run=");
  if (world != nullptr && world->size() > 1) sweep.options.ranks_per_trial = world->size() - 1;
  experiment::SweepRun run(sweep, experiment::record_of_trial(folder, *arguments.trial), arguments.trial);
  const experiment::SweepSession session{.world = world,
                                         .deadline = arguments.time_limit.deadline(),
                                         .show_progress = !arguments.json || log::on_terminal(),
                                         .writes_table = false};
  if (!experiment::run_sweep(sweep, run, folder, session)) {
    log_info("stopped early; the same command continues trial {}", *arguments.trial);
    return ExitCode::interrupted;
  }
  const std::vector<experiment::TrialRow> rows = [&] {
    const experiment::FileLock others = lock();
    return write_table_of_array(sweep, folder);
  }();
  print_result(sweep, rows, folder, start, arguments.json);
  const std::vector<experiment::TrialRow> row = {run.rows()[*arguments.trial]};
  return exit_code_of(row);
}

ExitCode run(const Arguments& arguments, dist::World* world) {
  const auto start = Clock::now();
  if (arguments.space.empty() == arguments.resume.empty())
    throw InputError("command line", "give a sweep's file, or --resume FOLDER to continue a sweep");
  if (arguments.trial) {
    if (!arguments.resume.empty() || arguments.go_on)
      throw InputError("command line", "--trial continues an unfinished trial without {}: give the sweep's file alone",
                       arguments.go_on ? "--continue" : "--resume");
    return run_one_trial(arguments, world);
  }
  const auto deadline = arguments.time_limit.deadline();
  std::optional<experiment::RunFolder> resumed;
  if (!arguments.resume.empty())
    resumed.emplace(experiment::RunFolder::open(arguments.resume, experiment::lock_patience_s));
  const experiment::Sweep sweep = experiment::make_sweep(read_config(arguments, resumed ? &*resumed : nullptr));
  experiment::check_ranks(sweep, world);
  for (const experiment::IdleOption& idle : experiment::idle_in_all_trials(sweep))
    log_warning("{} has no effect in any trial: {}", idle.key, idle.reason);
  if (arguments.go_on && !resumed)
    if (auto begun = experiment::begun_sweep(sweep, experiment::lock_patience_s)) resumed.emplace(std::move(*begun));
  const experiment::RunFolder folder =
      resumed ? std::move(*resumed)
              : experiment::RunFolder::create(sweep.options.run, sweep.resolved(), experiment::IfThere::refuse);
  if (!sweep.strategy_entry().deterministic)
    log_info("strategy {} depends on which trial ends first: with another number of ranks it may try other trials",
             quote(sweep.options.strategy));
  experiment::SweepRun sweep_run(sweep, folder.file(experiment::sweep_record_name));
  // A resumed sweep may have been given more trials; later resumes and reports read their number from here.
  folder.set_config(sweep.resolved());
  folder.set_status("running");
  bool finished = false;
  try {
    finished = experiment::run_sweep(
        sweep, sweep_run, folder.path(),
        {.world = world, .deadline = deadline, .show_progress = !arguments.json || log::on_terminal()});
  } catch (...) {
    folder.try_set_status("failed");
    throw;
  }
  folder.set_status(finished ? "finished" : "interrupted");
  if (!finished) {
    log_info("stopped early; `emplace sweep --resume {}` continues", folder.path());
    return ExitCode::interrupted;
  }
  print_result(sweep, sweep_run.rows(), folder.path(), start, arguments.json);
  return exit_code_of(sweep_run.rows());
}

}  // namespace sweep_command

Action add_sweep(CommandLine& cli) {
  using namespace sweep_command;
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("space", arguments->space, "Sweep TOML file; with --resume the first key=value").type_name("SPACE");
  cli.add_option("overrides", arguments->overrides, "key=value pairs that override it; space.KEY=... is a parameter")
      .type_name("KEY=VALUE");
  cli.add_option("--resume", arguments->resume, "Continue the sweep in this folder").type_name("FOLDER");
  cli.add_flag(
      "--continue", arguments->go_on,
      "Continue the sweep in the file's folder if there is one, else start it; the same command can be repeated "
      "until the sweep is done");
  cli.add_option("--trial", arguments->trial, "Train only this trial, as a task of a job array does")
      .within(0, 999'999);
  arguments->time_limit.add(cli, "with checkpoints and exit code 75");
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(sweep_help());
  return [arguments](dist::World* world) {
    if (!arguments->resume.empty() && arguments->space.find('=') != std::string::npos) {
      arguments->overrides.insert(arguments->overrides.begin(), arguments->space);
      arguments->space.clear();
    }
    return run(*arguments, world);
  };
}

}  // namespace emplace::app
