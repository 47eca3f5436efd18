// Layers that several models share.
#include <fmt/core.h>

#include <algorithm>

#include "emplace/base/error.hpp"
#include "zoo/model_builder.hpp"

namespace emplace::zoo {

namespace {

std::int64_t stride_of(const Window& window, bool width) {
  return width && window.stride_width != 0 ? window.stride_width : window.stride;
}

// The extent of a window along an axis, and the padding before and after the image.
struct Span {
  std::int64_t reach, before, after;
};

Span span(const Window& window, std::int64_t size, bool width) {
  const std::int64_t kernel = width ? window.width : window.height, stride = stride_of(window, width);
  const std::int64_t reach = (kernel - 1) * window.dilation + 1;
  if (window.padding == Padding::causal) return {reach, reach - 1, 0};
  if (window.padding == Padding::same) {
    const std::int64_t outputs = (size + stride - 1) / stride;
    const std::int64_t missing = std::max<std::int64_t>((outputs - 1) * stride + reach - size, 0);
    return {reach, missing / 2, missing - missing / 2};
  }
  const std::int64_t pad = width ? window.pad_width : window.pad_height;
  return {reach, pad, pad};
}

Attributes attributes_of(const Window& window, const Shape& image) {
  const Span y = span(window, image.dims[2], false), x = span(window, image.dims[3], true);
  Attributes attributes{{"kernel_shape", std::vector<std::int64_t>{window.height, window.width}},
                        {"strides", std::vector<std::int64_t>{stride_of(window, false), stride_of(window, true)}},
                        {"pads", std::vector<std::int64_t>{y.before, x.before, y.after, x.after}}};
  if (window.dilation != 1) attributes["dilations"] = std::vector<std::int64_t>{window.dilation, window.dilation};
  return attributes;
}

Shape slide(const Shape& image, std::int64_t channels, const Window& window) {
  const auto along = [&](std::int64_t size, bool width) {
    const Span s = span(window, size, width);
    return (size + s.before + s.after - s.reach) / stride_of(window, width) + 1;
  };
  const std::int64_t height = along(image.dims[2], false), width = along(image.dims[3], true);
  EMPLACE_CHECK(height > 0 && width > 0, "window {}x{} on an image of {}", window.height, window.width, image.str());
  return {image.dims[0], channels, height, width};
}

}  // namespace

Window same(std::int64_t size, std::int64_t stride) {
  return {.height = size, .width = size, .stride = stride, .padding = Padding::same};
}

Operand conv(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t channels,
             const Window& window) {
  const Operand weight = model.parameter(name + "/weight", {channels, model.dim(x, 1), window.height, window.width});
  const Shape& image = model.shape(x);
  return model.op(name, "Conv", {x, weight}, slide(image, channels, window), attributes_of(window, image));
}

Operand depthwise_conv(ModelBuilder& model, const std::string& name, const Operand& x, const Window& window) {
  const std::int64_t channels = model.dim(x, 1);
  const Operand weight = model.parameter(name + "/weight", {channels, 1, window.height, window.width});
  Attributes attributes = attributes_of(window, model.shape(x));
  attributes["group"] = channels;
  return model.op(name, "Conv", {x, weight}, slide(model.shape(x), channels, window), std::move(attributes));
}

Operand conv_bn_relu(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t channels,
                     const Window& window, bool fused) {
  const auto cell = model.cell(name);
  const Operand y = batch_norm(model, name + "/bn", conv(model, name + "/conv", x, channels, window), fused);
  return model.elementwise(name + "/relu", "Relu", {y});
}

Operand batch_norm(ModelBuilder& model, const std::string& name, const Operand& x, bool fused) {
  const std::int64_t channels = model.dim(x, 1);
  const Operand scale = model.parameter(name + "/scale", {channels});
  const Operand bias = model.parameter(name + "/bias", {channels});
  const Operand mean = model.parameter(name + "/mean", {channels}, false);
  const Operand variance = model.parameter(name + "/variance", {channels}, false);
  Shape shape = model.shape(x);
  return model.op(name, "BatchNormalization", {x, scale, bias, mean, variance}, std::move(shape),
                  fused ? Attributes{{"fused", std::int64_t{1}}} : Attributes{});
}

Operand pool(ModelBuilder& model, const std::string& name, const std::string& type, const Operand& x,
             const Window& window) {
  const Shape& image = model.shape(x);
  return model.op(name, type, {x}, slide(image, image.dims[1], window), attributes_of(window, image));
}

Operand linear(ModelBuilder& model, const std::string& name, const Operand& x, const Operand& weight,
               const Operand& bias) {
  Shape shape = model.shape(x);
  shape.dims.back() = model.dim(weight, 1);
  const Operand product = model.op(name + "/matmul", "MatMul", {x, weight}, shape);
  return bias.kind == Operand::Kind::none ? product : model.op(name + "/add", "Add", {product, bias}, shape);
}

Operand dense(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t outputs, bool bias) {
  const Operand weight = model.parameter(name + "/weight", {model.shape(x).dims.back(), outputs});
  return linear(model, name, x, weight, bias ? model.parameter(name + "/bias", {outputs}) : Operand::none());
}

Operand dropout(ModelBuilder& model, const std::string& name, const Operand& x, bool training) {
  if (!training) return x;
  return model.op_several(name, "Dropout", {x}, {model.shape(x), model.shape(x)}, {{"training_mode", std::int64_t{1}}})
      .front();
}

Operand global_average(ModelBuilder& model, const std::string& name, const Operand& image) {
  const std::int64_t batch = model.dim(image, 0), channels = model.dim(image, 1);
  const Operand mean = model.op(name, "GlobalAveragePool", {image}, {batch, channels, 1, 1});
  return model.op(name + "/flatten", "Flatten", {mean}, {batch, channels});
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
  const auto cell_of_step = model.cell(name);
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

}  // namespace emplace::zoo
