#include "experiment/sweep/coordinator.hpp"

#include <fmt/core.h>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "dist/groups.hpp"
#include "emplace/base/error.hpp"
#include "experiment/sweep/live_table.hpp"
#include "experiment/sweep/sweep_table.hpp"
#include "experiment/sweep/trial.hpp"

namespace emplace::experiment {

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Writes sweep.csv and draws the live table while the sweep runs.
class Display {
 public:
  Display(const Sweep& sweep, const SweepRun& run, const std::string& folder, std::size_t at_once,
          const SweepSession& session)
      : sweep_(sweep),
        run_(run),
        file_(session.writes_table ? folder + "/sweep.csv" : ""),
        at_once_(at_once),
        live_(session.show_progress) {}

  void changed() { is_new_ = true; }
  // Writes sweep.csv after changes of the record, at most once a second, since the table of a large sweep takes time.
  void tick() {
    if (is_new_ && seconds_since(written_) >= 1) write(run_.rows());
    if (live_.is_due()) live_.show(lines());
  }
  // Called when no trial is being trained any more.
  void end() {
    std::vector<TrialRow> rows = run_.rows();
    for (TrialRow& row : rows)
      if (row.status == TrialStatus::running) row.status = TrialStatus::waiting;
    write(rows);
  }

 private:
  void write(const std::vector<TrialRow>& rows) {
    if (!file_.empty()) write_file(file_, sweep_csv(sweep_.space, rows));
    written_ = Clock::now();
    is_new_ = false;
  }
  [[nodiscard]] std::string lines() const {
    return sweep_progress(sweep_.space, run_.rows(),
                          {.elapsed_seconds = seconds_since(start_),
                           .planned_budgets = run_.strategy().planned_budgets(),
                           .at_once = at_once_});
  }

  const Sweep& sweep_;
  const SweepRun& run_;
  std::string file_;
  std::size_t at_once_;
  LiveTable live_;
  Clock::time_point start_ = Clock::now(), written_{};
  bool is_new_ = true;
};

class SweepCoordinator {
 public:
  SweepCoordinator(const Sweep& sweep, SweepRun& run, const std::string& folder, const SweepSession& session)
      : sweep_(sweep), run_(run), folder_(folder), session_(session) {}

  bool here() {
    Display display(sweep_, run_, folder_, 1, session_);
    const auto stop = [&] {
      display.tick();
      return stop_requested();
    };
    while (!ends_early()) {
      const std::optional<Work> work = run_.next();
      if (!work) break;
      display.changed();
      if (!take(train_trial(task(*work), nullptr, stop))) break;
      display.changed();
    }
    display.end();
    return finished();
  }

  bool on(dist::World& world) {
    dist::Groups groups(world, static_cast<std::size_t>(sweep_.options.ranks_per_trial));
    Display display(sweep_, run_, folder_, groups.count(), session_);
    dist::hand_out(groups, {.next = [&]() -> std::optional<std::string> {
                              const std::optional<Work> work = run_.next();
                              if (!work) return std::nullopt;
                              display.changed();
                              return to_text(task(*work));
                            },
                            // After a trial that ran out of time or cannot be trained here, no other trial begins.
                            .take =
                                [&](const std::string& answer) {
                                  display.changed();
                                  return take(answer_from(answer));
                                },
                            .ends_early = [&] { return ends_early(); },
                            .tick = [&] { display.tick(); }});
    display.end();
    return finished();
  }

 private:
  // Returns false if the work is not done, which ends the sweep early.
  bool take(const TrialAnswer& answer) {
    if (!answer.undone.empty() && undone_.empty())
      undone_ = fmt::format("trial {}: {}", answer.work.trial, answer.undone);
    if (answer.interrupted || !answer.undone.empty()) return false;
    run_.end(answer.work, answer.result);
    return true;
  }
  [[nodiscard]] bool finished() const {
    if (!undone_.empty()) throw EnvironmentError("{}; a resumed sweep continues from there", undone_);
    return run_.finished();
  }
  [[nodiscard]] bool ends_early() const {
    return stop_requested() || (session_.deadline && Clock::now() >= *session_.deadline);
  }
  [[nodiscard]] TrialTask task(Work work) const {
    TrialTask task = task_of(sweep_, run_.strategy(), work, trial_folder(folder_, work.trial));
    if (session_.deadline) task.seconds_left = std::chrono::duration<double>(*session_.deadline - Clock::now()).count();
    return task;
  }

  const Sweep& sweep_;
  SweepRun& run_;
  const std::string folder_;
  const SweepSession& session_;
  std::string undone_;  // the first trial that could not be trained here, and why
};

}  // namespace

std::string trial_folder(const std::string& sweep_folder, std::size_t trial) {
  return fmt::format("{}/trials/{:04}", sweep_folder, trial);
}

void check_ranks(const Sweep& sweep, const dist::World* world) {
  if (world == nullptr || world->size() == 1) return;
  const auto ranks = static_cast<std::size_t>(world->size());
  const auto per_trial = static_cast<std::size_t>(sweep.options.ranks_per_trial);
  const dist::GroupSizes sizes = dist::group_sizes(ranks, per_trial);
  if (sizes.groups == 0)
    throw InputError(sweep.place, "ranks_per_trial is {}, but one of the {} ranks only coordinates: start at least {}",
                     per_trial, ranks, per_trial + 1);
  if (sizes.idle > 0)
    log_warning("{} of {} ranks idle{}: one coordinates, and groups of {} do not divide the other {}", sizes.idle,
                ranks, sizes.idle == 1 ? "s" : "", per_trial, ranks - 1);
}

bool run_sweep(const Sweep& sweep, SweepRun& run, const std::string& folder, const SweepSession& session) {
  make_folder(folder + "/trials");
  SweepCoordinator coordinator(sweep, run, folder, session);
  if (session.world == nullptr || session.world->size() == 1) return coordinator.here();
  return coordinator.on(*session.world);
}

void train_trials(dist::World& world) {
  dist::work_in_group(world, [](dist::World& part, const std::string& task, const std::function<bool()>& stop) {
    return to_text(train_trial(task_from(task), &part, stop));
  });
}

}  // namespace emplace::experiment
