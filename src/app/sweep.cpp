// emplace sweep SPACE [key=value ...]
#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "command.hpp"
#include "emplace/base/files.hpp"
#include "emplace/base/log.hpp"
#include "emplace/base/text.hpp"
#include "emplace/run/run_folder.hpp"
#include "emplace/sweep/coordinator.hpp"
#include "emplace/sweep/sweep_folder.hpp"
#include "emplace/sweep/sweep_table.hpp"
#include "result_json.hpp"

namespace emplace::app {

namespace {

struct Arguments {
  std::string space;
  std::vector<std::string> overrides;
  std::string resume;
  std::optional<std::size_t> trial;
  TimeLimitArgument time_limit;
  bool json = false;
};

std::string sweep_help() {
  std::string text =
      "SPACE is a TOML file: a recipe, or `recipe = FILE` (from here or from SPACE's folder) with keys over it, and "
      "beside it\n\n"
      "  strategy = \"random\"        how trials are chosen (`emplace list strategies`)\n"
      "  trials = 50                how many\n"
      "  seeds = 3                  of each trial, or a list; its objective is the median\n"
      "  ranks_per_trial = 1        MPI ranks that train one trial; one more coordinates\n"
      "  [space]                    the keys that vary:\n"
      "  learner = [\"ppo\", \"reinforce\"]\n"
      "  ppo.learning_rate = { log_uniform = [1e-4, 1e-1], when = { learner = \"ppo\" } }\n"
      "  reinforce.learning_rate = { uniform = [0.01, 0.1], when = { learner = \"reinforce\" } }\n"
      "  groups = { integers = [50, 400], log = true }\n\n"
      "The sweep's folder gets config.toml, sweep.csv (one row a trial), record.jsonl and a run folder a trial under\n"
      "trials/. A killed or interrupted sweep goes on with `emplace sweep --resume FOLDER`; no finished trial is "
      "trained\n"
      "again. Without MPI across trials, as a job array: `emplace sweep SPACE --trial I` for I from 0.";
  return text;
}

ConfigTable read_config(const Arguments& arguments, const RunFolder* resumed) {
  ConfigTable table = resumed != nullptr ? resumed->config() : ConfigTable::read_toml(arguments.space);
  if (resumed != nullptr) {
    const SweepOptions defaults;
    const auto& strategy =
        find_entry(sweep_strategies(), table.text("strategy", defaults.strategy), "strategy", table.place());
    for (const std::string& text : arguments.overrides) {
      const std::string key = text.substr(0, text.find('='));
      if (!sweep_may_change_on_resume(key, strategy))
        throw InputError("command line", "--resume continues the sweep as it is; {} cannot be changed", quote(key));
    }
  }
  apply_sweep_overrides(table, arguments.overrides);
  if (resumed == nullptr && !table.contains("run"))
    table.set("run", {"runs/" + std::filesystem::path(arguments.space).stem().string(), "default"});
  return table;
}

// The table of a job array: what its trials' records say so far.
std::vector<TrialRow> write_table_of_array(const Sweep& sweep, const std::string& folder) {
  const std::vector<TrialRow> rows = collect_rows(sweep, records_of_array(sweep, folder));
  write_file(folder + "/sweep.csv", sweep_csv(sweep.space, rows));
  return rows;
}

using Clock = std::chrono::steady_clock;

void print_result(const Sweep& sweep, const std::vector<TrialRow>& rows, const std::string& folder,
                  Clock::time_point start, bool json) {
  const TrialRow* best = best_row(rows);
  if (json) {
    Json object = {{"trials", rows.size()}, {"folder", folder}, {"best", nullptr}};
    for (const TrialStatus status :
         {TrialStatus::finished, TrialStatus::stopped, TrialStatus::failed, TrialStatus::waiting})
      object[name_of(status)] = std::ranges::count(rows, status, &TrialRow::status);
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
             sweep_progress(sweep.space, rows,
                            {.elapsed_seconds = std::chrono::duration<double>(Clock::now() - start).count()}),
             folder);
}

ExitCode exit_code_of(const std::vector<TrialRow>& rows) {
  return best_row(rows) != nullptr ? ExitCode::done : ExitCode::infeasible;
}

// One trial of a job array: others may be trained in the same folder at the same time.
ExitCode run_one_trial(const Arguments& arguments, World* world) {
  const auto start = Clock::now();
  Sweep sweep = make_sweep(read_config(arguments, nullptr));
  const std::string folder = sweep.options.run;
  const std::string config = sweep.resolved().to_toml();
  check_alone(sweep, *arguments.trial);
  if (file_exists(folder + "/" + sweep_record_name))
    throw InputError(folder, "holds a sweep of all trials: `emplace sweep --resume {}` continues it", folder);
  make_folder(folder + "/trials");
  const auto lock = [&] {
    return FileLock(folder + "/lock.array", lock_patience_s, folder, "another task holds its lock");
  };
  {
    const FileLock others = lock();
    if (!file_exists(folder + "/config.toml")) write_file(folder + "/config.toml", config);
  }
  if (read_file(folder + "/config.toml") != config)
    throw InputError(folder,
                     "holds another sweep than this one (or one of other ranks_per_trial): name another with run=");
  if (world != nullptr && world->size() > 1) sweep.options.ranks_per_trial = world->size() - 1;
  SweepRun run(sweep, record_of_trial(folder, *arguments.trial), arguments.trial);
  const SweepSession session{.world = world,
                             .deadline = arguments.time_limit.deadline(),
                             .show_progress = !arguments.json || log::on_terminal(),
                             .writes_table = false};
  if (!run_sweep(sweep, run, folder, session)) {
    log_info("stopped early; the same command continues trial {}", *arguments.trial);
    return ExitCode::interrupted;
  }
  const std::vector<TrialRow> rows = [&] {
    const FileLock others = lock();
    return write_table_of_array(sweep, folder);
  }();
  print_result(sweep, rows, folder, start, arguments.json);
  const std::vector<TrialRow> row = {run.rows()[*arguments.trial]};
  return exit_code_of(row);
}

ExitCode run(const Arguments& arguments, World* world) {
  const auto start = Clock::now();
  if (arguments.space.empty() == arguments.resume.empty())
    throw InputError("command line", "give a sweep's file, or --resume FOLDER to continue a sweep");
  if (arguments.trial) {
    if (!arguments.resume.empty())
      throw InputError("command line", "--trial continues by itself: give the sweep's file, not --resume");
    return run_one_trial(arguments, world);
  }
  const auto deadline = arguments.time_limit.deadline();
  std::optional<RunFolder> resumed;
  if (!arguments.resume.empty()) resumed.emplace(RunFolder::open(arguments.resume, lock_patience_s));
  const bool resume = resumed.has_value();
  const Sweep sweep = make_sweep(read_config(arguments, resume ? &*resumed : nullptr));
  check_ranks(sweep, world);
  const RunFolder folder = resume ? std::move(*resumed) : RunFolder::create(sweep.options.run, sweep.resolved());
  if (!folder.moved_aside().empty())
    log_info("the sweep that was in {} is now in {}", folder.path(), folder.moved_aside());
  if (!sweep.strategy_entry().deterministic)
    log_info("strategy {} decides by who is done first: another number of ranks may try other trials",
             quote(sweep.options.strategy));
  SweepRun sweep_run(sweep, folder.file(sweep_record_name));
  // It may have more trials than it had: a plain resume, and a report, keep to them.
  folder.set_config(sweep.resolved());
  folder.set_status("running");
  bool finished = false;
  try {
    finished =
        run_sweep(sweep, sweep_run, folder.path(),
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

}  // namespace

Action add_sweep(CLI::App& cli) {
  const auto arguments = std::make_shared<Arguments>();
  cli.add_option("space", arguments->space, "Sweep TOML file; with --resume the first key=value")->type_name("SPACE");
  cli.add_option("overrides", arguments->overrides, "key=value pairs over it; space.KEY=... is a parameter")
      ->type_name("KEY=VALUE");
  cli.add_option("--resume", arguments->resume, "Continue the sweep in this folder")->type_name("FOLDER");
  cli.add_option("--trial", arguments->trial, "Train this trial alone: a task of a job array")
      ->check(CLI::Range(0, 999'999));
  arguments->time_limit.add(cli, "with checkpoints and exit code 75");
  cli.add_flag("--json", arguments->json, "Print the result as one JSON object");
  cli.footer(sweep_help());
  return [arguments](World* world) {
    if (!arguments->resume.empty() && arguments->space.find('=') != std::string::npos) {
      arguments->overrides.insert(arguments->overrides.begin(), arguments->space);
      arguments->space.clear();
    }
    return run(*arguments, world);
  };
}

}  // namespace emplace::app
