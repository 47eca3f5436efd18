#include "formats/onnx/inner_sizes.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/onnx/inference.hpp"
#include "formats/onnx/size_checks.hpp"

namespace emplace::formats {

namespace {

std::int64_t whole_attribute(const onnx::NodeProto& node, std::string_view name, std::int64_t fallback) {
  const auto found = std::ranges::find(node.attribute(), name, &onnx::AttributeProto::name);
  return found == node.attribute().end() ? fallback : found->i();
}

// Two operands of a node, as far as their shapes are known.
struct Operands {
  Operands(const onnx::NodeProto& node, const OnnxScope& scope, int second) {
    if (node.input_size() <= second) return;
    left_name = node.input(0);
    right_name = node.input(second);
    left = shape_known(scope, left_name);
    right = shape_known(scope, right_name);
  }
  [[nodiscard]] bool are_ranked() const { return left.ranked && right.ranked; }

  std::string left_name, right_name;
  Shape left, right;
};

void check_inner(const onnx::NodeProto& node, const Operands& of, std::int64_t columns, std::int64_t rows,
                 const std::string& file) {
  if (columns >= 0 && rows >= 0 && columns != rows)
    throw InputError(file, "node {}: its input {} of shape {} has {} columns, its input {} of shape {} has {} rows{}",
                     describe(node), quote(of.left_name), of.left.str(), columns, quote(of.right_name), of.right.str(),
                     rows, node.op_type() == "Gemm" ? " (after transA and transB)" : "");
}

// NumPy's matmul: the last dimension of A and the last but one of B, or the only one; those before are batches.
void check_matmul(const onnx::NodeProto& node, const OnnxScope& scope, int second, const std::string& file) {
  const Operands of(node, scope, second);
  if (!of.are_ranked() || of.left.dims.empty() || of.right.dims.empty()) return;
  const auto &a = of.left.dims, &b = of.right.dims;
  check_inner(node, of, a.back(), b[b.size() < 2 ? 0 : b.size() - 2], file);
  for (std::size_t i = 3; i <= std::min(a.size(), b.size()); ++i) {
    const std::int64_t left = a[a.size() - i], right = b[b.size() - i];
    if (left > 1 && right > 1 && left != right)
      throw InputError(file, "node {}: its inputs {} of shape {} and {} of shape {} are batches of {} and {} matrices",
                       describe(node), quote(of.left_name), of.left.str(), quote(of.right_name), of.right.str(), left,
                       right);
  }
}

void check_gemm(const onnx::NodeProto& node, const OnnxScope& scope, const std::string& file) {
  const Operands of(node, scope, 1);
  if (!of.are_ranked() || of.left.dims.size() != 2 || of.right.dims.size() != 2) return;
  check_inner(node, of, of.left.dims[whole_attribute(node, "transA", 0) != 0 ? 0 : 1],
              of.right.dims[whole_attribute(node, "transB", 0) != 0 ? 1 : 0], file);
}

// Weights are outputs x inputs of a group x kernel; those of a transposed convolution are inputs x outputs of a group.
void check_channels(const onnx::NodeProto& node, const OnnxScope& scope, int second, const std::string& file) {
  const Operands of(node, scope, second);
  if (!of.are_ranked() || of.left.dims.size() < 3 || of.right.dims.size() != of.left.dims.size()) return;
  const std::int64_t channels = of.left.dims[1], group = whole_attribute(node, "group", 1);
  const bool transposed = node.op_type() == "ConvTranspose";
  const std::int64_t each = of.right.dims[transposed ? 0 : 1];
  if (channels < 0 || each < 0) return;
  const bool fits = transposed ? channels == each : channels % group == 0 && channels / group == each;
  if (!fits)
    throw InputError(file, "node {}: its input {} of shape {} has {} channels, its weights {} of shape {}{} are for {}",
                     describe(node), quote(of.left_name), of.left.str(), channels, quote(of.right_name), of.right.str(),
                     transposed || group == 1 ? std::string() : fmt::format(" with {} groups", group),
                     transposed || group == 1 ? fmt::format("{}", each) : fmt::format("{} in each group", each));
}

// X is time x batch x features, or batch x time x features; W is directions x gates x features.
void check_features(const onnx::NodeProto& node, const OnnxScope& scope, const std::string& file) {
  const Operands of(node, scope, 1);
  if (!of.are_ranked() || of.left.dims.size() != 3 || of.right.dims.size() != 3) return;
  if (of.left.dims[2] >= 0 && of.right.dims[2] >= 0 && of.left.dims[2] != of.right.dims[2])
    throw InputError(file, "node {}: its input {} of shape {} has {} features, its weights {} of shape {} are for {}",
                     describe(node), quote(of.left_name), of.left.str(), of.left.dims[2], quote(of.right_name),
                     of.right.str(), of.right.dims[2]);
}

}  // namespace

void check_inner_sizes(const onnx::NodeProto& node, const OnnxScope& scope, const std::string& file) {
  // The input that is the second operand.
  static const std::unordered_map<std::string_view, int> products = {
      {"MatMul", 1}, {"MatMulInteger", 1}, {"QLinearMatMul", 3}};
  static const std::unordered_map<std::string_view, int> convolutions = {
      {"Conv", 1}, {"ConvTranspose", 1}, {"ConvInteger", 1}, {"QLinearConv", 3}, {"DeformConv", 1}};
  const std::string& type = node.op_type();
  if (const auto found = products.find(type); found != products.end()) check_matmul(node, scope, found->second, file);
  if (const auto found = convolutions.find(type); found != convolutions.end())
    check_channels(node, scope, found->second, file);
  if (type == "Gemm") check_gemm(node, scope, file);
  if (type == "LSTM" || type == "GRU" || type == "RNN") check_features(node, scope, file);
}

}  // namespace emplace::formats
