#include "formats/pytorch/aten.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/text.hpp"

namespace emplace::formats {

namespace {

// By name, or by name and overload where overloads are different ops.
constexpr AtenOpName aten_names[] = {
    {"linear", "Linear"},
    {"addmm", "Gemm", "mat1 mat2 self"},
    {"baddbmm", "Linear", "batch1 batch2 self"},
    {"mm", "MatMul"},
    {"bmm", "MatMul"},
    {"mv", "MatMul"},
    {"dot", "MatMul"},
    {"matmul", "MatMul"},
    {"einsum", "Einsum"},
    {"_grouped_mm", "aten.grouped_mm"},
    {"transformers.grouped_mm_fallback", "aten.grouped_mm"},
    {"conv1d", "Conv"},
    {"conv2d", "Conv"},
    {"conv3d", "Conv"},
    {"convolution", "Conv"},
    {"conv_transpose1d", "ConvTranspose"},
    {"conv_transpose2d", "ConvTranspose"},
    {"conv_transpose3d", "ConvTranspose"},
    {"lstm", "aten.lstm"},
    {"gru", "aten.gru"},
    {"rnn_tanh", "aten.rnn"},
    {"rnn_relu", "aten.rnn"},
    {"scaled_dot_product_attention", "ScaledDotProductAttention", "query key value"},
    {"_scaled_dot_product_flash_attention_for_cpu", "ScaledDotProductAttention", "query key value"},
    {"_scaled_dot_product_flash_attention", "ScaledDotProductAttention", "query key value"},
    {"_scaled_dot_product_efficient_attention", "ScaledDotProductAttention", "query key value"},

    {"add", "Add"},
    {"sub", "Sub"},
    {"rsub", "Sub"},
    {"mul", "Mul"},
    {"div", "Div"},
    {"true_divide", "Div"},
    {"floor_divide", "FloorDiv"},
    {"remainder", "Mod"},
    {"fmod", "Mod"},
    {"neg", "Neg"},
    {"abs", "Abs"},
    {"reciprocal", "Reciprocal"},
    {"sqrt", "Sqrt"},
    {"rsqrt", "Rsqrt"},
    {"square", "Square"},
    {"exp", "Exp"},
    {"exp2", "Exp"},
    {"expm1", "Expm1"},
    {"log", "Log"},
    {"log2", "Log"},
    {"log10", "Log"},
    {"log1p", "Log1p"},
    {"pow", "Pow"},
    {"float_power", "Pow"},
    {"erf", "Erf"},
    {"sin", "Sin"},
    {"cos", "Cos"},
    {"maximum", "Max"},
    {"minimum", "Min"},
    {"max.other", "Max"},
    {"min.other", "Min"},
    {"floor", "Floor"},
    {"ceil", "Ceil"},
    {"round", "Round"},
    {"sign", "Sign"},
    {"clamp", "Clip"},
    {"clamp_min", "Clip"},
    {"clamp_max", "Clip"},
    {"hardtanh", "Clip"},
    {"relu6", "Clip"},
    {"relu", "Relu"},
    {"leaky_relu", "LeakyRelu"},
    {"prelu", "PRelu"},
    {"elu", "Elu"},
    {"celu", "Elu"},
    {"selu", "Selu"},
    {"sigmoid", "Sigmoid"},
    {"log_sigmoid", "Softplus"},
    {"hardsigmoid", "HardSigmoid"},
    {"hardswish", "HardSwish"},
    {"tanh", "Tanh"},
    {"softplus", "Softplus"},
    {"gelu", "Gelu"},
    {"silu", "Swish"},
    {"mish", "Mish"},
    {"glu", "aten.glu"},
    {"where", "Where", "condition self other"},
    {"masked_fill", "Where", "mask self value"},
    {"dropout", "Dropout"},
    {"native_dropout", "Dropout"},
    {"addcmul", "aten.addcmul"},
    {"addcdiv", "aten.addcmul"},
    {"lerp", "aten.addcmul"},
    {"diff", "aten.diff"},
    {"eq", "Equal"},
    {"ne", "NotEqual"},
    {"gt", "Greater"},
    {"ge", "GreaterOrEqual"},
    {"lt", "Less"},
    {"le", "LessOrEqual"},
    {"logical_not", "Not"},
    {"bitwise_not", "Not"},
    {"logical_and", "And"},
    {"bitwise_and", "And"},
    {"__and__", "And"},
    {"logical_or", "Or"},
    {"bitwise_or", "Or"},
    {"__or__", "Or"},
    {"logical_xor", "Xor"},
    {"bitwise_xor", "Xor"},
    {"__xor__", "Xor"},
    {"isnan", "IsNaN"},
    {"isinf", "IsNaN"},
    {"isfinite", "IsFinite"},
    {"randn", "RandomNormal"},
    {"randn_like", "RandomNormalLike"},
    {"rand", "RandomUniform"},
    {"rand_like", "RandomUniformLike"},
    {"bernoulli", "RandomUniformLike"},

    {"batch_norm", "BatchNormalization", "input weight bias running_mean running_var"},
    {"_native_batch_norm_legit_no_training", "BatchNormalization", "input weight bias running_mean running_var"},
    {"_native_batch_norm_legit", "BatchNormalization", "input weight bias running_mean running_var"},
    {"native_batch_norm", "BatchNormalization", "input weight bias running_mean running_var"},
    {"instance_norm", "InstanceNormalization", "input weight bias"},
    {"layer_norm", "LayerNormalization", "input weight bias"},
    {"native_layer_norm", "LayerNormalization", "input weight bias"},
    {"group_norm", "GroupNormalization", "input weight bias"},
    {"native_group_norm", "GroupNormalization", "input weight bias"},
    {"rms_norm", "aten.rms_norm", "input weight"},
    {"_fused_rms_norm", "aten.rms_norm", "input weight"},
    {"softmax", "Softmax"},
    {"_softmax", "Softmax"},
    {"log_softmax", "LogSoftmax"},
    {"_log_softmax", "LogSoftmax"},
    {"cross_entropy_loss", "SoftmaxCrossEntropyLoss"},

    {"mean", "ReduceMean"},
    {"sum", "ReduceSum"},
    {"max", "ReduceMax"},
    {"amax", "ReduceMax"},
    {"min", "ReduceMin"},
    {"amin", "ReduceMin"},
    {"prod", "ReduceProd"},
    {"norm", "ReduceL2"},
    {"linalg_vector_norm", "ReduceL2"},
    {"logsumexp", "ReduceLogSumExp"},
    {"cumsum", "CumSum"},
    {"var", "aten.var"},
    {"var_mean", "aten.var"},
    {"std", "aten.var"},
    {"argmax", "ArgMax"},
    {"argmin", "ArgMin"},
    {"any", "Any"},
    {"all", "All"},
    {"topk", "TopK"},
    {"sort", "aten.sort"},
    {"argsort", "aten.sort"},
    {"nonzero", "NonZero"},
    {"histc", "aten.histc"},
    {"bincount", "aten.histc"},

    {"max_pool1d", "MaxPool"},
    {"max_pool2d", "MaxPool"},
    {"max_pool3d", "MaxPool"},
    {"max_pool2d_with_indices", "MaxPool"},
    {"avg_pool1d", "AveragePool"},
    {"avg_pool2d", "AveragePool"},
    {"avg_pool3d", "AveragePool"},
    // Each element of the input belongs to one window, as in the global form, if the sizes divide each other.
    {"adaptive_avg_pool1d", "GlobalAveragePool"},
    {"adaptive_avg_pool2d", "GlobalAveragePool"},
    {"_adaptive_avg_pool2d", "GlobalAveragePool"},
    {"adaptive_avg_pool3d", "GlobalAveragePool"},
    {"adaptive_max_pool1d", "GlobalMaxPool"},
    {"adaptive_max_pool2d", "GlobalMaxPool"},

    {"cat", "Concat"},
    {"stack", "Concat"},
    {"pad", "Pad"},
    {"constant_pad_nd", "Pad"},
    {"reflection_pad1d", "Pad"},
    {"reflection_pad2d", "Pad"},
    {"replication_pad2d", "Pad"},
    {"repeat", "Tile"},
    {"repeat_interleave", "Tile"},
    {"to", "Cast"},
    {"_to_copy", "Cast"},
    {"type_as", "Cast"},
    {"clone", "aten.copy"},
    {"copy", "aten.copy", "src"},
    {"roll", "aten.copy"},
    {"flip", "aten.copy"},
    {"pixel_shuffle", "DepthToSpace"},
    {"pixel_unshuffle", "SpaceToDepth"},
    {"im2col", "aten.copy"},
    {"zeros", "ConstantOfShape"},
    {"zeros_like", "ConstantOfShape"},
    {"new_zeros", "ConstantOfShape"},
    {"zero", "ConstantOfShape"},
    {"ones", "ConstantOfShape"},
    {"ones_like", "ConstantOfShape"},
    {"new_ones", "ConstantOfShape"},
    {"full", "ConstantOfShape"},
    {"full_like", "ConstantOfShape"},
    {"new_full", "ConstantOfShape"},
    {"fill", "ConstantOfShape"},
    {"scalar_tensor", "ConstantOfShape"},
    {"arange", "Range"},
    {"linspace", "Range"},
    {"eye", "EyeLike"},
    {"one_hot", "OneHot"},
    {"tril", "Trilu"},
    {"triu", "Trilu"},
    {"index_put", "ScatterND"},
    {"scatter", "ScatterElements"},
    {"slice_scatter", "ScatterElements"},
    {"select_scatter", "ScatterElements"},
    {"masked_scatter", "ScatterElements"},
    {"index_add", "aten.index_add"},
    {"scatter_add", "aten.index_add"},
    {"scatter_reduce", "aten.index_add"},
    {"upsample_nearest1d", "Resize"},
    {"upsample_nearest2d", "Resize"},
    {"_upsample_nearest_exact2d", "Resize"},
    {"upsample_bilinear2d", "Resize"},
    {"_upsample_bilinear2d_aa", "Resize"},
    {"upsample_bicubic2d", "Resize"},
    {"_upsample_bicubic2d_aa", "Resize"},
    {"upsample_linear1d", "Resize"},
    {"grid_sampler", "Resize"},
    {"grid_sampler_2d", "Resize"},

    {"embedding", "Gather", "weight indices"},
    {"index_select", "Gather"},
    {"index", "GatherND"},
    {"masked_select", "GatherND"},
    {"gather", "GatherElements"},

    {"view", "Reshape"},
    {"_unsafe_view", "Reshape"},
    {"reshape", "Reshape"},
    {"flatten", "Reshape"},
    {"unflatten", "Reshape"},
    {"view_as", "Reshape"},
    {"contiguous", "Reshape"},
    {"squeeze", "Squeeze"},
    {"unsqueeze", "Unsqueeze"},
    {"alias", "Identity"},
    {"lift_fresh_copy", "Identity"},
    {"detach", "Detach"},
    {"empty", "Constant"},
    {"empty_like", "Constant"},
    {"new_empty", "Constant"},

    {"select", "aten.slice"},
    {"slice", "aten.slice"},
    {"narrow", "aten.slice"},
    {"diagonal", "aten.slice"},
    {"unfold", "aten.slice"},
    {"as_strided", "aten.slice"},
    {"transpose", "aten.permute"},
    {"permute", "aten.permute"},
    {"movedim", "aten.permute"},
    {"t", "aten.permute"},
    {"numpy_T", "aten.permute"},
    {"mT", "aten.permute"},
    {"expand", "aten.expand"},
    {"expand_as", "aten.expand"},
    {"split", "aten.split"},
    {"split_with_sizes", "aten.split"},
    {"chunk", "aten.split"},
    {"tensor_split", "aten.split"},
    {"unbind", "aten.split"},
};

const AtenOpName* find_aten(const std::string& name) {
  static const auto* const map = [] {
    auto* rows = new std::unordered_map<std::string_view, const AtenOpName*>;
    for (const AtenOpName& row : aten_names) rows->emplace(row.aten, &row);
    return rows;
  }();
  const auto found = map->find(name);
  return found == map->end() ? nullptr : found->second;
}

}  // namespace

AtenTarget::AtenTarget(std::string_view target) {
  constexpr std::string_view prefix = "torch.ops.";
  if (!target.starts_with(prefix)) {
    name = target;
    return;
  }
  const std::vector<std::string> parts = split(target.substr(prefix.size()), '.');
  library = parts[0];
  if (parts.size() > 1) name = parts[1];
  if (parts.size() > 2) overload = parts[2];
  in_place = library == "aten" && name.size() > 1 && name.ends_with('_') && !name.ends_with("__");
  if (in_place) name.pop_back();
}

AtenOpName graph_op_name(const AtenTarget& target) {
  const std::string name = target.library == "aten" ? target.name : target.full_name();
  const AtenOpName* row = find_aten(name + "." + target.overload);
  if (row == nullptr) row = find_aten(name);
  return row == nullptr ? AtenOpName{} : *row;
}

bool is_view(std::string_view type) {
  return type == "Reshape" || type == "Squeeze" || type == "Unsqueeze" || type == "Identity" || type == "Detach" ||
         type == "aten.slice" || type == "aten.permute" || type == "aten.expand" || type == "aten.split";
}

std::string attribute_of_argument(std::string_view argument) {
  if (argument == "kernel_size") return "kernel_shape";
  if (argument == "stride") return "strides";
  if (argument == "padding") return "pads";
  if (argument == "dilation") return "dilations";
  if (argument == "groups") return "group";
  if (argument == "dim") return "axis";
  if (argument == "training" || argument == "train") return "training_mode";
  return std::string(argument);
}

}  // namespace emplace::formats
