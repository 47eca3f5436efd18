// Loads PROBLEM and GRAPH arguments: a problem JSON, a published workload (FILE#instance?processors=4), GRAPH@MACHINE,
// a model file, or zoo:NAME?key=value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/cost/lower.hpp"
#include "emplace/formats/reader.hpp"
#include "emplace/graph/graph.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::source {

struct SourceOptions {
  formats::ReadOptions read;
  cost::RooflineOptions roofline;
};

// Loads a model file or "zoo:NAME?key=value".
Graph load_graph(const std::string& source, const formats::ReadOptions& options);

// Whether load_problem reads the source as a file that holds a problem, and not as GRAPH@MACHINE.
bool is_problem_file(const std::string& source);

// Whether load_problem reads the source as GRAPH@MACHINE; graph and machine are not checked.
bool is_graph_at_machine(const std::string& source);

struct LoadedProblem {
  Problem problem;
  std::vector<std::string> warnings;  // about guesses of the cost model and about what an old file lacks
};

// Loads a problem JSON, a published workload, or GRAPH@MACHINE (split at the last '@').
LoadedProblem load_problem(const std::string& source, const SourceOptions& options);
LoadedProblem load_problem(const std::string& graph, const std::string& machine, const SourceOptions& options);

// The device of each of the N ops, as the zoo model's expert places layers (ZooEntry::expert) over all devices of one
// kind: "gpu" if there are any, else the kind of the first device that is no CPU, else over all devices. `lowered` is
// the graph after the passes; its op i is op i of the problem.
std::vector<std::uint8_t> expert_devices(std::string_view zoo_model, const Graph& lowered, const Problem& problem);

// Problem::expert of a graph that is a zoo model; nothing of one from a file. `lowered`: made of the graph by
// cost::lower.
void add_expert(const std::string& graph, cost::Lowered& lowered);

// The same source with the paths of existing files made absolute, so that it means the same from any folder.
std::string absolute_source(const std::string& source);

}  // namespace emplace::source
