#include "experiment/sweep/sweep_run.hpp"
#include "base/text.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "base/log.hpp"
#include "emplace/base/error.hpp"
#include "experiment/sweep/one_trial.hpp"

namespace emplace::experiment {

namespace {

std::unique_ptr<SweepStrategy> strategy_of(const Sweep& sweep, std::optional<std::size_t> only) {
  std::unique_ptr<SweepStrategy> strategy = sweep.make_strategy();
  if (!only) return strategy;
  if (sweep.strategy_entry().needs_results)
    throw InputError(sweep.place,
                     "trials of strategy {} depend on the results of other trials, so a trial cannot be trained alone",
                     quote(sweep.options.strategy));
  if (*only >= strategy->trials())
    throw InputError(sweep.place, "there is no trial {}: the sweep has {}, numbered from 0", *only, strategy->trials());
  return std::make_unique<OneTrial>(std::move(strategy), *only);
}

}  // namespace

void check_alone(const Sweep& sweep, std::size_t trial) { (void)strategy_of(sweep, trial); }

namespace {

std::map<std::string, std::string> texts_of(const Space& space, const Assignment& assignment) {
  std::map<std::string, std::string> texts;
  for (std::size_t p = 0; p < space.size(); ++p)
    if (assignment.values[p]) texts[space.parameters()[p].key] = space.parameters()[p].text(*assignment.values[p]);
  return texts;
}

std::vector<TrialRow> waiting_rows(std::size_t trials) {
  std::vector<TrialRow> rows(trials);
  for (std::size_t trial = 0; trial < trials; ++trial) rows[trial].trial = trial;
  return rows;
}

void note(TrialRow& row, const SweepEvent& event, const SweepStrategy& strategy) {
  row.rung = event.work.rung;
  if (event.kind == SweepEvent::Kind::begin) {
    row.assignment = strategy.assignment(event.work.trial);
    row.status = TrialStatus::running;
    return;
  }
  row.objective = event.result.objective;
  row.error = event.result.error;
  row.share = strategy.share(event.work.rung);
  row.updates = event.result.updates;
  row.evaluations = event.result.evaluations;
  row.seconds += event.result.seconds;
  // Between two rungs a trial is `waiting`; mark_stopped() changes this when rows are read.
  row.status = !event.result.objective ? TrialStatus::failed
               : row.share == 1        ? TrialStatus::finished
                                       : TrialStatus::waiting;
}

// Sets the status of waiting trials that the strategy has stopped.
void mark_stopped(std::vector<TrialRow>& rows, const SweepStrategy& strategy) {
  for (TrialRow& row : rows)
    if (row.status == TrialStatus::waiting && strategy.stopped(row.trial)) row.status = TrialStatus::stopped;
}

// Repeats the recorded calls of next() and report() in their order, which brings the strategy back to its state.
// Returns the works that began and did not end. InputError if the strategy gives other works or values than the record
// has.
std::deque<Work> replay(const Sweep& sweep, SweepStrategy& strategy, std::span<const SweepEvent> events,
                        const std::string& record, std::vector<TrialRow>& rows) {
  std::deque<Work> open;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const SweepEvent& event = events[i];
    const auto refuse = [&](const std::string& why) {
      throw InputError(place_in_record(record, i), "{}: the folder belongs to another sweep", why);
    };
    if (event.kind == SweepEvent::Kind::begin) {
      const std::optional<Work> work = strategy.next();
      if (!work) refuse(fmt::format("trial {} began, where this sweep has nothing to begin", event.work.trial));
      if (*work != event.work)
        refuse(fmt::format("trial {} began rung {}, where this sweep begins rung {} of trial {}", event.work.trial,
                           event.work.rung, work->rung, work->trial));
      if (event.values != texts_of(sweep.space, strategy.assignment(work->trial)))
        refuse(fmt::format("trial {} has other values than in this sweep", event.work.trial));
      open.push_back(*work);
    } else {
      const auto begun = std::ranges::find(open, event.work);
      if (begun == open.end())
        refuse(fmt::format("rung {} of trial {} ended without having begun", event.work.rung, event.work.trial));
      open.erase(begun);
      strategy.report(event.work, event.result.objective);
    }
    note(rows[event.work.trial], event, strategy);
  }
  return open;
}

}  // namespace

