// What a rule of the evaluator gets: a node with its attributes and the known values of its inputs.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/onnx/fold/tensor.hpp"

namespace emplace::formats {

// Bounds the evaluator's time and memory: elements that it may still compute or read.
struct FoldBudget {
  std::size_t steps = std::size_t{1} << 26;   // elements read and written, together about a second
  std::size_t stored = std::size_t{1} << 22;  // elements kept, 100 MB

  // False, and nothing is spent, if fewer are left.
  bool spend_steps(std::size_t count);
  bool spend_stored(std::size_t count);
};

class FoldCall {
 public:
  FoldCall(const onnx::NodeProto& node, std::vector<const FoldedTensor*> inputs,
           std::vector<const onnx::TypeProto*> types, FoldBudget& budget)
      : node_(node), inputs_(std::move(inputs)), types_(std::move(types)), budget_(budget) {}

  [[nodiscard]] const onnx::NodeProto& node() const { return node_; }
  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  // nullptr if the input is absent or nothing is known of its elements.
  [[nodiscard]] const FoldedTensor* input(std::size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  // Whether the node names input `i`.
  [[nodiscard]] bool has_input(std::size_t i) const;
  // The shape that inference has found for input `i`; nullptr if it has none.
  [[nodiscard]] const onnx::TensorShapeProto* shape(std::size_t i) const;
  // All elements of input `i` as whole numbers; nullopt if one is not known or the tensor is not of whole numbers.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> wholes(std::size_t i) const;
  // The same from input `i` or, before the opset that made it an input, from the attribute.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> wholes(std::size_t i, const char* attribute) const;

  [[nodiscard]] const onnx::AttributeProto* attribute(std::string_view name) const;
  [[nodiscard]] std::int64_t whole(std::string_view name, std::int64_t fallback) const;

  [[nodiscard]] FoldBudget& budget() const { return budget_; }

 private:
  const onnx::NodeProto& node_;
  std::vector<const FoldedTensor*> inputs_;
  std::vector<const onnx::TypeProto*> types_;
  FoldBudget& budget_;
};

// The outputs' values in order; an empty list if nothing can be said about them.
using FoldedOutputs = std::vector<FoldedTensor>;
using FoldRule = FoldedOutputs (*)(const FoldCall& call);
using FoldRules = std::unordered_map<std::string_view, FoldRule>;

const FoldRules& elementwise_rules();  // arithmetic, comparison, logic, Cast, Where
const FoldRules& creation_rules();     // Shape, Size, Range, ConstantOfShape, NonZero
const FoldRules& movement_rules();     // Reshape, Transpose, Slice, Concat, Expand, Tile, Split, Pad ...
const FoldRules& index_rules();        // Gather, GatherElements, GatherND, ScatterElements, ScatterND, OneHot
const FoldRules& reduction_rules();    // ReduceSum, ReduceProd, ReduceMax, ReduceMin, ArgMax, CumSum

// An axis counted from the front; nullopt if the tensor has no such axis.
std::optional<std::size_t> front_axis(std::int64_t axis, std::size_t rank);

// The elements of `from` at `positions`, with the sizes `dims`.
FoldedTensor picked(const FoldedTensor& from, FoldedDims dims, const std::vector<std::size_t>& positions);
// The elements at all combinations of `along[axis]`, a list of positions for each axis. An empty list of outputs if
// they are too many, else one tensor.
FoldedOutputs taken(const FoldCall& call, const FoldedTensor& from, const std::vector<std::vector<std::size_t>>& along);
// The sizes of operands that are combined element by element (NumPy's rule); nullopt if they do not fit.
std::optional<FoldedDims> broadcast_dims(const FoldedDims& a, const FoldedDims& b);
// The tensor repeated to `dims`; it must broadcast to them.
FoldedTensor broadcast_to(const FoldedTensor& from, const FoldedDims& dims);

}  // namespace emplace::formats
