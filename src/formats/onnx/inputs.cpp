#include "formats/onnx/inputs.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

namespace {

using Dimension = onnx::TensorShapeProto_Dimension;

// Some exporters write the same text for every unknown dimension; such a text is no symbol.
bool is_symbol(const std::string& name) { return !name.empty() && name != "?" && name != "None" && name != "unk"; }

class InputShapes {
 public:
  InputShapes(onnx::GraphProto& graph, const std::string& file) : graph_(graph), file_(file) {
    std::unordered_set<std::string_view> initializers;
    for (const auto& tensor : graph.initializer()) initializers.insert(tensor.name());
    for (auto& input : *graph.mutable_input())
      if (!initializers.contains(input.name())) inputs_.push_back(&input);
  }

  void set_shape(const std::string& name, const std::vector<std::int64_t>& sizes) {
    onnx::ValueInfoProto* input = find(name);
    if (!input->type().has_tensor_type())
      throw InputError(file_, "input {} is no tensor: it has no shape", quote(name));
    onnx::TensorShapeProto& shape = *input->mutable_type()->mutable_tensor_type()->mutable_shape();
    const auto rank = static_cast<std::size_t>(shape.dim_size());
    const bool was_ranked = shape.dim_size() > 0 || sizes.empty();
    if (was_ranked && rank != sizes.size())
      throw InputError(file_, "input {} has {} dimensions, the shape given for it has {}", quote(name), rank,
                       sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] < 1) throw InputError(file_, "the shape given for input {} has size {}", quote(name), sizes[i]);
      set(was_ranked ? *shape.mutable_dim(static_cast<int>(i)) : *shape.add_dim(), sizes[i]);
    }
  }

  void set_batch(std::int64_t batch) {
    if (batch < 1) throw InputError(file_, "the batch size must be at least 1, got {}", batch);
    bool used = false;
    for (onnx::ValueInfoProto* input : inputs_) {
      if (!input->type().has_tensor_type() || input->type().tensor_type().shape().dim_size() == 0) continue;
      Dimension& first = *input->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0);
      if (first.has_dim_value()) continue;
      set(first, batch);
      used = true;
    }
    if (!used && symbols_.empty())
      log_warning("{}: the batch size {} changes nothing: no input has an open first dimension", file_, batch);
  }

  void spread() {
    for (auto& input : *graph_.mutable_input()) spread(input, false);
    for (auto& output : *graph_.mutable_output()) spread(output, !replaced_.empty());
    for (auto& tensor : *graph_.mutable_value_info()) spread(tensor, !replaced_.empty());
  }

  [[nodiscard]] const std::vector<ReplacedSize>& replaced() const { return replaced_; }

 private:
  onnx::ValueInfoProto* find(const std::string& name) {
    std::vector<std::string> names;
    for (onnx::ValueInfoProto* input : inputs_) {
      if (input->name() == name) return input;
      names.push_back(input->name());
    }
    const std::string near = did_you_mean(name, names);
    throw InputError(file_, "the model has no input {}{}", quote(name),
                     near.empty() ? "; there are: " + join(names, ", ") : near);
  }

  void set(Dimension& dimension, std::int64_t size) {
    if (dimension.has_dim_value()) {
      const ReplacedSize pair(dimension.dim_value(), size);
      if (pair.first != size && std::ranges::find(replaced_, pair) == replaced_.end()) replaced_.push_back(pair);
    } else if (is_symbol(dimension.dim_param())) {
      const auto [at, is_new] = symbols_.emplace(dimension.dim_param(), size);
      if (!is_new && at->second != size)
        throw InputError(file_, "the dimension {} would be {} and {}", quote(dimension.dim_param()), at->second, size);
    }
    dimension.set_dim_value(size);
  }

  void spread(onnx::ValueInfoProto& value, bool drop_shape) {
    if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return;
    if (drop_shape) {
      value.mutable_type()->mutable_tensor_type()->clear_shape();
      return;
    }
    for (auto& dimension : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
      if (dimension.has_dim_param())
        if (const auto symbol = symbols_.find(dimension.dim_param()); symbol != symbols_.end())
          dimension.set_dim_value(symbol->second);
      if (dimension.has_dim_value() && dimension.dim_value() < 0)
        throw InputError(file_, "tensor {} has a dimension of negative size {}", quote(value.name()),
                         dimension.dim_value());
    }
  }

  onnx::GraphProto& graph_;
  const std::string& file_;
  std::vector<onnx::ValueInfoProto*> inputs_;
  std::unordered_map<std::string, std::int64_t> symbols_;
  std::vector<ReplacedSize> replaced_;
};

}  // namespace

std::vector<ReplacedSize> fix_input_shapes(onnx::GraphProto& graph, const ReadOptions& options,
                                           const std::string& file) {
  InputShapes shapes(graph, file);
  for (const auto& [name, sizes] : options.shapes) shapes.set_shape(name, sizes);
  if (options.batch) shapes.set_batch(*options.batch);
  shapes.spread();
  return shapes.replaced();
}

}  // namespace emplace::formats
