#define XXH_INLINE_ALL
#include "emplace/tables/reproduction.hpp"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
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
#include "table_machine.hpp"

namespace emplace {

namespace {

using Clock = std::chrono::steady_clock;

// A cell's tasks, one a seed.
struct PlannedCell {
  enum class Column : std::uint8_t { method, bound, best };
  std::size_t row;
  Column column;
  std::string method;
  std::vector<CellTask> tasks;
};

// Eight hexadecimal digits that tell a text from others.
std::string short_sum(const std::string& text) {
  return fmt::format("{:08x}", static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size())));
}

class Plan {
 public:
  Plan(const PublishedTable& table, const ReproductionSession& session) : table_(table), session_(session) {
    if (!table.calibration.empty()) scales_ = device_scales(table, calibrating_runs(table));
    make_folder(session.folder + "/machines");
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const std::string problem = problem_of(r);
      for (const TableMethod& method : table.methods)
        if (std::ranges::count(table.rows[r].skip, method.name) == 0) add(r, method, problem);
      add_own(r, PlannedCell::Column::bound, "bound", problem, {.seconds = session.quick ? 1 : 60});
      add_own(r, PlannedCell::Column::best, "best", problem, session.quick ? table.best_quick : table.best_full);
    }
  }

  [[nodiscard]] const std::vector<PlannedCell>& cells() const { return cells_; }
  [[nodiscard]] Scales scales(std::size_t row) const { return scales_.empty() ? Scales{} : scales_[row]; }

 private:
  // The row's graph on its machine, which is written down where it is not as its file has it.
  std::string problem_of(std::size_t r) const {
    const TableRow& row = table_.rows[r];
    if (!row.problem.empty()) return session_.files + "/" + row.problem;
    if (scales_.empty()) return row.graph + "@" + row.machine;
    const std::string comment = fmt::format("# {}, its devices as {} of {} tells what they were: op times {}\n",
                                            row.machine, row.label, printable(table_.source), text_of(scales_[r], 6));
    const std::string text = comment + rescaled_machine_toml(row.machine, scales_[r], row.machine + "-" + row.id);
    // By what it says: a training on another machine is another training.
    const std::string file = fmt::format("{}/machines/{}-{}.toml", session_.folder, row.id, short_sum(text));
    if (!file_exists(file)) write_file(file, text);
    return row.graph + "@" + file;
  }

  CellTask task(std::size_t r, const std::string& method, std::size_t seed, const std::string& problem) const {
    CellTask made;
    made.id = fmt::format("{}.{}.{}", table_.rows[r].id, as_file_name(method), seed);
    made.folder = session_.folder;
    made.problem = problem;
    made.machine = scales_.empty() ? "" : text_of(scales_[r], 17);
    made.objective = name_of(table_.objective);
    made.seed = seed;
    return made;
  }

  // A column that every table has.
  void add_own(std::size_t r, PlannedCell::Column column, const std::string& name, const std::string& problem,
               const CellBudget& budget) {
    CellTask made = task(r, name, 0, problem);
    made.method = name;
    made.evaluations = budget.evaluations;
    made.seconds = budget.seconds;
    cells_.push_back({r, column, name, {std::move(made)}});
  }

  void add(std::size_t r, const TableMethod& method, const std::string& problem) {
    const TableRow& row = table_.rows[r];
    const CellBudget& budget = session_.quick ? method.quick : method.full;
    const auto other = row.stands_for.find(method.name);
    const bool learned = !method.recipe.empty() && other == row.stands_for.end();
    const std::int64_t seeds = session_.quick ? method.quick_seeds : method.seeds;
    PlannedCell cell{r, PlannedCell::Column::method, method.name, {}};
    for (std::size_t seed = 0; seed < static_cast<std::size_t>(seeds); ++seed) {
      CellTask made = task(r, method.name, seed, problem);
      if (const auto file = row.placements.find(method.name); file != row.placements.end()) {
        made.placement = session_.files + "/" + file->second;
      } else if (learned) {
        made.recipe = recipe_of(method, row, made, budget);
      } else {
        made.method = other == row.stands_for.end() ? method.placer : other->second;
        if (other == row.stands_for.end()) made.options = method.options.to_toml();
        made.evaluations = budget.evaluations;
        made.seconds = budget.seconds;
      }
      cell.tasks.push_back(std::move(made));
    }
    cells_.push_back(std::move(cell));
  }

  static std::string recipe_of(const TableMethod& method, const TableRow& row, const CellTask& cell,
                               const CellBudget& budget) {
    const std::string place = "table";
    ConfigTable recipe = load_recipe(method.recipe, place);
    std::vector<std::pair<std::string, ConfigValue>> values;
    for (const ConfigTable* keys : {&method.options, &row.keys})
      for (const std::string& key : keys->keys()) values.emplace_back(key, *keys->find(key));
    values.emplace_back("problem", ConfigValue{cell.problem, place});
    values.emplace_back("seed", ConfigValue{static_cast<std::int64_t>(cell.seed), place});
    values.emplace_back("objective", ConfigValue{cell.objective, place});
    values.emplace_back("compare", ConfigValue{ConfigList{}, place});
    apply_values(recipe, std::move(values));
    for (const char* key : {"updates", "evaluations", "seconds"})
      if (budget.evaluations || budget.seconds) recipe.erase(key);
    if (budget.evaluations) recipe.set("evaluations", {static_cast<std::int64_t>(*budget.evaluations), place});
    if (budget.seconds) recipe.set("seconds", {*budget.seconds, place});
    // By what it says: a changed table begins another run, and leaves one that it did not end alone.
    const std::string run = fmt::format("{}/runs/{}-{}", cell.folder, cell.id, short_sum(recipe.to_toml()));
    recipe.set("run", {run, place});
    return make_recipe(recipe).resolved().to_toml();
  }

  const PublishedTable& table_;
  const ReproductionSession& session_;
  std::vector<Scales> scales_;  // by row; none without calibration
  std::vector<PlannedCell> cells_;
};

