#include "formats/onnx/newer_ops.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

namespace {

const onnx::AttributeProto* newer_attribute(const onnx::NodeProto& node, std::string_view name) {
  for (const auto& each : node.attribute())
    if (each.name() == name) return &each;
  return nullptr;
}

void drop_attribute(onnx::NodeProto& node, std::string_view name) {
  auto& list = *node.mutable_attribute();
  for (int i = list.size(); i-- > 0;)
    if (list[i].name() == name) list.DeleteSubrange(i, 1);
}

std::optional<std::vector<std::int64_t>> known_wholes(OnnxScope& scope, OnnxFolder& folder, const std::string& name) {
  const OnnxValue value = folder.value(scope, name);
  if (value == nullptr || value->is_real() || !value->is_known()) return std::nullopt;
  std::vector<std::int64_t> wholes;
  for (const FoldedElement& element : value->elements) wholes.push_back(element.whole);
  return wholes;
}

bool is_newer_reduction(const onnx::NodeProto& node) {
  return node.op_type().starts_with("Reduce") && node.op_type() != "ReduceSum" && node.input_size() == 2;
}

// Since opset 18 the axes are an input.
bool move_axes_to_attribute(onnx::NodeProto& node, OnnxScope& scope, OnnxFolder& folder) {
  const bool keeps_all = [&] {
    const auto* attribute = newer_attribute(node, "noop_with_empty_axes");
    return attribute != nullptr && attribute->i() != 0;
  }();
  std::vector<std::int64_t> axes;
  if (!node.input(1).empty()) {
    auto known = known_wholes(scope, folder, node.input(1));
    if (!known) return false;
    axes = *std::move(known);
  }
  if (axes.empty() && keeps_all) return false;
  node.mutable_input()->RemoveLast();
  drop_attribute(node, "noop_with_empty_axes");
  if (axes.empty()) return true;
  auto& attribute = *node.add_attribute();
  attribute.set_name("axes");
  attribute.set_type(onnx::AttributeProto::INTS);
  for (const std::int64_t axis : axes) attribute.add_ints(axis);
  return true;
}

const onnx::TensorShapeProto* shape_in(const OnnxScope& scope, const std::string& name) {
  const auto found = scope.types.find(name);
  if (found == scope.types.end() || !found->second->has_tensor_type()) return nullptr;
  return found->second->tensor_type().has_shape() ? &found->second->tensor_type().shape() : nullptr;
}

// Since opset 18 Pad may name the axes that its pads are for; the older form has pads for all axes.
bool spread_pads(onnx::NodeProto& node, OnnxScope& scope, OnnxFolder& folder) {
  const auto* shape = shape_in(scope, node.input(0));
  const auto pads = known_wholes(scope, folder, node.input(1)), axes = known_wholes(scope, folder, node.input(3));
  if (shape == nullptr || !pads || !axes || pads->size() != 2 * axes->size()) return false;
  const auto rank = static_cast<std::size_t>(shape->dim_size());
  onnx::TensorProto all;
  all.set_data_type(onnx::TensorProto::INT64);
  all.add_dims(static_cast<std::int64_t>(2 * rank));
  all.mutable_int64_data()->Resize(static_cast<int>(2 * rank), 0);
  for (std::size_t i = 0; i < axes->size(); ++i) {
    const auto axis = front_axis((*axes)[i], rank);
    if (!axis) return false;
    all.set_int64_data(static_cast<int>(*axis), (*pads)[i]);
    all.set_int64_data(static_cast<int>(rank + *axis), (*pads)[axes->size() + i]);
  }
  const std::string name = node.output(0) + "\x01pads";
  scope.data[name] = &scope.own_data.emplace_back(std::move(all));
  auto& type = *scope.type(name).mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::INT64);
  type.mutable_shape()->clear_dim();
  type.mutable_shape()->add_dim()->set_dim_value(static_cast<std::int64_t>(2 * rank));
  node.set_input(1, name);
  node.mutable_input()->RemoveLast();
  return true;
}

