// Nodes that inference sees in another form: Reshape with a target for the given sizes, and ops of newer opsets.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "formats/onnx/inference.hpp"
#include "formats/onnx/newer_ops.hpp"
#include "formats/onnx/types.hpp"

namespace emplace::formats {

// The node as libonnx should see it, if that is not as it is.
std::optional<onnx::NodeProto> OnnxInference::used_form(const onnx::NodeProto& node, OnnxScope& scope, int depth) {
  if (depth == 0 && given_.any && node.op_type() == "Reshape" && node.input_size() == 2)
    return with_fitted_target(node, scope);
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

// (1, -1, 768) for an input of 8 x 128 x 768 whose batch was 1: the open size stays what it was with (8, -1, 768).
std::optional<std::vector<std::int64_t>> with_batch_before_open_size(const Shape& input,
                                                                     std::vector<std::int64_t> target,
                                                                     const std::vector<ReplacedSize>& replaced) {
  if (target.size() < 3 || input.dims.size() < 2 || target[1] != -1 ||
      std::ranges::find(replaced, ReplacedSize(target[0], input.dims[0])) == replaced.end())
    return std::nullopt;
  target[0] = input.dims[0];
  target[1] = input.dims[1];
  Shape now = Shape::scalar();
  now.dims = target;
  if (now.elements() != input.elements()) return std::nullopt;
  return target;
}

std::string in_words(const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> words;
  for (const std::int64_t size : sizes) words.push_back(fmt::format("{}", size));
  return join(words, "x");
}

}  // namespace

std::optional<onnx::NodeProto> OnnxInference::with_fitted_target(const onnx::NodeProto& node, OnnxScope& scope) {
  const auto type = scope.types.find(node.input(0));
  const OnnxValue target = folder_.value(scope, node.input(1));
  if (type == scope.types.end() || target == nullptr) return std::nullopt;
  const Shape input = type_and_shape(*type->second, file_, node.input(0)).shape;
  const auto zero = std::ranges::find(node.attribute(), "allowzero", &onnx::AttributeProto::name);
  const bool zero_is_size = zero != node.attribute().end() && zero->i() != 0;
  if (!input.is_static()) return std::nullopt;
  const auto stated = stated_target(*target, input, zero_is_size);
  if (!stated) return std::nullopt;
  auto fitted = with_batch_before_open_size(input, *stated, given_.replaced);
  if (!fitted) fitted = fitted_target(input, *stated, given_.replaced);
  if (!fitted) return std::nullopt;
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
