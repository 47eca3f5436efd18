#define XXH_INLINE_ALL
#include "experiment/tables/plan.hpp"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/source/load_problem.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "experiment/run/run_folder.hpp"
#include "experiment/tables/cell_json.hpp"
#include "machine/rescale.hpp"

namespace emplace::experiment {

namespace {

constexpr const char* origin = "table";  // named in messages

// A hash of a text, in hexadecimal digits.
std::string sum(const std::string& text) { return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size())); }
std::string short_sum(const std::string& text) { return sum(text).substr(8); }

// A hash of the problem itself, not of its source, because a machine, a model or the program may have changed. For a
// problem from a file, the file's text is hashed: published workloads have transfer times that no problem JSON can
// express.
std::string contents_of(const TableRow& row, const std::string& problem) {
  Problem loaded = source::load_problem(problem, {}).problem;
  if (!row.problem.empty()) return sum(read_file(problem));
  loaded.name.clear();  // the name contains paths
  return sum(formats::write_problem_json(loaded));
}

// The name contains a hash of the recipe and its problems: after a change of the table another run begins, and an
// unfinished run of the old table is not touched.
std::string run_folder_of(const CellTask& task, const ConfigTable& recipe) {
  return fmt::format("{}/runs/{}-{}", task.folder, task.id,
                     short_sum(without_folder(recipe.to_toml(), task.folder) + task.contents));
}

void set_budget(ConfigTable& recipe, const CellBudget& budget) {
  if (!budget.evaluations && !budget.seconds) return;
  for (const char* key : budget_keys) recipe.erase(key);
  if (budget.evaluations) recipe.set("evaluations", {static_cast<std::int64_t>(*budget.evaluations), origin});
  if (budget.seconds) recipe.set("seconds", {*budget.seconds, origin});
}

void set_budget(CellTask& task, const CellBudget& budget) {
  task.evaluations = budget.evaluations;
  task.seconds = budget.seconds;
}

// Adds dotted keys one by one, so that gdp.hidden and "gdp.hidden" are the same, and other keys of [gdp] are kept.
void add_keys(const std::string& prefix, const ConfigTable& keys,
              std::vector<std::pair<std::string, ConfigValue>>& values) {
  for (const std::string& key : keys.keys()) {
    const ConfigValue& value = *keys.find(key);
    const auto* inner = std::get_if<std::vector<ConfigTable>>(&value.data);
    if (inner != nullptr && !value.is_table_list)
      add_keys(prefix + key + ".", inner->front(), values);
    else
      values.emplace_back(prefix + key, value);
  }
}

}  // namespace

Plan::Plan(const PublishedTable& table, const ReproductionSession& session) : table_(table), session_(session) {
  if (!table.calibration.empty()) scales_ = device_scales(table, calibrating_runs(table));
  make_folder(session.folder + "/machines");
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    problems_.push_back(problem_of(r));
    contents_.push_back(contents_of(table.rows[r], problems_.back()));
  }
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (const TableMethod& method : table.methods)
      if (std::ranges::count(table.rows[r].skip, method.name) == 0) add(r, method);
    add_own(r, PlannedCell::Column::bound, "bound", {.seconds = session.quick ? 0.2 : 60});
    add_own(r, PlannedCell::Column::best, "best", budget_of(table.best_full, table.best_quick));
  }
}

bool Plan::calibrates(std::size_t row, const std::string& method) const {
  const auto published = [&](const std::string& name) {
    const auto found = table_.rows[row].published.find(name);
    return found == table_.rows[row].published.end() ? nullptr : &found->second;
  };
  const auto placer = [&](const std::string& name) {
    const auto other = table_.rows[row].stands_for.find(name);
    return other == table_.rows[row].stands_for.end() ? table_.method(name)->placer : other->second;
  };
  const Published* const cell = published(method);
  return cell != nullptr && std::ranges::any_of(table_.calibration, [&](const auto& each) {
           const auto& [kind, column] = each;
           const Published* const told = published(column);
           if (told == nullptr || placer(method).empty() || placer(method) != placer(column)) return false;
           return told->seconds == cell->seconds && (told->seconds || scales_[row].at(kind).memory);
         });
}

// The row's problem. If the machine is calibrated, its file is written into the session's folder.
std::string Plan::problem_of(std::size_t r) const {
  const TableRow& row = table_.rows[r];
  if (!row.problem.empty()) return session_.files + "/" + row.problem;
  if (scales_.empty()) return row.graph + "@" + row.machine;
  const std::string comment = fmt::format("# {}, its devices as {} of {} tells what they were: op times {}\n",
                                          row.machine, row.label, printable(table_.source), text_of(scales_[r], 6));
  const std::string text =
      comment + machine::rescaled_machine_toml(row.machine, scales_[r], row.machine + "-" + row.id);
  // The name contains a hash of the text, so a training on another machine gets another problem and another run.
  const std::string file = fmt::format("{}/machines/{}-{}.toml", session_.folder, row.id, short_sum(text));
  if (!file_exists(file)) write_file(file, text);
  return row.graph + "@" + file;
}

CellTask Plan::task(std::size_t r, const std::string& method, std::uint64_t seed) const {
  CellTask made;
  made.id = fmt::format("{}.{}.{}", table_.rows[r].id, as_file_name(method), seed);
  made.folder = session_.folder;
  made.problem = problems_[r];
  made.machine = scales_.empty() ? "" : text_of(scales_[r], 17);
  made.contents = contents_[r];
  made.objective = name_of(table_.objective);
  made.seed = seed;
  return made;
}

