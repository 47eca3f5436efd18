#include "formats/tensorflow/ops.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"

namespace emplace::formats {

namespace {

// Types for which ONNX has the same op, with operands at the same positions except for `order`.
constexpr TfOpName tensorflow_names[] = {
    {"Const", "Constant"},
    {"VariableV2", "Variable"},
    {"Variable", "Variable"},
    {"TemporaryVariable", "Variable"},
    {"AddV2", "Add"},
    {"RealDiv", "Div"},
    {"DivNoNan", "Div"},
    {"Maximum", "Max"},
    {"Minimum", "Min"},
    {"AddN", "Sum"},
    {"AccumulateNV2", "Sum"},
    {"FloorMod", "Mod"},
    {"TruncateMod", "Mod"},
    {"Inv", "Reciprocal"},
    {"Rint", "Round"},
    {"Erfc", "Erf"},
    {"Relu6", "Clip"},
    {"ClipByValue", "Clip"},
    {"IsNan", "IsNaN"},
    {"LogicalAnd", "And"},
    {"LogicalOr", "Or"},
    {"LogicalNot", "Not"},
    {"GreaterEqual", "GreaterOrEqual"},
    {"LessEqual", "LessOrEqual"},
    {"Select", "Where"},
    {"SelectV2", "Where"},
    {"Where", "NonZero"},  // the indices of the elements that are not zero
    {"Mean", "ReduceMean"},
    {"Sum", "ReduceSum"},
    {"Max", "ReduceMax"},
    {"Min", "ReduceMin"},
    {"Prod", "ReduceProd"},
    {"Cumsum", "CumSum"},
    {"TopKV2", "TopK"},
    {"BatchMatMul", "MatMul"},
    {"BatchMatMulV2", "MatMul"},
    {"BatchMatMulV3", "MatMul"},
    {"FusedBatchNorm", "BatchNormalization"},
    {"FusedBatchNormV2", "BatchNormalization"},
    {"FusedBatchNormV3", "BatchNormalization"},
    {"FusedBatchNormGrad", "BatchNormalizationGrad"},
    {"FusedBatchNormGradV2", "BatchNormalizationGrad"},
    {"FusedBatchNormGradV3", "BatchNormalizationGrad"},
    {"MaxPoolV2", "MaxPool"},
    {"AvgPool", "AveragePool"},
    {"MaxPoolGrad", "MaxPoolGrad", "2"},
    {"AvgPoolGrad", "AveragePoolGrad", "1"},
    {"Concat", "Concat"},
    {"ConcatV2", "Concat"},
    {"Split", "Split", "1"},
    {"SplitV", "Split"},
    {"StridedSlice", "Slice"},
    {"PadV2", "Pad"},
    {"MirrorPad", "Pad"},
    {"BroadcastTo", "Expand"},
    {"ExpandDims", "Unsqueeze"},
    {"GatherV2", "Gather"},
    {"ResourceGather", "Gather"},
    {"GatherNd", "GatherND"},
    {"ScatterNd", "ScatterND"},
    {"ResizeBilinear", "Resize"},
    {"ResizeNearestNeighbor", "Resize"},
    {"ResizeBicubic", "Resize"},
    {"RandomStandardNormal", "RandomNormal"},
    {"TruncatedNormal", "RandomNormal"},
    {"ParameterizedTruncatedNormal", "RandomNormal"},
    {"RandomUniformInt", "RandomUniform"},
    // The op table's updates have the operands (parameter, gradient, indices).
    {"ApplyGradientDescent", "ApplyGradientDescent", "02"},
    {"ResourceApplyGradientDescent", "ApplyGradientDescent", "02"},
    {"ApplyMomentum", "ApplyMomentum", "03"},
    {"ResourceApplyMomentum", "ApplyMomentum", "03"},
    {"ResourceApplyKerasMomentum", "ApplyMomentum", "03"},
    {"ApplyAdam", "ApplyAdam", "09"},
    {"ResourceApplyAdam", "ApplyAdam", "09"},
    {"SparseApplyMomentum", "SparseApplyMomentum", "034"},
    {"ResourceSparseApplyMomentum", "SparseApplyMomentum", "034"},
    {"ResourceSparseApplyKerasMomentum", "SparseApplyMomentum", "034"},
    // Subtracts rows of the gradient that are scaled already: (variable, updates, indices).
    {"ScatterSub", "SparseApplyGradientDescent", "021"},
    {"ResourceScatterSub", "SparseApplyGradientDescent", "021"},
};

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::string attribute_name(const std::string& name) {
  if (name == "ksize") return "kernel_shape";
  if (name == "transpose_a" || name == "adj_x") return "transA";
  if (name == "transpose_b" || name == "adj_y") return "transB";
  if (name == "is_training") return "training_mode";
  return name;
}

}  // namespace

TfOpName graph_op_name(std::string_view tensorflow) {
  static const auto* const map = [] {
    auto* rows = new std::unordered_map<std::string_view, const TfOpName*>;
    for (const TfOpName& row : tensorflow_names) rows->emplace(row.tensorflow, &row);
    return rows;
  }();
  const auto found = map->find(tensorflow);
  return found == map->end() ? TfOpName{tensorflow, tensorflow} : *found->second;
}

std::map<std::string, Attribute> attributes_of(const TfNode& node) {
  using Kind = TfValue::Kind;
  std::map<std::string, Attribute> attributes;
  for (const auto& [name, value] : node.attributes) {
    if (name.starts_with('_') || is_one_of(name, {"container", "shared_name", "frame_name", "stack_name"})) continue;
    const std::string key = attribute_name(name);
    switch (value.kind) {
      case Kind::whole:
      case Kind::boolean: attributes[key] = value.whole; break;
      case Kind::real: attributes[key] = value.real; break;
      case Kind::text:
        if (!value.text.empty()) attributes[key] = value.text;
        break;
      case Kind::list:
        if (!value.wholes.empty() && value.wholes.size() <= 4096) attributes[key] = value.wholes;
        if (!value.texts.empty() && value.texts.size() <= 16) attributes[key] = join(value.texts, ",");
        break;
      default: break;
    }
  }
  // Without the attribute, the statistics of the batch are used (op definition of FusedBatchNorm).
  if (node.op.starts_with("FusedBatchNorm")) attributes.emplace("training_mode", std::int64_t{1});
  return attributes;
}

DType output_dtype(const TfNode& node, std::size_t position, const std::string& place) {
  const std::string_view op = node.op;
  if (is_one_of(op, {"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "LogicalAnd", "LogicalOr",
                     "LogicalNot", "All", "Any", "IsNan", "IsInf", "IsFinite", "LoopCond", "VarIsInitializedOp",
                     "IsVariableInitialized"}))
    return DType::boolean;
  if (is_one_of(op, {"VarHandleOp", "StackV2", "Stack", "HashTableV2", "IteratorV2"})) return DType::unknown;
  if (op.starts_with("TensorArray") && op != "TensorArrayReadV3" && op != "TensorArrayGatherV3")
    // The outputs are a handle and a flow; a write returns only the flow.
    return op == "TensorArraySizeV3"                                               ? DType::i32
           : (op == "TensorArrayV3" || op == "TensorArrayGradV3") && position == 0 ? DType::unknown
                                                                                   : DType::f32;
  if (op.starts_with("TensorList") && !is_one_of(op, {"TensorListGetItem", "TensorListStack", "TensorListGather"}))
    return DType::unknown;
  if (op == "Where") return DType::i64;
  if (position == 1 && is_one_of(op, {"TopKV2", "TopK", "Merge", "RefMerge"})) return DType::i32;
  // Statistics are in single precision even if the data is not.
  if (position > 0 && op.starts_with("FusedBatchNorm") && node.find("U") != nullptr)
    return dtype_of_tensorflow(node.find("U")->type, place);
  for (const char* list : {"output_types", "component_types", "Tout", "dtypes", "Toutput_types"})
    if (const TfValue* types = node.find(list); types != nullptr && position < types->types.size())
      return dtype_of_tensorflow(types->types[position], place);
  for (const char* name : {"dtype", "DstT", "out_type", "output_type", "element_dtype", "Tparams", "T", "elem_type",
                           "Tidx", "dtype_out", "type"})
    if (const TfValue* type = node.find(name); type != nullptr && type->kind == TfValue::Kind::type)
      return dtype_of_tensorflow(type->type, place);
  if (is_one_of(op, {"Shape", "ShapeN", "Size", "Rank", "ConcatOffset"})) return DType::i32;  // default of out_type
  return DType::unknown;
}

bool has_no_outputs(std::string_view op) {
  return is_one_of(op, {"NoOp", "ControlTrigger", "Assert", "AssignVariableOp", "AssignAddVariableOp",
                        "AssignSubVariableOp", "MakeIterator", "SaveV2", "Save", "MergeV2Checkpoints", "_Send", "Send",
                        "TensorArrayCloseV3", "StackCloseV2", "Abort", "PrintV2", "DestroyResourceOp"}) ||
         op.starts_with("ResourceApply") || op.starts_with("ResourceSparseApply") ||
         op.starts_with("ResourceScatter") || op.starts_with("InitializeTable") || op.starts_with("WriteScalar");
}

bool holds_variable(std::string_view op) {
  return is_one_of(op, {"VariableV2", "Variable", "TemporaryVariable", "VarHandleOp"});
}

bool gives_handle(const TfNode& node) {
  constexpr std::int64_t resource = 20;      // DT_RESOURCE
  if (const TfValue* type = node.find("T"))  // Identity, Switch, Enter
    return type->kind == TfValue::Kind::type && type->type == resource;
  return is_one_of(node.op, {"VarHandleOp", "StackV2", "HashTableV2", "MutableHashTableV2", "IteratorV2",
                             "TensorArrayV3", "TensorArrayGradV3"});
}

bool takes_weight(std::string_view op, std::size_t position) {
  if (op.starts_with("FusedBatchNorm") && !op.starts_with("FusedBatchNormGrad")) return position >= 1 && position <= 4;
  if (op == "CropAndResize") return position == 3 || position == 2;
  return position == 1 && is_one_of(op, {"Conv2D", "Conv3D", "DepthwiseConv2dNative", "BiasAdd", "MatMul", "Pad",
                                         "Reshape", "Mean", "Sum", "Max", "Transpose", "ExpandDims", "Squeeze"});
}

}  // namespace emplace::formats
