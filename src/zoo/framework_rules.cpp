// The rules follow the Python sources of TensorFlow 1.3 (ops/math_grad.py, array_grad.py, nn_grad.py, nn_impl.py,
// gradients_impl.py, training/saver.py, contrib/layers), which the placement papers ran;
// tests/zoo/framework_rules_test.cpp compares with the gradients of a real training graph. Shapes are constants, since
// all sizes here are fixed. A kernel that is one op here and several ops in TensorFlow (unfused batch normalisation,
// dropout, softmax gradient) keeps its cost; the other ops are added.
#include "zoo/framework_rules.hpp"

#include <map>

#include "emplace/base/error.hpp"

namespace emplace::zoo {

namespace {

// tf.gradients groups the gradients of an op with several inputs: group_deps and one Identity for each gradient.
std::string tuple(std::size_t gradients) {
  std::string ops = "NoOp";
  for (std::size_t i = 0; i < gradients; ++i) ops += " Identity";
  return ops;
}

// tf.gradients passes zeros to an op for each of its outputs that the objective does not depend on.
std::string zeros(std::size_t outputs) {
  std::string ops;
  for (std::size_t i = 0; i < outputs; ++i) ops += "ZerosLike ";
  return ops;
}

// The gradient of an element-wise op with two operands, broadcast or not.
const std::string broadcast = "Constant Constant BroadcastGradientArgs ReduceSum Reshape ReduceSum Reshape " + tuple(2);
// The gradient of a sum is repeated along the reduced axes: _SumGrad without its last op, the Tile.
const std::string spread =
    "Constant Constant Add Mod Constant Constant Constant Range Constant Fill DynamicStitch Constant Max FloorDiv "
    "Reshape";
// _MeanGrad divides by the number of elements.
const std::string divide = " Constant Constant Constant ReduceProd Constant ReduceProd Constant Max FloorDiv Cast Div";
const std::string spread_mean = spread + " Tile" + divide;
// The gradient of a mean over all elements needs fewer ops.
const std::string spread_mean_of_all = "Constant Reshape Constant Tile" + divide;

// nn.moments, two exponential moving averages, nn.batch_normalization with its last Add as the op itself.
const std::string moments = "Constant ReduceMean StopGradient SquaredDifference Constant ReduceMean Squeeze Squeeze";
const std::string moving_averages = "Constant Sub Mul AssignSub Constant Sub Mul AssignSub";
const std::string normalise = "Constant Add Rsqrt Mul Mul Mul Sub";
// Add, Sub, three Mul, Rsqrt, Add epsilon, two Squeeze, two ReduceMean and the SquaredDifference between them, AddN.
const std::string unfused_gradient = broadcast + " " + broadcast + " Neg " + broadcast + " Mul Mul " + broadcast +
                                     " Mul Mul " + broadcast + " Mul Mul RsqrtGrad " + broadcast +
                                     " Constant Reshape Constant Reshape " + spread_mean + " Mul Sub Mul Neg " +
                                     broadcast + " " + spread_mean + " Sum";

// One line for each type: the ops before the op, and those in its gradient.
const std::map<std::string_view, FrameworkOps> rules{
    {"Conv", {"Constant Constant", "Constant Constant " + tuple(2)}},
    {"MatMul", {"", tuple(2)}},
    {"Add", {"", broadcast}},
    {"Sub", {"", broadcast}},
    {"Mul", {"", broadcast}},
    {"Div", {"", broadcast + " Div Div"}},
    {"Split", {"Constant", "Constant"}},
    {"Softmax", {"", "Mul Constant ReduceSum Constant Reshape Sub"}},
    {"Reshape", {"Constant", "Constant"}},
    {"Flatten", {"Constant", "Constant"}},
    {"Squeeze", {"", "Constant"}},
    {"Unsqueeze", {"Constant", "Constant"}},
    {"Transpose", {"Constant", "InvertPermutation"}},
    {"Expand", {"Constant", spread}},
    {"ReduceSum", {"Constant", spread}},
    {"ReduceMean", {"Constant", spread_mean}},
    {"GlobalAveragePool", {"Constant", spread_mean}},
    {"AveragePool", {"", "Constant"}},
    {"Slice", {"Constant Constant", "Rank Constant Constant Pack Reshape Sub Sub Concat"}},
    {"Pad", {"Constant", "Constant Constant Constant Constant Pack Slice Reshape Constant"}},
    {"OneHot", {"Constant Constant Constant", ""}},
    {"TopK", {"Constant", "Constant Reshape Constant Range Constant Mul Unsqueeze Constant Add Reshape Constant"}},
    {"CumSum", {"Constant", ""}},
    // The gradient of a lookup: its rows, reshaped, with their indices.
    {"Gather",
     {"", "Constant Cast Constant Reshape Constant Constant Constant Unsqueeze Slice Constant Concat Reshape"}},
    {"ScatterND", {"Constant", tuple(1)}},
    // keep_prob, uniform noise, floor, division; the product is the op.
    {"Dropout",
     {"Constant Constant Constant Constant RandomUniform Sub Mul Add Add Floor Div",
      broadcast + " Mul " + broadcast + " Div Div Neg Mul"}},
    {"Gelu",
     {"Constant Div Erf Constant Add Constant Mul", broadcast + " Mul Mul " + broadcast + " Mul Exp " + broadcast}},
    {"LayerNormalization", {moments + " " + normalise, unfused_gradient}},
    // The mean over the batch; the gradient of the kernel is a product with its second output.
    {"SoftmaxCrossEntropyLoss",
     {"Constant Constant ReduceMean", spread_mean_of_all + " Fill " + zeros(1) + "PreventGradient Constant Unsqueeze"}},
    // contrib.layers.l2_regularizer: the scale.
    {"L2Loss", {"Constant", ""}},
};

bool is_set(const GraphOp& op, const char* attribute) {
  const auto found = op.attributes.find(attribute);
  return found != op.attributes.end() && found->second != Attribute{std::int64_t{0}};
}

// Whether the op is TensorFlow's BiasAdd (the bias has one dimension), whose gradient is one op.
bool adds_bias(const Graph& graph, const GraphOp& op) {
  return op.type == "Add" && op.inputs.size() == 2 && op.inputs[1].is_parameter() &&
         graph.parameters[op.inputs[1].index].shape.dims.size() == 1;
}

// The axis, the offsets of the parts, and one Slice for each part; one Slice is the op of detail = "op".
std::string concat_gradient(std::size_t parts) {
  std::string ops = "Constant Constant Mod ShapeN ConcatOffset";
  for (std::size_t i = 1; i < parts; ++i) ops += " Slice";
  return ops + " " + tuple(parts);
}

FrameworkOps batch_normalisation(const GraphOp& op) {
  const bool training = is_set(op, "training_mode");
  // FusedBatchNorm has the same moving averages in training. One of its five outputs has a gradient; the five outputs
  // of FusedBatchNormGrad are grouped.
  if (is_set(op, "fused")) return {training ? "Constant Constant " + moving_averages : "", zeros(4) + tuple(5)};
  return {training ? moments + " " + moving_averages + " " + normalise : normalise, unfused_gradient};
}

}  // namespace

FrameworkOps framework_ops(const Graph& graph, const GraphOp& op) {
  if (op.type == "BatchNormalization") return batch_normalisation(op);
  if (op.type == "Concat") return {"Constant", concat_gradient(op.inputs.size())};
  if (op.type == "Sum") return {"", tuple(op.inputs.size())};
  if (adds_bias(graph, op)) return {"", tuple(2)};
  const auto rule = rules.find(op.type);
  return rule == rules.end() ? FrameworkOps{} : rule->second;
}

// Initial values of matrices are uniform random numbers (shape, bounds, RandomUniform, scaled), those of filters normal
// ones (slim's variance_scaling_initializer: shape, mean, deviation, TruncatedNormal, scaled), those of vectors
// constant.
std::string_view initial_value_ops(std::size_t rank) {
  if (rank < 2) return "Constant Assign";
  return rank == 2 ? "Constant Constant Constant RandomUniform Sub Mul Add Assign"
                   : "Constant Constant Constant RandomNormal Mul Add Assign";
}

}  // namespace emplace::zoo
