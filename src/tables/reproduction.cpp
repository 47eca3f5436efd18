#include "emplace/tables/reproduction.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <set>
#include <utility>

#include "emplace/base/error.hpp"
#include "emplace/base/files.hpp"
#include "emplace/base/interrupt.hpp"
#include "emplace/base/log.hpp"
#include "emplace/base/progress.hpp"
#include "emplace/base/text.hpp"
#include "emplace/dist/groups.hpp"
#include "emplace/machine/rescale.hpp"
#include "emplace/run/recipe.hpp"
#include "emplace/run/run_folder.hpp"
#include "emplace/search/placer.hpp"
#include "plan.hpp"

namespace emplace {

namespace {

using Clock = std::chrono::steady_clock;

// Hands out the tasks that have no result yet.
class Coordinator {
 public:
  Coordinator(const Plan& plan, const ReproductionSession& session)
      : session_(session), progress_(session.show_progress) {
    for (const auto& [id, task] : plan.trainings()) add(task);
    for (const PlannedCell& cell : plan.cells())
      for (const CellTask& task : cell.tasks) add(task);
  }

  void make_all() {
    if (left_.empty()) return;
    if (session_.world == nullptr || session_.world->size() == 1)
      here();
    else
      on(*session_.world);
    progress_.finish();
    if (!undone_.empty()) throw EnvironmentError("{}; the same command goes on from there", undone_);
  }
  [[nodiscard]] std::size_t tasks() const { return tasks_; }
  [[nodiscard]] std::size_t done() const { return done_.size(); }

 private:
  void add(const CellTask& task) {
    ++tasks_;
    if (finished_result(task))
      done_.insert(task.id);
    else
      left_.push_back(task);
  }

  // The first that waits for nothing any more; none while all do.
  std::optional<CellTask> next() {
    const auto ready = std::ranges::find_if(
        left_, [&](const CellTask& task) { return task.after.empty() || done_.contains(task.after); });
    if (ready == left_.end()) return std::nullopt;
    CellTask task = std::move(*ready);
    left_.erase(ready);
    doing_ = task.id;
    if (session_.deadline) task.seconds_left = std::chrono::duration<double>(*session_.deadline - Clock::now()).count();
    return task;
  }

  void here() {
    const auto stop = [&] {
      show();
      return stop_requested();
    };
    while (!ends_early()) {
      const std::optional<CellTask> task = next();
      show();
      if (!task || !take(make_cell(*task, nullptr, stop))) return;
    }
  }

  void on(World& world) {
    Groups groups(world, session_.ranks_per_cell);
    hand_out(groups, {.next = [&]() -> std::optional<std::string> {
                        const std::optional<CellTask> task = next();
                        return task ? std::optional(to_text(*task)) : std::nullopt;
                      },
                      .take = [&](const std::string& answer) { return take(cell_answer_from(answer)); },
                      .ends_early = [&] { return ends_early(); },
                      .tick = [&] { show(); }});
  }

  // False: the cell is not done.
  bool take(const CellAnswer& answer) {
    if (!answer.undone.empty() && undone_.empty()) undone_ = fmt::format("{}: {}", answer.id, answer.undone);
    if (answer.interrupted || !answer.undone.empty()) return false;
    done_.insert(answer.id);
    return true;
  }
  [[nodiscard]] bool ends_early() const {
    return stop_requested() || (session_.deadline && Clock::now() >= *session_.deadline);
  }
  void show() {
    progress_.update(static_cast<double>(done_.size()) / static_cast<double>(tasks_),
                     fmt::format("{} of {} cells  {}", done_.size(), tasks_, doing_));
  }

  const ReproductionSession& session_;
  Progress progress_;
  std::deque<CellTask> left_;
  std::set<std::string> done_;  // ids
  std::size_t tasks_ = 0;
  std::string doing_;
  std::string undone_;  // the first cell that could not be made here, and why
};

// What the seeds came to.
CellFigures figures_of(const PlannedCell& cell, const Plan& plan) {
  CellFigures figures;
  figures.method = cell.method;
  std::vector<double> times;
  std::optional<CellResult> worst;
  for (const CellTask& task : cell.tasks) {
    const auto result = finished_result(task);
    if (!result) return {.method = cell.method};
    ++figures.seeds;
    figures.seconds_spent += result->seconds;
    if (cell.shared_by > 0)
      if (const auto training = finished_result(plan.trainings().at(task.after)))
        figures.seconds_spent += training->seconds / static_cast<double>(cell.shared_by);
    times.push_back(result->feasible && result->time ? to_seconds(*result->time)
                                                     : std::numeric_limits<double>::infinity());
    if (!result->feasible) worst = result;
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

Reproduction collect(const PublishedTable& table, const Plan& plan, bool quick) {
  Reproduction reproduction;
  reproduction.table = table;
  reproduction.quick = quick;
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    reproduction.rows.push_back({.label = table.rows[r].label, .model = table.rows[r].model, .scales = plan.scales(r)});
  for (const PlannedCell& cell : plan.cells()) {
    RowFigures& row = reproduction.rows[cell.row];
    CellFigures figures = figures_of(cell, plan);
    if (cell.column != PlannedCell::Column::method) {
      (cell.column == PlannedCell::Column::bound ? row.bound : row.best) = std::move(figures);
      continue;
    }
    const auto& published = table.rows[cell.row].published;
    if (const auto found = published.find(cell.method); found != published.end()) figures.published = found->second;
    const auto& search = table.rows[cell.row].search;
    if (const auto found = search.find(cell.method); found != search.end()) figures.published_search = found->second;
    figures.calibrates = table.calibrates(cell.method) && figures.published && figures.published->seconds;
    row.cells.push_back(std::move(figures));
  }
  reproduction.fidelity = fidelity_of(reproduction.rows);
  return reproduction;
}

void check_files(const PublishedTable& table, const std::string& folder) {
  if (!table.wants_files()) return;
  if (folder.empty())
    throw InputError("command line", "the problems of table {} are files of others: name their folder with --files",
                     quote(table.name));
  for (const TableRow& row : table.rows)
    if (const std::string file = folder + "/" + row.problem; !row.problem.empty() && !file_exists(file))
      throw InputError(file, "is not there, and row {} of table {} is made from it: --files names the folder",
                       quote(row.label), quote(table.name));
}

}  // namespace

Reproduction reproduce(const PublishedTable& table, const ReproductionSession& session) {
  check_files(table, session.files);
  for (const char* part : {"", "/cells", "/runs"}) make_folder(session.folder + part);
  const FileLock lock(session.folder + "/lock", lock_patience_s, session.folder, "is being filled by another process");
  const Plan plan(table, session);
  Coordinator coordinator(plan, session);
  coordinator.make_all();
  Reproduction reproduction = collect(table, plan, session.quick);
  reproduction.cells = coordinator.tasks();
  reproduction.cells_done = coordinator.done();
  return reproduction;
}

void make_cells(World& world) {
  work_in_group(world, [](World& part, const std::string& task, const std::function<bool()>& stop) {
    return to_text(make_cell(cell_task_from(task), &part, stop));
  });
}

}  // namespace emplace