// Attributes that newer opsets added and on which no shape depends.
std::vector<const char*> attributes_without_effect(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  if (type == "Cast" || type == "CastLike") return {"saturate", "round_mode"};
  if (type == "QuantizeLinear") return {"saturate", "block_size", "output_dtype", "precision"};
  if (type == "DequantizeLinear") return {"block_size", "output_dtype"};
  if (type == "Split") return {"num_outputs"};
  if (type == "Resize") {
    const auto* policy = newer_attribute(node, "keep_aspect_ratio_policy");
    const bool stretches = policy == nullptr || policy->s() == "stretch";
    return stretches ? std::vector<const char*>{"antialias", "keep_aspect_ratio_policy"} : std::vector<const char*>{};
  }
  if (type == "AveragePool") {
    const auto* dilations = newer_attribute(node, "dilations");
    if (dilations != nullptr && std::ranges::all_of(dilations->ints(), [](std::int64_t size) { return size == 1; }))
      return {"dilations"};
  }
  return {};
}

// Types whose first output has type and shape of the first input.
const std::unordered_set<std::string_view> newer_like_input = {"Gelu",
                                                               "Mish",
                                                               "Swish",
                                                               "GroupNormalization",
                                                               "RMSNormalization",
                                                               "RotaryEmbedding",
                                                               "BitwiseNot",
                                                               "FastGelu",
                                                               "BiasGelu",
                                                               "QuickGelu",
                                                               "SkipLayerNormalization",
                                                               "SimplifiedLayerNormalization",
                                                               "SkipSimplifiedLayerNormalization"};

std::optional<std::int64_t> known_size(const onnx::TensorShapeProto& shape, int axis) {
  if (axis < 0 || axis >= shape.dim_size() || !shape.dim(axis).has_dim_value()) return std::nullopt;
  return static_cast<std::int64_t>(shape.dim(axis).dim_value());
}

// The parts are of equal size, the last one may be smaller.
void complete_split(const onnx::NodeProto& node, OnnxScope& scope) {
  const auto* shape = shape_in(scope, node.input(0));
  const auto* count = newer_attribute(node, "num_outputs");
  const auto* given = newer_attribute(node, "axis");
  if (shape == nullptr || count == nullptr || node.output_size() < 1) return;
  const auto axis = front_axis(given == nullptr ? 0 : given->i(), static_cast<std::size_t>(shape->dim_size()));
  const auto size = axis ? known_size(*shape, static_cast<int>(*axis)) : std::nullopt;
  if (!size) return;
  const std::int64_t length = *size / node.output_size() + (*size % node.output_size() != 0 ? 1 : 0);
  const onnx::TypeProto input = *scope.types.at(node.input(0));
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    onnx::TypeProto& type = scope.type(node.output(i));
    if (type.tensor_type().has_shape() && type.tensor_type().shape().dim_size() != shape->dim_size()) continue;
    type = input;
    type.mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(static_cast<int>(*axis))
        ->set_dim_value(std::clamp<std::int64_t>(*size - i * length, 0, length));
  }
}

// A target of which only some sizes are known gives the rank and these sizes; libonnx gives nothing.
void take_known_part_of_target(const onnx::NodeProto& node, OnnxScope& scope) {
  if (node.input_size() < 2 || shape_in(scope, node.output(0)) != nullptr) return;
  const auto target = scope.values.find(node.input(1));
  if (target == scope.values.end()) return;
  onnx::TypeProto& type = scope.type(node.output(0));
  if (type.value_case() != onnx::TypeProto::VALUE_NOT_SET && !type.has_tensor_type()) return;
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  for (const auto& size : target->second.dim()) {
    auto& dimension = *shape.add_dim();
    if (size.has_dim_value() && size.dim_value() > 0) dimension.set_dim_value(size.dim_value());
  }
}

// If all sizes but one are known, that one follows from the number of elements.
void complete_reshape(const onnx::NodeProto& node, OnnxScope& scope) {
  if (node.output_size() > 0 && !node.output(0).empty()) take_known_part_of_target(node, scope);
  const auto* from = shape_in(scope, node.input(0));
  if (from == nullptr || node.output_size() < 1 || shape_in(scope, node.output(0)) == nullptr) return;
  auto& to = *scope.type(node.output(0)).mutable_tensor_type()->mutable_shape();
  Shape input = Shape::scalar(), known = Shape::scalar();
  int open = -1;
  for (int i = 0; i < from->dim_size(); ++i) input.dims.push_back(known_size(*from, i).value_or(-1));
  for (int i = 0; i < to.dim_size(); ++i) {
    if (const auto size = known_size(to, i)) {
      known.dims.push_back(*size);
    } else {
      if (open >= 0) return;
      open = i;
    }
  }
  const auto elements = input.elements(), product = known.elements();
  if (open >= 0 && elements && product && *product > 0 && *elements % *product == 0)
    to.mutable_dim(open)->set_dim_value(*elements / *product);
}

}  // namespace

