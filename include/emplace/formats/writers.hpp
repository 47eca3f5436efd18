// Graphs written for people and their viewers: Graphviz, and ONNX files that Netron shows with their placement.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace {

struct DotOptions {
  // What a cluster is: GraphOp::layer, GraphOp::colocate, or nothing. `automatic`: the layers where the graph names
  // any, else its co-location groups.
  enum class Clusters : std::uint8_t { automatic, layer, colocation, none } clusters = Clusters::automatic;
  // Per op the name of its device, "" for none; colours and a legend follow it. Empty: colours follow op classes.
  std::vector<std::string> device_of_op = {};
};
// Graphviz's DOT language: one box an op with its type and name (in the tooltip: the whole name, FLOPs, bytes,
// weights), one arrow an edge with the shape of its tensor, dashed for a control dependency; inputs of the graph are
// ellipses. The same graph gives the same text. Linear.
std::string write_dot(const Graph& graph, const DotOptions& options);

// Copies an ONNX file byte for byte, except that
// - the doc_string of node i of the main graph (in the order of the file, as read_graph numbers ops) begins with the
// line
//   "emplace device: NAME" where device_of_node[i] is not empty,
// - the model's metadata_props hold `metadata`, whose keys should begin with "emplace.".
// Netron shows both. Lines and keys of an earlier run are replaced. Weights pass through and are not loaded; memory is
// that of the texts. Weights in files beside the model are named relative to its folder and not copied: then `output`
// must lie in the same folder. InputError for that, for a file that is no ONNX model, or one that would exceed 2 GiB.
void write_annotated_onnx(const std::string& model, const std::string& output,
                          const std::vector<std::string>& device_of_node,
                          const std::vector<std::pair<std::string, std::string>>& metadata);

}  // namespace emplace
