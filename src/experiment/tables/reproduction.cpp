#include "experiment/tables/reproduction.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "dist/groups.hpp"
#include "emplace/base/error.hpp"
#include "experiment/run/run_folder.hpp"
#include "experiment/tables/expected_times.hpp"
#include "experiment/tables/plan.hpp"

namespace emplace::experiment {

namespace {

using Clock = std::chrono::steady_clock;

// Results by the ids of their tasks.
using Results = std::map<std::string, CellResult>;

// Does all tasks that have no result yet, here or on groups of ranks.
class ReproductionCoordinator {
 public:
  ReproductionCoordinator(const Plan& plan, const ReproductionSession& session) : session_(session) {
    for (const auto& [id, task] : plan.trainings()) add(task);
    for (const PlannedCell& cell : plan.cells())
      for (const CellTask& task : cell.tasks) add(task);
    // Seed by seed, so that a table that was ended early has most of its cells.
    std::ranges::stable_sort(left_, {}, &CellTask::seed);
  }

  void make_all() {
    if (left_.empty()) return;
    progress_.emplace(session_.show_progress);
    if (session_.world == nullptr || session_.world->size() == 1)
      here();
    else
      on(*session_.world);
    progress_.reset();
  }
  [[nodiscard]] std::size_t tasks() const { return tasks_; }
  [[nodiscard]] const Results& results() const { return results_; }
  // The first task that this machine could not do, and why; or "".
  [[nodiscard]] const std::string& undone() const { return undone_; }

 private:
  void add(const CellTask& task) {
    ++tasks_;
    if (const auto result = finished_result(task)) {
      results_[task.id] = *result;
      time_left_.took(task, result->seconds);
    } else {
      left_.push_back(task);
    }
  }

  // Whether the training that it needs, if any, is done.
  [[nodiscard]] bool is_ready(const CellTask& task) const {
    return task.after.empty() || results_.contains(task.after);
  }
  // Whether it can be done in the time that is left, or can be continued in a later session.
  [[nodiscard]] bool has_time(const CellTask& task) const {
    return !task.recipe.empty() || !task.seconds || *task.seconds <= seconds_left();
  }
  [[nodiscard]] double seconds_left() const {
    if (!session_.deadline) return std::numeric_limits<double>::infinity();
    return std::chrono::duration<double>(*session_.deadline - Clock::now()).count();
  }

  // The first task that is ready; tasks without enough time come last. None if none is ready. A task that needs a
  // training that failed fails too.
  std::optional<CellTask> next() {
    while (true) {
      auto ready = std::ranges::find_if(left_, [&](const CellTask& task) { return is_ready(task) && has_time(task); });
      if (ready == left_.end())
        ready = std::ranges::find_if(left_, [&](const CellTask& task) { return is_ready(task); });
      if (ready == left_.end()) return std::nullopt;
      CellTask task = std::move(*ready);
      left_.erase(ready);
      const std::string why = task.after.empty() ? "" : results_.at(task.after).reason;
      if (why.empty()) {
        if (session_.deadline) task.seconds_left = seconds_left();
        making_.emplace(task.id, Made{task, Clock::now()});
        doing_ = task.id;
        return task;
      }
      results_[task.id] = {.reason = why};
      keep_result(task, results_[task.id]);
    }
  }

  void here() {
    const auto stop = [&] {
      show(1);
      return stop_requested();
    };
    while (!ends_early()) {
      const std::optional<CellTask> task = next();
      show(1);
      if (!task || !take(make_cell(*task, nullptr, stop))) return;
    }
  }

  void on(dist::World& world) {
    dist::Groups groups(world, session_.ranks_per_cell);
    dist::hand_out(groups, {.next = [&]() -> std::optional<std::string> {
                              const std::optional<CellTask> task = next();
                              return task ? std::optional(to_text(*task)) : std::nullopt;
                            },
                            .take = [&](const std::string& answer) { return take(cell_answer_from(answer)); },
                            .ends_early = [&] { return ends_early(); },
                            .tick = [&] { show(groups.count()); }});
  }

  // Returns false if the task was stopped. A task that cannot be done on this machine does not stop the others.
  bool take(const CellAnswer& answer) {
    const auto made = making_.extract(answer.id);
    if (!answer.undone.empty() && undone_.empty()) undone_ = fmt::format("{}: {}", answer.id, answer.undone);
    if (answer.interrupted) return false;
    if (!answer.undone.empty()) return true;
    results_[answer.id] = answer.result;
    time_left_.took(made.mapped().task, answer.result.seconds);
    return true;
  }
  [[nodiscard]] bool ends_early() const {
    return stop_requested() || (session_.deadline && Clock::now() >= *session_.deadline);
  }
  // Called for every placement of a search, so it draws at most ten times a second.
  void show(std::size_t side_by_side) {
    using namespace std::chrono_literals;
    if (Clock::now() - shown_ < 100ms) return;
    shown_ = Clock::now();
    double seconds = 0;
    for (const CellTask& task : left_) seconds += time_left_.of(task);
    for (const auto& [id, made] : making_) {
      const std::chrono::duration<double> since = Clock::now() - made.since;
      seconds += std::max(0.0, time_left_.of(made.task) - since.count());
    }
    progress_->update(static_cast<double>(results_.size()) / static_cast<double>(tasks_),
                      fmt::format("{} of {} jobs  {}", results_.size(), tasks_, doing_),
                      seconds / static_cast<double>(side_by_side));
  }

