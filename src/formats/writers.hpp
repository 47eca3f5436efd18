// Writes graphs for Graphviz, and copies of model files that contain a placement.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

struct DotOptions {
  // The ops of a cluster have the same GraphOp::layer or GraphOp::colocate; `none` writes no clusters. `automatic` uses
  // the layers if the graph names any, else its co-location groups.
  enum class Clusters : std::uint8_t { automatic, layer, colocation, none } clusters = Clusters::automatic;
  // The name of each op's device, "" for none; it determines the colours and the legend. If the list is empty, colours
  // follow op classes.
  std::vector<std::string> device_of_op = {};
};
// The graph in Graphviz's DOT language. Each op is a box with its type and name (its tooltip has the whole name, FLOPs,
// bytes and weights). Each edge is an arrow with the shape of its tensor, dashed for a control dependency. Inputs of
// the graph are ellipses. The same graph gives the same text. Takes linear time.
std::string write_dot(const Graph& graph, const DotOptions& options);

struct OnnxAnnotations {
  // The device of each node of the main graph (in the order of the file, as read_graph numbers ops), "" for none. The
  // node's doc_string then begins with the line "emplace device: NAME".
  std::vector<std::string> device_of_node;
  // For each node, the value of the key "layer_ann" in its metadata_props, by which ONNX Runtime places nodes
  // (session.layer_assignment_settings); not written for a node with an empty value. If the list is empty, these keys
  // are neither written nor removed.
  std::vector<std::string> layer_of_node = {};
  // Entries of the model's metadata_props; their keys should begin with "emplace.".
  std::vector<std::pair<std::string, std::string>> metadata = {};
};
// Copies an ONNX file byte for byte, except for the annotations, which Netron shows too. Lines and keys of an earlier
// run are replaced. Weights are copied in pieces, so that only texts are in memory. Weights in files beside the model
// are named relative to its folder and are not copied; `output` must then be in the same folder. Throws InputError if
// it is not, if the file is no ONNX model, or if the copy would exceed 2 GiB.
void write_annotated_onnx(const std::string& model, const std::string& output, const OnnxAnnotations& annotations);

// The largest number of parts that an ONNX model is cut into: each is a file, and a session of the runtime.
inline constexpr std::size_t most_onnx_parts = 1000;

// The nodes of an ONNX model that are written as a separate model.
struct OnnxPart {
  std::vector<std::uint32_t> nodes;  // of the main graph, ascending
  std::string file;                  // where to write it
};
// The tensors that a part reads from the model's inputs and from other parts, and those that other parts read or that
// are outputs of the model.
struct OnnxPartEnds {
  std::vector<std::string> inputs, outputs;
};
// An output of the model that no node, and therefore no part, computes: it is an input of the model or a weight, as can
// result from constant folding.
struct OnnxPass {
  std::string output;
  bool is_weight = false;  // false: an input
};
struct OnnxSplit {
  std::vector<OnnxPartEnds> ends;  // per part
  std::vector<OnnxPass> passes;
};
// Writes each part with its weights and with its nodes byte for byte. `graph` is the result of read_graph for the
// model; it gives the types of tensors between parts for which the model states none. Throws InputError as above, if
// the model does not define one of its outputs, and if a tensor between parts has no known type (a sequence, for
// example). `stop`, if given, is called before each part; where it returns true, WritingStopped is thrown. If a part
// cannot be written, or writing is stopped, the parts written before are removed.
struct WritingStopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};
OnnxSplit write_onnx_parts(const std::string& model, const Graph& graph, std::span<const OnnxPart> parts,
                           const std::function<bool()>& stop = {});

// Reads the parts' files and compares them with the model. Every node must be in exactly one part; nodes and weights
// must be equal byte for byte; every input of a part must be an input of the model or an output of exactly one earlier
// part; every output of the model must be an output of a part or be in `passes`. Throws BugError naming the first
// difference.
void check_onnx_parts(const std::string& model, std::span<const OnnxPart> parts, std::span<const OnnxPass> passes);

// Copies a GraphDef, binary or text, with the device of node i (in the order of the file) set to device_of_node[i]; ""
// removes it. All else is copied byte for byte. InputError if the file is no GraphDef.
void write_graphdef_devices(const std::string& model, const std::string& output,
                            const std::vector<std::string>& device_of_node);

// Copies an OpenVINO IR; <rt_info> of layer i gets <user_data name="affinity" version="0" value="device_of_layer[i]"/>,
// or no such element if that is empty. All else is copied byte for byte; the .bin is not changed. InputError if the
// file is no OpenVINO IR.
void write_openvino_affinity(const std::string& model, const std::string& output,
                             const std::vector<std::string>& device_of_layer);

}  // namespace emplace::formats
