#include "experiment/sweep/sweep_folder.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "emplace/base/config.hpp"
#include "emplace/base/error.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/sweep/coordinator.hpp"

namespace emplace::experiment {

namespace {

void read_array(SweepFolder& folder) {
  folder.rows = collect_rows(folder.sweep, records_of_array(folder.sweep, folder.path));
  for (TrialRow& row : folder.rows) {
    if (row.status != TrialStatus::running) continue;
    if (is_locked(record_of_trial(folder.path, row.trial) + ".lock"))
      folder.live = true;
    else
      row.status = TrialStatus::waiting;
  }
  const bool waits = std::ranges::any_of(folder.rows, [](const TrialRow& row) {
    return row.status == TrialStatus::waiting || row.status == TrialStatus::running;
  });
  folder.status = folder.live ? "running" : waits ? "interrupted" : "finished";
}

}  // namespace

std::string record_of_trial(const std::string& folder, std::size_t trial) {
  return trial_folder(folder, trial) + ".jsonl";
}

std::vector<std::string> records_of_array(const Sweep& sweep, const std::string& folder) {
  std::vector<std::string> records;
  const std::size_t trials = sweep.make_strategy()->trials();
  for (std::size_t trial = 0; trial < trials; ++trial)
    if (std::string record = record_of_trial(folder, trial); file_exists(record)) records.push_back(std::move(record));
  return records;
}

std::optional<RunFolder> begun_sweep(const Sweep& sweep, double patience_s) {
  if (!file_exists(sweep.options.run + "/config.toml")) return {};
  RunFolder folder = RunFolder::open(sweep.options.run, patience_s);
  const ConfigTable there = folder.config();
  if (!there.contains("space")) throw InputError(folder.path(), "holds a run of `emplace train`, not a sweep");
  // As text and back, like the other one: 1.0 and 1 are then equal.
  const ConfigTable here = ConfigTable::parse_toml(sweep.resolved().to_toml(), "sweep");
  const std::string differs = difference_in(there, here, [&](const std::string& key) {
    return key == "run" || sweep_may_change_on_resume(key, sweep.strategy_entry());
  });
  if (!differs.empty())
    throw InputError(folder.path(), "holds another sweep: {}; give this one another run=FOLDER", differs);
  return folder;
}

bool is_sweep_folder(const std::string& path) {
  return file_exists(path + "/config.toml") && RunFolder::config_of(path).contains("space");
}

SweepFolder read_sweep_folder(const std::string& path) {
  SweepFolder folder{
      .path = path, .sweep = make_sweep(RunFolder::config_of(path)), .status = {}, .rows = {}, .ended = {}};
  const std::string record = path + "/" + sweep_record_name;
  folder.array = !file_exists(record) && !records_of_array(folder.sweep, path).empty();
  if (folder.array) {
    read_array(folder);
    return folder;
  }
  // Read before the record: otherwise a sweep that ends in between would look like a killed one.
  folder.live = RunFolder::in_use(path);
  RecordedSweep recorded = recorded_sweep(folder.sweep, record);
  folder.rows = std::move(recorded.rows);
  folder.ended = std::move(recorded.ended);
  folder.status = RunFolder::status_now(path, folder.live);
  if (!folder.live)
    for (TrialRow& row : folder.rows)
      if (row.status == TrialStatus::running) row.status = TrialStatus::waiting;
  return folder;
}

}  // namespace emplace::experiment