  struct Made {
    CellTask task;
    Clock::time_point since;
  };
  const ReproductionSession& session_;
  std::optional<Progress> progress_;
  std::deque<CellTask> left_;
  std::map<std::string, Made> making_;  // by id
  Results results_;
  ExpectedTimes time_left_;
  std::size_t tasks_ = 0;
  std::string doing_;
  std::string undone_;
  Clock::time_point shown_{};
};

// The figures of a cell from the results of its seeds.
CellFigures figures_of(const PlannedCell& cell, const Results& results) {
  CellFigures figures;
  figures.method = cell.method;
  std::vector<double> times;
  std::optional<CellResult> worst;
  for (const CellTask& task : cell.tasks) {
    const auto found = results.find(task.id);
    if (found == results.end()) return {.method = cell.method};
    const CellResult& result = found->second;
    ++figures.seeds;
    figures.seconds_spent += result.seconds;
    if (cell.shared_by > 0)
      figures.seconds_spent += results.at(task.after).seconds / static_cast<double>(cell.shared_by);
    times.push_back(result.feasible && result.time ? to_seconds(*result.time)
                                                   : std::numeric_limits<double>::infinity());
    if (!result.feasible) worst = result;
  }
  const MedianInterval interval = median_interval(times);
  if (std::isfinite(interval.median)) {
    figures.status = CellStatus::ok;
    figures.ours = interval.median;
    figures.low = interval.low;
    if (std::isfinite(interval.high)) figures.high = interval.high;
    return figures;
  }
  figures.reason = worst->reason;
  figures.status = worst->short_of_memory ? CellStatus::oom : worst->time ? CellStatus::infeasible : CellStatus::unfit;
  return figures;
}

Reproduction collect(const PublishedTable& table, const Plan& plan, const Results& results, bool quick) {
  Reproduction reproduction;
  reproduction.table = table;
  reproduction.quick = quick;
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    reproduction.rows.push_back({.label = table.rows[r].label, .model = table.rows[r].model, .scales = plan.scales(r)});
  for (const PlannedCell& cell : plan.cells()) {
    RowFigures& row = reproduction.rows[cell.row];
    CellFigures figures = figures_of(cell, results);
    if (cell.column != PlannedCell::Column::method) {
      (cell.column == PlannedCell::Column::bound ? row.bound : row.best) = std::move(figures);
      continue;
    }
    const auto& published = table.rows[cell.row].published;
    if (const auto found = published.find(cell.method); found != published.end()) figures.published = found->second;
    const auto& search = table.rows[cell.row].search;
    if (const auto found = search.find(cell.method); found != search.end()) figures.published_search = found->second;
    figures.calibrates = plan.calibrates(cell.row, cell.method);
    row.cells.push_back(std::move(figures));
  }
  reproduction.fidelity = fidelity_of(reproduction.rows);
  return reproduction;
}

void check_files(const PublishedTable& table, const std::string& folder) {
  const auto files = table.files();
  if (files.empty()) return;
  if (folder.empty())
    throw InputError(
        "--files",
        "is needed: the folder with the files from which the rows of table {} are made ({}); the first is {}",
        quote(table.name), printable(table.source), quote(files.front().second));
  for (const auto& [label, name] : files)
    if (const std::string file = folder + "/" + name; !file_exists(file))
      throw InputError(file, "is not there, and row {} of table {} is made from it: --files names the folder",
                       quote(label), quote(table.name));
}

std::string file_of_table(const ReproductionSession& session) { return session.folder + "/table"; }

// The content of that file. The title is included because tables from different files may have the same name.
std::string name_of_table(const PublishedTable& table, const ReproductionSession& session) {
  return fmt::format("{}{}\n{}\n", printable(table.name), session.quick ? " --quick" : "", printable(table.title));
}

// InputError if the folder has another table, or the same with the other budgets: they would replace each other's
// results.
void refuse_another_table(const PublishedTable& table, const ReproductionSession& session) {
  const std::string file = file_of_table(session);
  const std::string found = file_exists(file) ? read_file(file) : name_of_table(table, session);
  if (found == name_of_table(table, session)) return;
  const std::vector<std::string> lines = split(found, '\n');
  throw InputError(session.folder, "holds the table of `emplace reproduce {}`{}: choose another folder for this one",
                   printable(lines[0]), lines.size() > 1 && !lines[1].empty() ? ", " + quote(lines[1]) : "");
}

}  // namespace

Reproduction reproduce(const PublishedTable& as_written, const ReproductionSession& session) {
  check_files(as_written, session.files);
  const PublishedTable table = as_written.with_files(session.files);
  if (file_exists(session.folder + "/config.toml"))
    throw InputError(session.folder, "is the folder of a training or a sweep: choose another one for the table");
  for (const char* part : {"", "/cells", "/runs"}) make_folder(session.folder + part);
  const FileLock lock(session.folder + "/lock", lock_patience_s, session.folder, "is being filled by another process");
  refuse_another_table(table, session);
  const Plan plan(table, session);
  write_file(file_of_table(session), name_of_table(table, session));
  ReproductionCoordinator coordinator(plan, session);
  coordinator.make_all();
  Reproduction reproduction = collect(table, plan, coordinator.results(), session.quick);
  reproduction.jobs = coordinator.tasks();
  reproduction.jobs_done = coordinator.results().size();
  reproduction.undone = coordinator.undone();
  return reproduction;
}

void make_cells(dist::World& world) {
  dist::work_in_group(world, [](dist::World& part, const std::string& task, const std::function<bool()>& stop) {
    return to_text(make_cell(cell_task_from(task), &part, stop));
  });
}

}  // namespace emplace::experiment
