// The state of a running sweep: its strategy, its record and the status of every trial. It has no MPI and no training:
// a coordinator calls next(), trains the work in any way, and reports the result with end().
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "experiment/sweep/record.hpp"
#include "experiment/sweep/sweep.hpp"

namespace emplace::experiment {

enum class TrialStatus : std::uint8_t { waiting, running, finished, failed, stopped };
const char* name_of(TrialStatus status);

// The state of one trial.
struct TrialRow {
  std::size_t trial = 0;
  TrialStatus status = TrialStatus::waiting;
  std::optional<double> objective = {};  // seconds, from the last rung that ended; none if it failed
  std::optional<Assignment> assignment = {};
  std::optional<std::size_t> rung = {};  // the last one that began
  double share = 0;                      // of the budget, after the last rung that ended
  std::uint64_t updates = 0, evaluations = 0;
  double seconds = 0;  // of all rungs that ended
  std::string error = {};
};

class SweepRun {
 public:
  // Continues after the last event of the record, or creates the record. InputError if the record has works or values
  // that the sweep's strategy does not give: the folder is then of another sweep. `sweep` must outlive the run. `only`:
  // the number of a single trial to train, with its own record, for job arrays of strategies that need no results.
  SweepRun(const Sweep& sweep, const std::string& record, std::optional<std::size_t> only = {});

  // The next training, which is recorded as begun. Works that had begun and not ended when the record was opened come
  // first; they continue from the trial's checkpoint. None while the next work depends on missing results, or when
  // finished().
  std::optional<Work> next();
  // Records the result of a work that next() returned. Each work is returned once and must be ended once.
  void end(Work work, const TrialResult& result);
  [[nodiscard]] bool finished() const;

  [[nodiscard]] const SweepStrategy& strategy() const { return *strategy_; }
  [[nodiscard]] std::vector<TrialRow> rows() const;
  // Number of works that next() returned and that have not ended.
  [[nodiscard]] std::size_t running() const { return running_.size(); }
  [[nodiscard]] std::size_t interrupted() const { return interrupted_.size(); }

 private:
  const Sweep& sweep_;
  std::unique_ptr<SweepStrategy> strategy_;
  SweepRecord record_;
  std::vector<TrialRow> rows_;
  std::deque<Work> interrupted_;
  std::set<Work> running_;
};

// The state of a sweep as read from its record, to which another process may be appending.
struct RecordedSweep {
  std::vector<TrialRow> rows;      // one for each trial; a trial whose work began and did not end is `running`
  std::vector<std::size_t> ended;  // trials with a rung that ended, in the order in which their last rungs ended
};
// Writes nothing. If the file does not exist, no trial has begun. InputError as for SweepRun.
RecordedSweep recorded_sweep(const Sweep& sweep, const std::string& record);

// InputError if the sweep has no such trial, or if its strategy needs the results of other trials.
void check_alone(const Sweep& sweep, std::size_t trial);
// The rows of a sweep whose trials were trained separately (`only`), from the records that exist. A damaged record is
// left out with a warning.
std::vector<TrialRow> collect_rows(const Sweep& sweep, std::span<const std::string> records);

}  // namespace emplace::experiment
