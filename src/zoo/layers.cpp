// Layers that several models share.
#include <fmt/core.h>

#include "emplace/base/error.hpp"
#include "model_builder.hpp"

namespace emplace {

namespace {

Attributes attributes_of(const Window& window) {
  return {
      {"kernel_shape", std::vector<std::int64_t>{window.height, window.width}},
      {"strides", std::vector<std::int64_t>{window.stride, window.stride}},
      {"pads", std::vector<std::int64_t>{window.pad_height, window.pad_width, window.pad_height, window.pad_width}}};
}

Shape slide(const Shape& image, std::int64_t channels, const Window& window) {
  const std::int64_t height = (image.dims[2] + 2 * window.pad_height - window.height) / window.stride + 1;
  const std::int64_t width = (image.dims[3] + 2 * window.pad_width - window.width) / window.stride + 1;
  EMPLACE_CHECK(height > 0 && width > 0, "window {}x{} on an image of {}", window.height, window.width, image.str());
  return {image.dims[0], channels, height, width};
}

}  // namespace

Operand conv(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t channels,
             const Window& window) {
  const Operand weight = model.parameter(name + "/weight", {channels, model.dim(x, 1), window.height, window.width});
  return model.op(name, "Conv", {x, weight}, slide(model.shape(x), channels, window), attributes_of(window));
}

Operand batch_norm(ModelBuilder& model, const std::string& name, const Operand& x) {
  const std::int64_t channels = model.dim(x, 1);
  const Operand scale = model.parameter(name + "/scale", {channels});
  const Operand bias = model.parameter(name + "/bias", {channels});
  const Operand mean = model.parameter(name + "/mean", {channels}, false);
  const Operand variance = model.parameter(name + "/variance", {channels}, false);
  return model.elementwise(name, "BatchNormalization", {x, scale, bias, mean, variance});
}

Operand pool(ModelBuilder& model, const std::string& name, const std::string& type, const Operand& x,
             const Window& window) {
  return model.op(name, type, {x}, slide(model.shape(x), model.dim(x, 1), window), attributes_of(window));
}

Operand linear(ModelBuilder& model, const std::string& name, const Operand& x, const Operand& weight,
               const Operand& bias) {
  Shape shape = model.shape(x);
  shape.dims.back() = model.dim(weight, 1);
  const Operand product = model.op(name + "/matmul", "MatMul", {x, weight}, shape);
  return bias.kind == Operand::Kind::none ? product : model.op(name + "/add", "Add", {product, bias}, shape);
}

Operand softmax_or_loss(ModelBuilder& model, const std::string& name, const Operand& logits, const std::string& labels,
                        bool training) {
  if (!training) return model.elementwise(name, "Softmax", {logits});
  const Operand target = model.input(labels, {model.dim(logits, 0)}, DType::i32);
  return model
      .op_several(name + "/loss", "SoftmaxCrossEntropyLoss", {logits, target}, {Shape::scalar(), model.shape(logits)})
      .front();
}

LstmWeights lstm_weights(ModelBuilder& model, const std::string& name, std::int64_t inputs, std::int64_t hidden) {
  return {model.parameter(name + "/weight", {inputs + hidden, 4 * hidden}),
          model.parameter(name + "/bias", {4 * hidden})};
}

LstmState lstm_cell(ModelBuilder& model, const std::string& name, const LstmWeights& weights, const Operand& x,
                    const LstmState& state) {
  const Operand joined = model.concat(name + "/concat", {x, state.hidden}, 1);
  const Operand gates = linear(model, name, joined, weights.weight, weights.bias);
  const Shape gate = model.shape(state.cell);
  const auto parts =
      model.op_several(name + "/split", "Split", {gates}, {gate, gate, gate, gate}, {{"axis", std::int64_t{1}}});
  const Operand i = model.elementwise(name + "/input_gate", "Sigmoid", {parts[0]});
  const Operand f = model.elementwise(name + "/forget_gate", "Sigmoid", {parts[1]});
  const Operand o = model.elementwise(name + "/output_gate", "Sigmoid", {parts[2]});
  const Operand g = model.elementwise(name + "/candidate", "Tanh", {parts[3]});
  const Operand kept = model.elementwise(name + "/keep", "Mul", {f, state.cell});
  const Operand written = model.elementwise(name + "/write", "Mul", {i, g});
  const Operand cell = model.elementwise(name + "/cell", "Add", {kept, written});
  const Operand squashed = model.elementwise(name + "/squash", "Tanh", {cell});
  return {model.elementwise(name + "/hidden", "Mul", {o, squashed}), cell};
}

}  // namespace emplace