const char* name_of(TrialStatus status) {
  constexpr const char* names[] = {"waiting", "running", "finished", "failed", "stopped"};
  return names[static_cast<std::size_t>(status)];
}

SweepRun::SweepRun(const Sweep& sweep, const std::string& record, std::optional<std::size_t> only)
    : sweep_(sweep), strategy_(strategy_of(sweep, only)), record_(record), rows_(waiting_rows(strategy_->trials())) {
  interrupted_ = replay(sweep, *strategy_, record_.events(), record, rows_);
  for (const Work& work : interrupted_) rows_[work.trial].status = TrialStatus::waiting;
}

std::optional<Work> SweepRun::next() {
  std::optional<Work> work;
  if (!interrupted_.empty()) {
    work = interrupted_.front();
    interrupted_.pop_front();
    rows_[work->trial].status = TrialStatus::running;
  } else {
    work = strategy_->next();
    if (!work) return std::nullopt;
    const SweepEvent event{.kind = SweepEvent::Kind::begin,
                           .work = *work,
                           .values = texts_of(sweep_.space, strategy_->assignment(work->trial))};
    record_.add(event);
    note(rows_[work->trial], event, *strategy_);
  }
  running_.insert(*work);
  return work;
}

void SweepRun::end(Work work, const TrialResult& result) {
  EMPLACE_CHECK(running_.contains(work), "trial {} is not running", work.trial);
  const SweepEvent event{.kind = SweepEvent::Kind::end, .work = work, .result = result};
  record_.add(event);
  running_.erase(work);
  strategy_->report(work, result.objective);
  note(rows_[work.trial], event, *strategy_);
}

bool SweepRun::finished() const { return interrupted_.empty() && running_.empty() && strategy_->finished(); }

std::vector<TrialRow> SweepRun::rows() const {
  std::vector<TrialRow> rows = rows_;
  mark_stopped(rows, *strategy_);
  return rows;
}

RecordedSweep recorded_sweep(const Sweep& sweep, const std::string& record) {
  const std::unique_ptr<SweepStrategy> strategy = sweep.make_strategy();
  RecordedSweep recorded{waiting_rows(strategy->trials()), {}};
  if (!file_exists(record)) return recorded;
  const std::vector<SweepEvent> events = read_record(record).events;
  (void)replay(sweep, *strategy, events, record, recorded.rows);
  mark_stopped(recorded.rows, *strategy);
  std::vector<bool> seen(recorded.rows.size());
  for (std::size_t i = events.size(); i-- > 0;) {
    if (events[i].kind != SweepEvent::Kind::end || seen[events[i].work.trial]) continue;
    seen[events[i].work.trial] = true;
    recorded.ended.push_back(events[i].work.trial);
  }
  std::ranges::reverse(recorded.ended);
  return recorded;
}

std::vector<TrialRow> collect_rows(const Sweep& sweep, std::span<const std::string> records) {
  std::vector<TrialRow> rows = waiting_rows(sweep.make_strategy()->trials());
  for (const std::string& path : records) {
    RecordedEvents record;
    try {
      record = read_record(path);
    } catch (const InputError& error) {  // a damaged record must not hide the other trials
      log_warning("{}; its trial is left out of the table", error.what());
    }
    if (record.events.empty()) continue;
    const std::size_t trial = record.events.front().work.trial;
    const std::unique_ptr<SweepStrategy> strategy = strategy_of(sweep, trial);
    if (rows[trial].rung) throw InputError(path, "trial {} is in another record too", trial);
    (void)replay(sweep, *strategy, record.events, path, rows);
  }
  return rows;
}

}  // namespace emplace::experiment