// Adds a cell of a column that every table has (bound, best).
void Plan::add_own(std::size_t r, PlannedCell::Column column, const std::string& name, const CellBudget& budget) {
  CellTask made = task(r, name, 0);
  made.method = name;
  set_budget(made, budget);
  cells_.push_back({r, column, name, {std::move(made)}});
}

void Plan::add(std::size_t r, const TableMethod& method) {
  const TableRow& row = table_.rows[r];
  const auto file = row.placements.find(method.name);
  const auto other = row.stands_for.find(method.name);
  PlannedCell cell{r, PlannedCell::Column::method, method.name};
  std::int64_t seeds = std::min(session_.quick ? method.quick_seeds : method.seeds, row.most_seeds);
  if (const auto own = row.seeds_of.find(method.name); own != row.seeds_of.end()) seeds = std::min(seeds, own->second);
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(seeds); ++seed) {
    CellTask& made = cell.tasks.emplace_back(task(r, method.name, seed));
    if (file != row.placements.end()) {
      made.placement = session_.files + "/" + file->second;
      made.contents += sum(read_file(made.placement));
    } else if (other != row.stands_for.end()) {
      made.method = other->second;
      set_budget(made, budget_of(method.full, method.quick));
    } else {
      make_by_method(made, r, method);
      if (method.together) cell.shared_by = rows_learned_by(method).size();
    }
  }
  cells_.push_back(std::move(cell));
}

void Plan::make_by_method(CellTask& made, std::size_t r, const TableMethod& method) {
  const TableRow& row = table_.rows[r];
  RecipeRequest request{method.recipe, {&method.options, &row.keys}, budget_of(method.full, method.quick)};
  if (method.together) request.keys.pop_back();
  if (session_.quick) request.keys.push_back(&method.quick_options);
  if (method.together) {
    const auto rows = rows_learned_by(method);
    const std::string run =
        wait_for_training(made, fmt::format("rows.all.{}.{}", as_file_name(method.name), made.seed), request, rows);
    const auto among = static_cast<std::size_t>(std::ranges::find(rows, r) - rows.begin());
    made.placement = run + "/" + best_placement_file(among, rows.size());
    return;
  }
  if (!method.pretrained.empty()) {
    const Pretraining& before = table_.pretrainings.at(method.pretrained);
    const std::string run = wait_for_training(
        made, fmt::format("rows.without.{}.{}.{}", as_file_name(row.model), as_file_name(method.pretrained), made.seed),
        {before.recipe, {&before.options}, budget_of(before.full, before.quick)}, rows_of_other_models(row.model));
    (method.recipe.empty() ? made.policy : request.init) = run;
  }
  if (!method.recipe.empty()) {
    made.recipe = plan_recipe(request, made).toml;
    return;
  }
  made.method = method.placer;
  made.options = method.options.to_toml();
  set_budget(made, request.budget);
}

std::string Plan::wait_for_training(CellTask& waiting, const std::string& id, const RecipeRequest& request,
                                    const std::vector<std::size_t>& rows) {
  CellTask training;
  training.id = id;
  training.folder = waiting.folder;
  training.objective = waiting.objective;
  training.seed = waiting.seed;
  for (const std::size_t r : rows) training.contents += contents_[r];
  const PlannedRecipe planned = plan_recipe(request, training, rows);
  training.recipe = planned.toml;
  trainings_.try_emplace(id, std::move(training));
  waiting.after = id;
  return planned.run;
}

std::vector<std::size_t> Plan::rows_learned_by(const TableMethod& method) const {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < table_.rows.size(); ++r) {
    const TableRow& row = table_.rows[r];
    if (std::ranges::count(row.skip, method.name) == 0 && !row.stands_for.contains(method.name) &&
        !row.placements.contains(method.name))
      rows.push_back(r);
  }
  return rows;
}

std::vector<std::size_t> Plan::rows_of_other_models(const std::string& model) const {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < table_.rows.size(); ++r)
    if (table_.rows[r].model != model) rows.push_back(r);
  return rows;
}

Plan::PlannedRecipe Plan::plan_recipe(const RecipeRequest& request, const CellTask& made,
                                      const std::vector<std::size_t>& rows) const {
  ConfigTable recipe = read_recipe(request.recipe, origin);
  if (!table_.search_inside)
    for (const char* key : {"polish", "demonstrations", "demonstrations_share"}) recipe.erase(key);
  std::vector<std::pair<std::string, ConfigValue>> values;
  for (const ConfigTable* keys : request.keys) add_keys("", *keys, values);
  if (made.problem.empty()) {
    ConfigList list;
    for (const std::size_t r : rows) list.push_back({problems_[r], origin});
    values.emplace_back("problems", ConfigValue{std::move(list), origin});
    for (const char* key : {"held_out", "held_out_every"}) recipe.erase(key);
  } else {
    values.emplace_back("problem", ConfigValue{made.problem, origin});
  }
  values.emplace_back("seed", ConfigValue{static_cast<std::int64_t>(made.seed), origin});
  values.emplace_back("objective", ConfigValue{made.objective, origin});
  values.emplace_back("compare", ConfigValue{ConfigList{}, origin});
  if (!request.init.empty()) values.emplace_back("init", ConfigValue{request.init, origin});
  apply_values(recipe, std::move(values));
  set_budget(recipe, request.budget);
  const std::string run = run_folder_of(made, recipe);
  recipe.set("run", {run, origin});
  return {make_recipe(recipe).resolved().to_toml(), run};
}

}  // namespace emplace::experiment
