// Shape inference of ONNX graphs: libonnx's functions for each operator, driven by our own loop.
#pragma once

#include <onnx/shape_inference/implementation.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formats/onnx/fold/fold.hpp"
#include "formats/onnx/grown_targets.hpp"
#include "formats/onnx/reshape_targets.hpp"
#include "formats/onnx/scope.hpp"

namespace emplace::formats {

// The sizes of inputs that the user gave.
struct OnnxGivenSizes {
  bool any = false;
  std::vector<ReplacedSize> replaced;                 // fixed sizes of the file that are others now
  std::vector<onnx::ValueInfoProto> exported_inputs;  // the inputs of the file, if sizes were replaced
  ExportedReshapes exported;                          // the Reshape nodes of the main graph for those inputs
  bool upper_bounds = false;  // sizes that depend on data are taken at their upper bound (upper_bounds.hpp)
};

// libonnx's own driver (InferShapes) needs nodes in topological order, does not report which nodes failed, and doubles
// its data without limit on malicious graphs (a chain of Gather(x, x) or Concat(x, x)). This class gives the same
// shapes (tested on real models) as the driver does if it is not strict and propagates data. It cannot prevent
// libonnx's functions from reading beyond their inputs or dividing by zero on broken nodes; therefore shapes.hpp runs
// it in a child process.
class OnnxInference {
 public:
  // Keeps references to the model, whose main graph has about `tensors` tensors. The model's nodes are not changed.
  OnnxInference(const onnx::ModelProto& model, const std::string& file, std::size_t tensors, OnnxGivenSizes given = {});
  OnnxInference(const OnnxInference&) = delete;
  OnnxInference& operator=(const OnnxInference&) = delete;

  // Adds the types of the node's outputs to the scope. InputError for nodes of the main graph whose sizes contradict
  // each other (size_checks.hpp), for tensors with a negative size or more than 64
  // dimensions, and for sub-graphs and functions that expand to more than 300 000 nodes.
  void infer(onnx::NodeProto& node, OnnxScope& scope, int depth = 0);
  // The number of nodes that libonnx refused and the error of the first one, as a text; "" if there are none.
  [[nodiscard]] std::string failures() const;
  // The same for Reshape nodes whose targets were fitted to the given sizes.
  [[nodiscard]] std::string rewritten() const;

  // The Reshape nodes of the main graph whose sizes are all known.
  [[nodiscard]] ExportedReshapes exported_reshapes(const onnx::GraphProto& graph);

  // The number of If, Loop and Scan nodes whose costs are not those of a run: the condition or the number of trips is
  // not known.
  [[nodiscard]] std::size_t unknown_trips() const { return doubts_.unknown_trips; }

  // The number of If nodes that were taken as one branch, because a node of the other contradicts the known shapes, and
  // the first of them with the error, as a text; "" if there are none.
  [[nodiscard]] std::string one_branch() const;

  // The number of nodes that were sized by their upper bound and the first of them, as a text; "" if there are none.
  [[nodiscard]] std::string bounded() const;

  // The value of a tensor of the main graph that is one whole number or truth value, if it is known.
  [[nodiscard]] std::optional<std::int64_t> known_whole(const std::string& tensor);

  OnnxScope main;

 private:
  class Subgraph;
  class Context;
  class LoopRun;
  // What could not be found out in a graph and the sub-graphs that it runs.
  struct Doubts {
    std::size_t unknown_trips = 0, failures = 0;
    std::string first_failure;
    bool first_contradicts = false;  // that node cannot run on inputs of the known shapes, whatever their values

    void add(const Doubts& others);
  };

  void infer_operator(const onnx::OpSchema& schema, onnx::NodeProto& node, Context& context, OnnxScope& scope);
  // Infers If with a known condition, Loop and Scan, and the cost of each; false for all other nodes.
  bool infer_control_flow(onnx::NodeProto& node, const onnx::OpSchema& schema, Context& context, OnnxScope& scope);
  void infer_if(onnx::NodeProto& node, const onnx::OpSchema& schema, Context& context, OnnxScope& scope);
  void infer_both_branches(onnx::NodeProto& node, const onnx::OpSchema& schema, Context& context, OnnxScope& scope);
  void infer_scan(onnx::NodeProto& node, const onnx::OpSchema& schema, Context& context, OnnxScope& scope);
  std::optional<onnx::NodeProto> used_form(const onnx::NodeProto& node, OnnxScope& scope, int depth);
  std::optional<onnx::NodeProto> with_fitted_target(const onnx::NodeProto& node, OnnxScope& scope);
  std::optional<ExportedReshape> as_exported(const onnx::NodeProto& node, OnnxScope& scope);
  std::optional<std::vector<std::int64_t>> grown(const onnx::NodeProto& node, const FoldedTensor& target,
                                                 const Shape& input) const;
  void note_unknown_trips(BodyCost& cost);

  void infer_function(const onnx::FunctionProto& function, onnx::NodeProto& node, Context& caller,
                      const OnnxScope& scope, int depth);
  void update_types(onnx::NodeProto& node, Context& context, OnnxScope& scope);
  void propagate(onnx::NodeProto& node, const onnx::OpSchema& schema, OnnxScope& scope);
  void check_rank(const onnx::NodeProto& node, const Context& context) const;
  void check_sizes(const onnx::NodeProto& node, const std::string& tensor, const onnx::TypeProto& type) const;
  void count_inner_node();
  void check_depth(int depth) const;
  void fail(const onnx::NodeProto& node, const char* why, bool contradicts = false);
  [[nodiscard]] bool knows_shapes_read_by(const onnx::NodeProto& node, const OnnxScope& scope) const;

  const std::string& file_;
  std::unordered_map<std::string, const onnx::FunctionProto*> functions_;  // "domain:name"
  onnx::shape_inference::SymbolTableImpl symbols_;
  OnnxGivenSizes given_;
  OnnxFolder folder_;
  std::size_t rewritten_count_ = 0;
  std::string first_rewritten_;
  std::unordered_set<const onnx::NodeProto*> bounded_;
  std::string first_bounded_;
  std::size_t inner_nodes_ = 0;
  Doubts doubts_;
  std::unordered_set<const onnx::NodeProto*> of_one_branch_;
  std::string first_of_one_branch_;
};

// "'conv1' (Conv)"
std::string describe(const onnx::NodeProto& node);

}  // namespace emplace::formats
