// Models written: for Graphviz, and copies of model files with a placement in them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

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

struct OnnxAnnotations {
  // Of node i of the main graph (in the order of the file, as read_graph numbers ops): its device, "" for none. Its
  // doc_string then begins with the line "emplace device: NAME".
  std::vector<std::string> device_of_node;
  // The node's metadata_props get the key "layer_ann" with this value where it is not empty: ONNX Runtime places nodes
  // by it (session.layer_assignment_settings). None are written, and none taken away, where this is empty.
  std::vector<std::string> layer_of_node = {};
  // The model's metadata_props; keys should begin with "emplace.".
  std::vector<std::pair<std::string, std::string>> metadata = {};
};
// Copies an ONNX file byte for byte, except for the annotations, which Netron shows too. Lines and keys of an earlier
// run are replaced. Weights pass through and are not loaded; memory is that of the texts. Weights in files beside the
// model are named relative to its folder and not copied: then `output` must lie in the same folder. InputError for
// that, for a file that is no ONNX model, or one that would exceed 2 GiB.
void write_annotated_onnx(const std::string& model, const std::string& output, const OnnxAnnotations& annotations);

// Nodes of an ONNX model that become a model of their own.
struct OnnxPart {
  std::vector<std::uint32_t> nodes;  // of the main graph, ascending
  std::string file;                  // where to write it
};
// What a part takes from the model's inputs and from other parts, and what it gives to them and to the model's outputs.
struct OnnxPartEnds {
  std::vector<std::string> inputs, outputs;
};
// An output of the model that no node makes, and so no part: an input of the model, or a weight, as constant folding
// leaves them.
struct OnnxPass {
  std::string output;
  bool is_weight = false;  // else an input
};
struct OnnxSplit {
  std::vector<OnnxPartEnds> ends;  // per part
  std::vector<OnnxPass> passes;
};
// Writes each part with its weights, its nodes byte for byte. `graph`: what read_graph makes of the model, which types
// the ends that the model gives no type. InputError as above, where the model has nothing of an output's name, and
// where a tensor between parts has no known type (a sequence, say). Where one cannot be written, none is there.
OnnxSplit write_onnx_parts(const std::string& model, const Graph& graph, std::span<const OnnxPart> parts);

// Reads the parts' files again and compares them with the model: every node is in one part and there byte for byte, as
// are the weights; every input of a part is one of the model or an output of one other part that stands before it;
// every output of the model is one of a part, or one of `passes` as it is there. BugError naming the first difference.
void check_onnx_parts(const std::string& model, std::span<const OnnxPart> parts, std::span<const OnnxPass> passes);

// Copies a GraphDef, binary or text, with the device of node i (in the order of the file) set to device_of_node[i]; ""
// takes it away. All else stays byte for byte. InputError for a file that is none.
void write_graphdef_devices(const std::string& model, const std::string& output,
                            const std::vector<std::string>& device_of_node);

// Copies an OpenVINO IR; <rt_info> of layer i gets <user_data name="affinity" version="0" value="device_of_layer[i]"/>,
// or none where that is empty. All else stays byte for byte; the .bin is not touched. InputError for a file that is
// none.
void write_openvino_affinity(const std::string& model, const std::string& output,
                             const std::vector<std::string>& device_of_layer);

}  // namespace emplace::formats