namespace {

// libonnx refuses a Constant with an empty list, which is a vector without elements.
std::optional<onnx::NodeProto> with_empty_tensor(const onnx::NodeProto& node) {
  if (node.op_type() != "Constant" || node.attribute_size() != 1) return std::nullopt;
  const onnx::AttributeProto& list = node.attribute(0);
  const bool wholes = list.name() == "value_ints" && list.ints().empty();
  const bool reals = list.name() == "value_floats" && list.floats().empty();
  if (!wholes && !reals) return std::nullopt;
  onnx::NodeProto other = node;
  other.clear_attribute();
  auto& value = *other.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(wholes ? onnx::TensorProto::INT64 : onnx::TensorProto::FLOAT);
  value.mutable_t()->add_dims(0);
  return other;
}

// The result has the queries' shape but for the values' width.
void infer_attention(const onnx::NodeProto& node, OnnxScope& scope) {
  if (node.input_size() < 3 || node.output_size() < 1 || node.output(0).empty()) return;
  const auto *query = shape_in(scope, node.input(0)), *value = shape_in(scope, node.input(2));
  if (query == nullptr || value == nullptr || query->dim_size() != value->dim_size()) return;
  if (shape_in(scope, node.output(0)) != nullptr) return;
  const int last = query->dim_size() - 1;
  auto width = known_size(*value, last);
  if (width && last == 2) {  // the heads are side by side
    const auto *queries = newer_attribute(node, "q_num_heads"), *values = newer_attribute(node, "kv_num_heads");
    if (queries == nullptr || values == nullptr || values->i() < 1 || *width > total_limit / (1 << 20) ||
        queries->i() < 1 || queries->i() > 1 << 20)
      return;
    width = *width / values->i() * queries->i();
  }
  const onnx::TypeProto type = *scope.types.at(node.input(0));
  onnx::TypeProto& output = scope.type(node.output(0));
  output = type;
  auto& dim = *output.mutable_tensor_type()->mutable_shape()->mutable_dim(last);
  dim.Clear();
  if (width) dim.set_dim_value(*width);
}

}  // namespace

std::optional<onnx::NodeProto> older_form(const onnx::NodeProto& node, OnnxScope& scope, OnnxFolder& folder) {
  if (auto constant = with_empty_tensor(node)) return constant;
  constexpr int newest_of_libonnx = 17;
  const auto opset = scope.opsets.find("");
  if (opset == scope.opsets.end() || opset->second <= newest_of_libonnx) return std::nullopt;
  const std::vector<const char*> without_effect = attributes_without_effect(node);
  if (without_effect.empty() && !is_newer_reduction(node) && node.op_type() != "Pad") return std::nullopt;
  onnx::NodeProto older = node;
  bool changed = false;
  for (const char* name : without_effect) {
    changed = changed || newer_attribute(node, name) != nullptr;
    drop_attribute(older, name);
  }
  if (is_newer_reduction(node)) changed = move_axes_to_attribute(older, scope, folder) || changed;
  if (node.op_type() == "Pad" && node.input_size() == 4 && node.output_size() == 1)
    changed = spread_pads(older, scope, folder) || changed;
  return changed ? std::optional(std::move(older)) : std::nullopt;
}

void infer_newer_op(const onnx::NodeProto& node, OnnxScope& scope) {
  if (node.op_type() == "Attention") return infer_attention(node, scope);
  if (!newer_like_input.contains(node.op_type()) || node.input_size() < 1 || node.output_size() < 1) return;
  const auto input = scope.types.find(node.input(0));
  if (input == scope.types.end() || node.output(0).empty()) return;
  const onnx::TypeProto type = *input->second;
  if (onnx::TypeProto& output = scope.type(node.output(0)); !output.tensor_type().has_shape()) output = type;
}

void complete_sizes(const onnx::NodeProto& node, OnnxScope& scope) {
  if (node.input_size() < 1) return;
  if (node.op_type() == "Split") complete_split(node, scope);
  if (node.op_type() == "Reshape") complete_reshape(node, scope);
}

}  // namespace emplace::formats
