// Nodes that inference sees in another form: Reshape with a target for the given sizes, and ops of newer opsets.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/onnx/inference.hpp"
#include "formats/onnx/newer_ops.hpp"
#include "formats/onnx/types.hpp"

namespace emplace::formats {

namespace {

bool is_reshape(const onnx::NodeProto& node) { return node.op_type() == "Reshape" && node.input_size() == 2; }

bool zero_is_size(const onnx::NodeProto& node) {
  const auto zero = std::ranges::find(node.attribute(), "allowzero", &onnx::AttributeProto::name);
  return zero != node.attribute().end() && zero->i() != 0;
}

}  // namespace

// The node as libonnx should see it, if that is not as it is.
std::optional<onnx::NodeProto> OnnxInference::used_form(const onnx::NodeProto& node, OnnxScope& scope, int depth) {
  if (depth == 0 && given_.any && is_reshape(node)) return with_fitted_target(node, scope);
  return older_form(node, scope, folder_);
}

namespace {

// The target of a Reshape with the input's sizes for zeros; nullopt if it is not known as a whole.
std::optional<std::vector<std::int64_t>> stated_target(const FoldedTensor& target, const Shape& input,
                                                       bool zero_is_size) {
  if (target.is_real() || !target.is_known() || target.elements.size() > 64) return std::nullopt;
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < target.elements.size(); ++i) {
    const std::int64_t size = target.elements[i].whole;
    sizes.push_back(size == 0 && !zero_is_size && i < input.dims.size() ? input.dims[i] : size);
  }
  return sizes;
}

// The target with its open size; nullopt if the open size does not follow from the elements.
std::optional<std::vector<std::int64_t>> closed_target(const Shape& input, std::vector<std::int64_t> target) {
  Shape stated = Shape::scalar();
  std::int64_t* open = nullptr;
  for (std::int64_t& size : target)
    if (size == -1 && open == nullptr)
      open = &size;
    else
      stated.dims.push_back(size);
  const auto elements = input.elements(), product = stated.elements();
  if (!elements || !product || *product == 0) return std::nullopt;
  if (open != nullptr) {
    if (*elements % *product != 0) return std::nullopt;
    *open = *elements / *product;
  } else if (*elements != *product) {
    return std::nullopt;
  }
  return target;
}

std::string in_words(const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> words;
  for (const std::int64_t size : sizes) words.push_back(fmt::format("{}", size));
  return join(words, "x");
}

}  // namespace

// The Reshape as it was exported, if all its sizes are known.
std::optional<ExportedReshape> OnnxInference::as_exported(const onnx::NodeProto& node, OnnxScope& scope) {
  const auto type = scope.types.find(node.input(0));
  const OnnxValue target = folder_.value(scope, node.input(1));
  if (type == scope.types.end() || target == nullptr) return std::nullopt;
  const Shape input = type_and_shape(*type->second, file_, node.input(0)).shape;
  const auto stated = input.is_static() ? stated_target(*target, input, zero_is_size(node)) : std::nullopt;
  const auto output = stated ? closed_target(input, *stated) : std::nullopt;
  if (!output || input.elements() == 0) return std::nullopt;
  ExportedReshape exported{input.dims, *output, {}};
  for (const FoldedElement& size : target->elements) exported.target.push_back(size.whole);
  return exported;
}

ExportedReshapes OnnxInference::exported_reshapes(const onnx::GraphProto& graph) {
  ExportedReshapes reshapes;
  for (const onnx::NodeProto& node : graph.node())
    if (is_reshape(node))
      if (auto exported = as_exported(node, main)) reshapes.emplace(node.output(0), *std::move(exported));
  return reshapes;
}

// The output's sizes where it is known how the node was exported; nullopt if it is not, or if the target follows from
// the given sizes.
std::optional<std::vector<std::int64_t>> OnnxInference::grown(const onnx::NodeProto& node, const FoldedTensor& target,
                                                              const Shape& input) const {
  const auto found = given_.exported.find(node.output(0));
  if (found == given_.exported.end() || found->second.input.size() != input.dims.size()) return std::nullopt;
  const ExportedReshape& exported = found->second;
  if (!std::ranges::equal(exported.target, target.elements, {}, {}, &FoldedElement::whole)) return std::nullopt;
  if (exported.input == input.dims) return std::nullopt;
  auto sizes = grown_target(exported, input.dims, given_.replaced);
  if (!sizes)
    throw InputError(file_,
                     "node {}: its target {} was exported for an input of {}, which is now {}; to what the new sizes "
                     "belong does not follow, so export the model again, with these sizes or with open ones",
                     describe(node), in_words(exported.target), in_words(exported.input), in_words(input.dims));
  return sizes;
}

std::optional<onnx::NodeProto> OnnxInference::with_fitted_target(const onnx::NodeProto& node, OnnxScope& scope) {
  const auto type = scope.types.find(node.input(0));
  const OnnxValue target = folder_.value(scope, node.input(1));
  if (type == scope.types.end() || target == nullptr) return std::nullopt;
  const Shape input = type_and_shape(*type->second, file_, node.input(0)).shape;
  if (!input.is_static()) return std::nullopt;
  const auto stated = stated_target(*target, input, zero_is_size(node));
  if (!stated) return std::nullopt;
  auto fitted = grown(node, *target, input);
  if (!fitted) fitted = fitted_target(input, *stated, given_.replaced);
  if (!fitted || fitted == closed_target(input, *stated)) return std::nullopt;
  if (rewritten_count_++ == 0)
    first_rewritten_ = fmt::format("{}: {} is now {}", describe(node), in_words(*stated), in_words(*fitted));
  FoldedTensor value{onnx::TensorProto::INT64, {static_cast<std::int64_t>(fitted->size())}, {}};
  for (const std::int64_t size : *fitted) value.elements.push_back(FoldedElement::of_whole(size));
  onnx::NodeProto copy = node;
  copy.set_input(1, node.output(0) + "\x01target");
  folder_.publish(scope, copy.input(1), std::make_shared<const FoldedTensor>(std::move(value)));
  return copy;
}

std::string OnnxInference::rewritten() const {
  if (rewritten_count_ == 0) return {};
  return fmt::format("{} Reshape node{}; the first is {}", rewritten_count_, rewritten_count_ == 1 ? "" : "s",
                     first_rewritten_);
}

}  // namespace emplace::formats
