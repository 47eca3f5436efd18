// What a table is made of: its cells, a task a seed, and the trainings that some of them wait for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "experiment/tables/cell.hpp"
#include "experiment/tables/published_table.hpp"
#include "experiment/tables/reproduction.hpp"
#include "experiment/tables/table_machine.hpp"

namespace emplace::experiment {

struct PlannedCell {
  enum class Column : std::uint8_t { method, bound, best };
  std::size_t row;
  Column column;
  std::string method;
  std::vector<CellTask> tasks = {};  // one a seed
  std::size_t shared_by = 0;         // cells that are made of the training that this one waits for; 0: it is made anew
};

class Plan {
 public:
  // Writes the machines that are calibrated into the session's folder. The table outlives the plan.
  Plan(const PublishedTable& table, const ReproductionSession& session);

  [[nodiscard]] const std::vector<PlannedCell>& cells() const { return cells_; }
  // What cells wait for, by id.
  [[nodiscard]] const std::map<std::string, CellTask>& trainings() const { return trainings_; }
  // Whether the method's figure in the row is what the machine is calibrated by: of a column that calibrates, for how
  // fast the devices are or how much memory they have, or the same figure of the same placer in another.
  [[nodiscard]] bool calibrates(std::size_t row, const std::string& method) const;
  [[nodiscard]] Scales scales(std::size_t row) const { return scales_.empty() ? Scales{} : scales_[row]; }

 private:
  struct PlannedRecipe {
    std::string toml, run;
  };
  // A method's recipe, changed by tables of keys and by what the cell has of its own.
  struct RecipeRequest {
    const std::string& recipe;
    std::vector<const ConfigTable*> keys;
    const CellBudget& budget;
    std::string init = {};  // the run that it goes on from
  };

  [[nodiscard]] std::string problem_of(std::size_t row) const;
  [[nodiscard]] CellTask task(std::size_t row, const std::string& method, std::uint64_t seed) const;
  // `rows`: what it is trained on where the task has no problem of its own.
  [[nodiscard]] PlannedRecipe plan_recipe(const RecipeRequest& request, const CellTask& task,
                                          const std::vector<std::size_t>& rows = {}) const;
  const CellBudget& budget_of(const CellBudget& full, const CellBudget& quick) const {
    return session_.quick ? quick : full;
  }
  void add(std::size_t row, const TableMethod& method);
  void add_own(std::size_t row, PlannedCell::Column column, const std::string& name, const CellBudget& budget);
  void make_by_method(CellTask& task, std::size_t row, const TableMethod& method);
  // The run folder of a training on several rows, which is planned unless it is already. `waiting` waits for it.
  std::string wait_for_training(CellTask& waiting, const std::string& id, const RecipeRequest& request,
                                const std::vector<std::size_t>& rows);
  // Those that the method learns in.
  [[nodiscard]] std::vector<std::size_t> rows_learned_by(const TableMethod& method) const;
  [[nodiscard]] std::vector<std::size_t> rows_of_other_models(const std::string& model) const;

  const PublishedTable& table_;
  const ReproductionSession& session_;
  std::vector<Scales> scales_;         // by row; none without calibration
  std::vector<std::string> problems_;  // by row
  std::vector<std::string> contents_;  // by row: CellTask::contents
  std::vector<PlannedCell> cells_;
  std::map<std::string, CellTask> trainings_;
};

}  // namespace emplace::experiment
