// PROBLEM and GRAPH arguments: a problem JSON, a published workload (FILE#instance?processors=4), GRAPH@MACHINE, a
// model file, or zoo:NAME?key=value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/cost/lower.hpp"
#include "emplace/formats/reader.hpp"
#include "emplace/graph/graph.hpp"
#include "emplace/problem/output_shapes.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::source {

struct SourceOptions {
  formats::ReadOptions read;
  cost::RooflineOptions roofline;
};

// A model file or "zoo:NAME?key=value".
Graph load_graph(const std::string& source, const formats::ReadOptions& options);

// Whether load_problem reads the source as a file that holds a problem, and not as GRAPH@MACHINE.
bool is_problem_file(const std::string& source);

// Whether it reads the source as GRAPH@MACHINE, whatever the two are.
bool is_graph_at_machine(const std::string& source);

struct LoadedProblem {
  Problem problem;
  std::vector<std::string> warnings;  // what the cost model had to guess
  // N: where a human expert would put each op, for zoo models; empty for what comes from files.
  std::vector<std::uint8_t> expert = {};
  // Of the graph's ops after the passes; made of bytes for problems that come from files.
  OutputShapes shapes = {};
};

// A problem JSON, a published workload, or GRAPH@MACHINE (the last '@' parts them).
LoadedProblem load_problem(const std::string& source, const SourceOptions& options);
LoadedProblem load_problem(const std::string& graph, const std::string& machine, const SourceOptions& options);

// N: the device of each op as the zoo model's expert places layers (ZooEntry::expert), over all devices of one kind:
// "gpu" where there are any, else that of the first device that is no CPU, else all devices. `lowered` is the graph
// after the passes, op i of it op i of the problem.
std::vector<std::uint8_t> expert_devices(std::string_view zoo_model, const Graph& lowered, const Problem& problem);

// The same source with the paths of existing files made absolute, so that it means the same from any folder.
std::string absolute_source(const std::string& source);

}  // namespace emplace::source
