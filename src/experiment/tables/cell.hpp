// One figure of a table, made: by a placer, by a training, or by the bounds. What a group of ranks is handed, and what
// comes back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "emplace/base/units.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::experiment {

struct CellTask {
  std::string id;       // names its files: "nmt-2.scotch.0"
  std::string folder;   // where they are
  std::string problem;  // as load_problem reads it
  std::string machine;  // what the calibrated machine in its file is, for the record; may be empty
  // Digits that tell what the problem's source and the placement's file hold from anything else they might.
  std::string contents = {};
  std::string objective = "step";
  std::string method;     // a placer, or "bound"; empty: one of the next three
  std::string placement;  // a file
  std::string policy;     // the run folder of a trained one, whose draws place it
  std::string options;    // of the placer, TOML
  std::string recipe;     // TOML, with problem, seed, budget and run folder; several problems where `problem` is empty
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> evaluations = {};
  std::optional<double> seconds = {};
  std::string after = {};                   // the id of the training that it waits for, for who hands them out
  std::optional<double> seconds_left = {};  // until it must have ended, whatever the budget
};

struct CellResult {
  std::optional<Ticks> time = {};  // of the placement, feasible or not; or the bound
  bool feasible = false;
  bool short_of_memory = false;  // the reason that it is not
  std::string reason = {};       // why it is not feasible, or why the method has no answer
  std::uint64_t evaluations = 0;
  double seconds = 0;  // that it took, earlier sessions of a training included
};

struct CellAnswer {
  std::string id;
  bool interrupted = false;  // before its end; a training goes on from its checkpoint
  std::string undone = {};   // why the machine could not make it, which says nothing of the method; or empty
  CellResult result = {};
};

// Where the cell's result and its placement are.
std::string result_file(const CellTask& task);
std::string placement_file(const CellTask& task);

// The result that its file holds, if that is of this very task; nothing where there is none.
std::optional<CellResult> finished_result(const CellTask& task);

// Writes that file.
void keep_result(const CellTask& task, const CellResult& result);

// Makes the figure and writes its files. `part`: the ranks that evaluate, null or alone: this process.
CellAnswer make_cell(const CellTask& task, dist::World* part, const std::function<bool()>& stop);

// As texts between ranks.
std::string to_text(const CellTask& task);
std::string to_text(const CellAnswer& answer);
CellTask cell_task_from(const std::string& text);
CellAnswer cell_answer_from(const std::string& text);

}  // namespace emplace::experiment
