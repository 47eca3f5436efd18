// Loads PROBLEM and GRAPH arguments: a problem JSON, a published workload (FILE#instance?processors=4), GRAPH@MACHINE,
// a model file, or zoo:NAME?key=value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/cost/roofline_options.hpp"
#include "emplace/formats/reader.hpp"
#include "emplace/graph/graph.hpp"
#include "emplace/machine/machine.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::source {

struct SourceOptions {
  formats::ReadOptions read;
  cost::RooflineOptions roofline;
  bool of_recipe = false;  // messages name the keys of recipes, not the options of the command line
};

// Loads a model file, or "zoo:NAME?key=value". A file may have options: "FILE?constants=placed" so that prune leaves
// its constants as ops without time, "MODEL.gguf?phase=prefill&context=8192" of language models
// (language/scenario.hpp).
Graph load_graph(const std::string& source, const formats::ReadOptions& options);

// FILE if load_graph reads the source as FILE?key=value, else the source itself.
std::string file_of_model(const std::string& source);

// Whether load_problem reads the source as a file that holds a problem, and not as GRAPH@MACHINE.
bool is_problem_file(const std::string& source);

// Whether load_problem reads the source as GRAPH@MACHINE; graph and machine are not checked.
bool is_graph_at_machine(const std::string& source);

struct LoadedProblem {
  Problem problem;
  std::vector<std::string> warnings;  // about guesses of the cost model
  // What a file of problem/1 lacks and policies read: no simulation depends on it. Empty for all other sources.
  std::vector<std::string> lacks = {};
};

// Loads a problem JSON, a published workload, or GRAPH@MACHINE (split at the last '@').
LoadedProblem load_problem(const std::string& source, const SourceOptions& options);
LoadedProblem load_problem(const std::string& graph, const std::string& machine, const SourceOptions& options);

// The problem of a graph that the caller built or read, with the times of its ops by the roofline model; `name` is the
// problem's name and begins messages. InputError as cost::lower (src/cost/lower.hpp).
LoadedProblem make_problem(const Graph& graph, const machine::Machine& machine, const cost::RooflineOptions& options,
                           const std::string& name);

// "model" of "dir/model.onnx", "nmt" of "zoo:nmt?layers=2@k40x2": the source's name for files that are made from it.
std::string short_name(const std::string& source);

// The same source with the paths of existing files made absolute, so that it means the same from any folder.
std::string absolute_source(const std::string& source);

}  // namespace emplace::source