// Hands out the tasks that have no result yet.
class Coordinator {
 public:
  Coordinator(const Plan& plan, const ReproductionSession& session)
      : session_(session), progress_(session.show_progress) {
    for (const PlannedCell& cell : plan.cells())
      for (const CellTask& task : cell.tasks) {
        ++tasks_;
        if (finished_result(task))
          ++done_;
        else
          left_.push_back(task);
      }
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
  [[nodiscard]] std::size_t done() const { return done_; }

 private:
  void here() {
    const auto stop = [&] {
      show();
      return stop_requested();
    };
    while (next_ < left_.size() && !ends_early()) {
      doing_ = left_[next_].id;
      show();
      if (!take(make_cell(with_time_left(left_[next_++]), nullptr, stop))) return;
    }
  }

  void on(World& world) {
    Groups groups(world, session_.ranks_per_cell);
    hand_out(groups, {.next = [&]() -> std::optional<std::string> {
                        if (next_ == left_.size()) return std::nullopt;
                        doing_ = left_[next_].id;
                        return to_text(with_time_left(left_[next_++]));
                      },
                      .take = [&](const std::string& answer) { return take(cell_answer_from(answer)); },
                      .ends_early = [&] { return ends_early(); },
                      .tick = [&] { show(); }});
  }

  // False: the cell is not done.
  bool take(const CellAnswer& answer) {
    if (!answer.undone.empty() && undone_.empty()) undone_ = fmt::format("{}: {}", answer.id, answer.undone);
    if (answer.interrupted || !answer.undone.empty()) return false;
    ++done_;
    return true;
  }
  [[nodiscard]] bool ends_early() const {
    return stop_requested() || (session_.deadline && Clock::now() >= *session_.deadline);
  }
  [[nodiscard]] CellTask with_time_left(CellTask task) const {
    if (session_.deadline) task.seconds_left = std::chrono::duration<double>(*session_.deadline - Clock::now()).count();
    return task;
  }
  void show() {
    progress_.update(static_cast<double>(done_) / static_cast<double>(tasks_),
                     fmt::format("{} of {} cells  {}", done_, tasks_, doing_));
  }

  const ReproductionSession& session_;
  Progress progress_;
  std::vector<CellTask> left_;
  std::size_t next_ = 0, tasks_ = 0, done_ = 0;
  std::string doing_;
  std::string undone_;  // the first cell that could not be made here, and why
};

// What the seeds came to.
CellFigures figures_of(const PlannedCell& cell) {
  CellFigures figures;
  figures.method = cell.method;
  std::vector<double> times;
  std::optional<CellResult> worst;
  for (const CellTask& task : cell.tasks) {
    const auto result = finished_result(task);
    if (!result) return {.method = cell.method};
    ++figures.seeds;
    figures.seconds_spent += result->seconds;
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
    CellFigures figures = figures_of(cell);
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
