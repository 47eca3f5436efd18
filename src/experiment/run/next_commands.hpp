// The commands from which a verdict chooses the next one: complete command lines, which run as they are printed.
#pragma once

#include <optional>
#include <string>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/source/load_problem.hpp"
#include "problem/constraints.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "verdict/verdict.hpp"

namespace emplace::experiment {

// What was placed and how, as the user named it.
struct PlacedSubject {
  std::string source = {};             // PROBLEM, as load_problem takes it; "": unknown
  source::SourceOptions options = {};  // with which a model became the problem
  Constraints constraints = {};
  Schedule schedule = Schedule::fifo;
  Objective objective = Objective::step;
  simulate::PipelineOptions pipeline = {};
  std::string file = {};      // of the placement; "": it was not written
  std::string run = {};       // folder of the training that found it; "": none
  bool of_several = false;    // the run has placements of several problems
  bool has_page = false;      // the report of the placement is made with the verdict, which need not propose it
  bool is_simulated = false;  // the verdict is beside what `emplace simulate` prints, which it need not propose
  const Problem* problem = nullptr;
  const Placement* placement = nullptr;
};

// No command overwrites a file that is there now. The placement of an ONNX model is exported for ONNX Runtime if it has
// few parts, those of other model files as JSON; for other problems the placement is shown: `report`, or `simulate` for
// pipelines.
verdict::Commands next_commands(const PlacedSubject& subject);

// The options of the command line with which a model becomes this problem: "--batch 8 --fuse"; "" if there are none,
// nothing if the command line has no option for one of them.
std::optional<std::string> arguments_of(const source::SourceOptions& options);

}  // namespace emplace::experiment
