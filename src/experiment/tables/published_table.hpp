// A table of a paper: its numbers, and how each of them is reproduced (configs/tables/README.md has the format).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/base/registry.hpp"
#include "emplace/problem/placement.hpp"

namespace emplace::experiment {

// The published value of a cell.
struct Published {
  std::optional<double> seconds = {};  // none: out of memory
  bool confirmed = true;               // false: quoted from memory, not verified
};

// The budget of a method for a cell. Searches and trainings need one; other placers do not.
struct CellBudget {
  std::optional<std::uint64_t> evaluations = {};
  std::optional<double> seconds = {};
};

// A column of the table.
struct TableMethod {
  std::string name;        // "scotch", "hierarchical"; also if a row uses another placer in this column
  std::string label;       // heading of the column
  std::string placer;      // the placer that makes the cells; "": they are learned
  std::string recipe;      // the recipe by which they are learned
  bool together = false;   // one training on all its rows makes its cells
  std::string pretrained;  // the pre-training whose policy it begins with, or ""; with a recipe it is trained further,
                           // without one it places by draws of that policy
  ConfigTable options;     // of the placer; or keys that override the recipe's
  ConfigTable quick_options;      // more of them, with --quick
  std::vector<std::string> rows;  // labels of the only rows that have the method; empty: all
  CellBudget full, quick;
  std::int64_t seeds = 1;        // number of seeds (0, 1, ...); the median over them is shown
  std::int64_t quick_seeds = 1;  // the same with --quick
};

// Trainings with which pre-trained methods begin: one for each model of the table, on the rows of all other models
// (GDP's transfer, docs/papers/gdp.md, section 2.7).
struct Pretraining {
  std::string recipe;
  ConfigTable options;
  CellBudget full, quick;
};

struct TableRow {
  std::string label;
  std::string id;     // the label as part of a file's name
  std::string model;  // its name in the zoo
  std::string graph;  // the problem is graph@machine; "$FILES/..." is a file in the folder that the user names,
  std::string machine;
  std::string problem;                            // or this file, in that folder
  std::map<std::string, Published> published;     // by method
  std::map<std::string, double> search;           // by method: published wall-clock seconds of the search
  std::map<std::string, std::string> stands_for;  // by method: the placer used instead in this row
  std::map<std::string, std::string> placements;  // by method: the file of its placement (see --files)
  ConfigTable keys;                               // keys that override the recipes by which this row is learned
  std::vector<std::string> skip;                  // methods that this row does not have
  std::string like;  // label of the row whose speed stands in for kinds of device without a time in this row; or ""
  std::int64_t most_seeds = std::numeric_limits<std::int64_t>::max();  // methods with more seeds have so many here
  std::map<std::string, std::int64_t> seeds_of;                        // by method: the same for it alone
  std::vector<std::string> notes;
};

struct PublishedTable {
  std::string name;
  std::string called;  // the argument of load_table()
  std::string title, source;
  Objective objective = Objective::step;
  std::vector<TableMethod> methods;
  std::vector<TableRow> rows;
  // From a kind of device to the method whose column calibrates the speed of such devices; this column is not a result.
  std::map<std::string, std::string> calibration;
  bool calibrates_each_row = false;  // each row has factors of its own, where it has times; not one for the table
  bool search_inside = true;  // false: learned columns leave out what their recipes say of polishing and demonstrations
  std::map<std::string, Pretraining> pretrainings;  // by name
  std::vector<std::string> notes;
  CellBudget best_full, best_quick;              // budgets of the column of the portfolio placer `best`
  std::optional<std::int64_t> fewer_seeds = {};  // the seeds' number of with_at_most()

  [[nodiscard]] const TableMethod* method(const std::string& wanted) const;  // null if there is none
  [[nodiscard]] const TableRow* row(const std::string& label) const;         // null if there is none
  // The files in the folder that the user names, by the labels of the rows that are made from them.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> files() const;
  // The same table with the files of this folder as graphs.
  [[nodiscard]] PublishedTable with_files(const std::string& folder) const;
  // The same table with at most this many seeds in each cell.
  [[nodiscard]] PublishedTable with_at_most(std::int64_t seeds) const;
};

// The built-in tables, for `emplace list tables`.
std::vector<EntryInfo> tables();

// One of these, or a TOML file. InputError with file and line if it is not a valid table.
PublishedTable load_table(const std::string& name_or_path);
PublishedTable parse_table(std::string_view toml, const std::string& name, const std::string& file);

// A label as part of a file's name: lower-case letters, digits and single hyphens.
std::string as_file_name(std::string_view label);

}  // namespace emplace::experiment
