// A table of a paper: its numbers, and how each of them is made here (configs/tables/README.md has the format).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/base/registry.hpp"
#include "emplace/problem/placement.hpp"

namespace emplace::experiment {

// What a cell of the paper says.
struct Published {
  std::optional<double> seconds = {};  // none: out of memory
  bool confirmed = true;               // false: from memory, never an assertion
};

// How long a method may take for a cell. Searches and trainings want one; other placers need none.
struct CellBudget {
  std::optional<std::uint64_t> evaluations = {};
  std::optional<double> seconds = {};
};

// A column.
struct TableMethod {
  std::string name;         // "scotch", "hierarchical"; where others stand for it in a row, still that of the column
  std::string label;        // for people
  std::string placer;       // the placer that makes it; empty: it is learned
  std::string recipe;       // that it is learned by
  bool together = false;    // one training on all its rows makes its cells
  bool pretrained = false;  // begins with a policy that was trained on the rows of other models: it learns on by its
                            // recipe, or places by that policy's draws where it has none
  ConfigTable options;      // of the placer; or keys that go over the recipe's
  CellBudget full, quick;
  std::int64_t seeds = 1;        // 0, 1, ...: of which the median is shown
  std::int64_t quick_seeds = 1;  // the same with --quick
};

// What pre-trained methods begin with: one training for each model of the table, on the rows of all others (GDP's
// transfer, papers/gdp 2.7).
struct Pretraining {
  std::string recipe;  // empty: the table has none
  ConfigTable options;
  CellBudget full, quick;
};

struct TableRow {
  std::string label;
  std::string id;     // the label as part of a file's name
  std::string model;  // the zoo's name
  std::string graph;  // what the problem is made of: graph@machine
  std::string machine;
  std::string problem;                            // or the problem itself: a file below the folder that the user names
  std::map<std::string, Published> published;     // by method
  std::map<std::string, double> search;           // by method: published seconds of wall clock until it was found
  std::map<std::string, std::string> stands_for;  // by method: the placer that makes it in this row
  std::map<std::string, std::string> placements;  // by method: the file that is its placement, beside the problem's
  ConfigTable keys;                               // over the recipes that this row is learned by
  std::vector<std::string> skip;                  // methods that this row does without
  std::string like;  // the label of a row of like ops: how a kind that has no time here is to another; may be empty
  std::vector<std::string> notes;
};

struct PublishedTable {
  std::string name;
  std::string called;  // as load_table() was asked for it
  std::string title, source;
  Objective objective = Objective::step;
  std::vector<TableMethod> methods;
  std::vector<TableRow> rows;
  // By kind of device: the method of its column, which may tell how fast such devices are, and which is no result.
  std::map<std::string, std::string> calibration;
  Pretraining pretraining;
  std::vector<std::string> notes;
  CellBudget best_full, best_quick;  // of the portfolio's column

  [[nodiscard]] const TableMethod* method(const std::string& wanted) const;  // null: there is none
  // Some row's problem is a file.
  [[nodiscard]] bool wants_files() const;
};

// The tables that the program carries, for `emplace list tables`.
std::vector<EntryInfo> tables();

// One of these, or a TOML file. InputError with file and line for what is no table.
PublishedTable load_table(const std::string& name_or_path);
PublishedTable parse_table(std::string_view toml, const std::string& name, const std::string& file);

// A label as part of a file's name: small letters, digits and single hyphens.
std::string as_file_name(std::string_view label);

// A recipe that the program carries ("hierarchical-tuned"), or a TOML file.
ConfigTable load_recipe(const std::string& name_or_path, const std::string& place);

}  // namespace emplace::experiment
