// Makes one figure of a table: by a placer, by a training, or by the lower bounds. A group of ranks gets a task and
// returns an answer.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "emplace/base/types.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::experiment {

struct CellTask {
  std::string id;       // the beginning of the names of its files: "nmt-2.scotch.0"
  std::string folder;   // the folder of its files
  std::string problem;  // as load_problem reads it
  std::string machine;  // the scales of the calibrated machine, for the record; may be ""
  // A hash of the problem and of the placement's file: it changes when their content changes.
  std::string contents = {};
  std::string objective = "step";
  std::string method;     // a placer, or "bound"; if "", one of placement, policy and recipe is set
  std::string placement;  // a file with the placement
  std::string policy;     // the run folder of a trained policy, whose draws place the problem
  std::string options;    // TOML, for the placer
  std::string recipe;     // TOML, with problem, seed, budget and run folder; several problems if `problem` is ""
  std::uint64_t seed = 0;
  std::optional<std::uint64_t> evaluations = {};
  std::optional<double> seconds = {};
  std::string after = {};                   // id of the training that must be done before, or ""
  std::optional<double> seconds_left = {};  // until it must end, whatever the budget
};

struct CellResult {
  std::optional<Ticks> time = {};  // step time of the placement, feasible or not; or the bound
  bool feasible = false;
  bool short_of_memory = false;  // it is infeasible for lack of memory
  std::string reason = {};       // why it is infeasible, or why the method found no placement
  std::uint64_t evaluations = 0;
  double seconds = 0;  // wall clock, including earlier sessions of a training
};

struct CellAnswer {
  std::string id;
  bool interrupted = false;  // it was stopped before its end; a training continues from its checkpoint
  std::string undone = {};   // why this machine could not do it (not a result of the method); or ""
  CellResult result = {};
};

// The files of the cell's result and of its placement.
std::string result_file(const CellTask& task);
std::string placement_file(const CellTask& task);

// The result in its file, if the file is of exactly this task; otherwise none. An option that the program did not have
// when the file was written counts as given with its default.
std::optional<CellResult> finished_result(const CellTask& task);

// Writes the result's file.
void keep_result(const CellTask& task, const CellResult& result);

// Makes the figure and writes its files. `part`: the ranks that evaluate; if it is null or has one rank, this process
// evaluates.
CellAnswer make_cell(const CellTask& task, dist::World* part, const std::function<bool()>& stop);

// Conversion to texts for messages between ranks, and back.
std::string to_text(const CellTask& task);
std::string to_text(const CellAnswer& answer);
CellTask cell_task_from(const std::string& text);
CellAnswer cell_answer_from(const std::string& text);

}  // namespace emplace::experiment
