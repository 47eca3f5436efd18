// The jobs of a table: a task for each seed of each cell, and the trainings that some of them need.
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
  std::vector<CellTask> tasks = {};  // one for each seed
  std::size_t shared_by = 0;         // number of cells made by the training that this one needs; 0: it has its own
};

class Plan {
 public:
  // Writes the calibrated machines into the session's folder. The table must outlive the plan.
  Plan(const PublishedTable& table, const ReproductionSession& session);

  [[nodiscard]] const std::vector<PlannedCell>& cells() const { return cells_; }
  // The trainings that cells need, by id.
  [[nodiscard]] const std::map<std::string, CellTask>& trainings() const { return trainings_; }
  // Whether the machine is calibrated with the method's figure in this row, for the speed or the memory of its devices.
  // True for columns that calibrate, and for the same figure of the same placer in another column.
  [[nodiscard]] bool calibrates(std::size_t row, const std::string& method) const;
  [[nodiscard]] Scales scales(std::size_t row) const { return scales_.empty() ? Scales{} : scales_[row]; }

 private:
  struct PlannedRecipe {
    std::string toml, run;
  };
  // A method's recipe, and what overrides it for a cell.
  struct RecipeRequest {
    const std::string& recipe;
    std::vector<const ConfigTable*> keys;
    const CellBudget& budget;
    std::string init = {};  // the run folder whose policy it begins with, or ""
  };

  [[nodiscard]] std::string problem_of(std::size_t row) const;
  [[nodiscard]] CellTask task(std::size_t row, const std::string& method, std::uint64_t seed) const;
  // `rows`: the rows to train on if the task has no problem of its own.
  [[nodiscard]] PlannedRecipe plan_recipe(const RecipeRequest& request, const CellTask& task,
                                          const std::vector<std::size_t>& rows = {}) const;
  const CellBudget& budget_of(const CellBudget& full, const CellBudget& quick) const {
    return session_.quick ? quick : full;
  }
  void add(std::size_t row, const TableMethod& method);
  void add_own(std::size_t row, PlannedCell::Column column, const std::string& name, const CellBudget& budget);
  void make_by_method(CellTask& task, std::size_t row, const TableMethod& method);
  // Returns the run folder of a training on several rows, and plans the training if it is not planned yet. `waiting`
  // gets its id, so that it is done after the training.
  std::string wait_for_training(CellTask& waiting, const std::string& id, const RecipeRequest& request,
                                const std::vector<std::size_t>& rows);
  // The rows whose cells the method learns.
  [[nodiscard]] std::vector<std::size_t> rows_learned_by(const TableMethod& method) const;
  [[nodiscard]] std::vector<std::size_t> rows_of_other_models(const std::string& model) const;

  const PublishedTable& table_;
  const ReproductionSession& session_;
  std::vector<Scales> scales_;         // by row; empty without calibration
  std::vector<std::string> problems_;  // by row
  std::vector<std::string> contents_;  // by row: CellTask::contents
  std::vector<PlannedCell> cells_;
  std::map<std::string, CellTask> trainings_;
};

}  // namespace emplace::experiment
