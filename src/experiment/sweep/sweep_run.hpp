// A sweep as it goes: what its strategy wants next, what is recorded, and where every trial stands. No MPI, no
// training: a coordinator asks next(), has the work done by whom it likes, and tells what came of it with end().
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

// Where one trial stands.
struct TrialRow {
  std::size_t trial = 0;
  TrialStatus status = TrialStatus::waiting;
  std::optional<double> objective = {};  // seconds, of the last rung that ended; none if it failed
  std::optional<Assignment> assignment = {};
  std::optional<std::size_t> rung = {};  // the last that began
  double share = 0;                      // of the budget, at the end of the last rung that ended
  std::uint64_t updates = 0, evaluations = 0;
  double seconds = 0;  // of all rungs that ended
  std::string error = {};
};

class SweepRun {
 public:
  // Goes on where the record ends, or begins one. InputError where the record has works or values that the sweep's
  // strategy would not have had: the folder then belongs to another sweep. `sweep` outlives the run. With `only`, a
  // trial's number, that trial alone, in a record of its own: for array jobs, of strategies that need no results.
  SweepRun(const Sweep& sweep, const std::string& record, std::optional<std::size_t> only = {});

  // What to train next, recorded as begun; works that were begun and not ended when the record was opened come first
  // (they continue from the trial's checkpoint). Nothing while all depends on results to come, or when finished().
  std::optional<Work> next();
  // What came of a work that next() gave. A work is given and ended once, whatever happens between.
  void end(Work work, const TrialResult& result);
  [[nodiscard]] bool finished() const;

  [[nodiscard]] const SweepStrategy& strategy() const { return *strategy_; }
  [[nodiscard]] std::vector<TrialRow> rows() const;
  // Works that next() gave and that have not ended.
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

// A sweep as its record tells it, read while others may be adding to it.
struct RecordedSweep {
  std::vector<TrialRow> rows;      // one a trial; works that began and did not end are running
  std::vector<std::size_t> ended;  // trials with a rung that ended, in the order in which the last of each did
};
// Nothing is written. No file is a sweep that has not begun. InputError as SweepRun.
RecordedSweep recorded_sweep(const Sweep& sweep, const std::string& record);

// InputError where the sweep has no such trial, or its strategy needs the results of others.
void check_alone(const Sweep& sweep, std::size_t trial);
// The rows of a sweep whose trials were trained one by one (`only`), from the records of those that are there. A
// damaged one is left out, with a warning.
std::vector<TrialRow> collect_rows(const Sweep& sweep, std::span<const std::string> records);

}  // namespace emplace::experiment
