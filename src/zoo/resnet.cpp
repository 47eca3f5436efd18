// ResNet-50, -101 and -152 (He et al. 2016, "Deep Residual Learning for Image Recognition", table 1), with the stride
// in the 3 x 3 convolution of a bottleneck as in the released models of torchvision ("v1.5"), whose figures are
// 25,557,032, 44,549,160 and 60,192,808 parameters and 4.09, 7.80 and 11.51 GMACs at 224 x 224 (its documentation of
// the weights). It is the ImageNet benchmark of the Hierarchical Planner (ResNet-152) and of Post (batch 32).
#include <fmt/core.h>

#include <array>

#include "zoo/model_builder.hpp"
#include "zoo/models.hpp"

namespace emplace::zoo {

namespace {

struct ResnetOptions : ImageOptions {
  StepOptions step;
};

void describe(ResnetOptions& o, OptionVisitor& visit) {
  describe_images(o, visit, 32);
  describe(o.step, visit);
}

using Blocks = std::array<int, 4>;  // bottlenecks in each stage

Operand conv_bn(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t channels,
                const Window& window) {
  const auto cell = model.cell(name);
  return batch_norm(model, name + "/bn", conv(model, name + "/conv", x, channels, window));
}

// Convolutions of 1 x 1, 3 x 3, and 1 x 1 with four times the channels, and the shortcut (figure 5, right).
Operand bottleneck(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t channels,
                   std::int64_t stride) {
  model.set_layer(name);
  Operand y = conv_bn_relu(model, name + "/1", x, channels, {});
  y = conv_bn_relu(model, name + "/2", y, channels, {3, 3, stride, 1, 1});
  y = conv_bn(model, name + "/3", y, 4 * channels, {});
  const bool projected = stride != 1 || model.dim(x, 1) != 4 * channels;
  const Operand shortcut = projected ? conv_bn(model, name + "/shortcut", x, 4 * channels, {1, 1, stride}) : x;
  const auto cell = model.cell(name + "/add");
  const Operand sum = model.elementwise(name + "/add", "Add", {y, shortcut});
  return model.elementwise(name + "/relu", "Relu", {sum});
}

Graph build(const std::string& name, const Blocks& blocks, const ResnetOptions& o) {
  ModelBuilder model(name);
  Operand x = model.input("image", {o.batch, 3, o.image, o.image});
  model.set_layer("stem");
  x = conv_bn_relu(model, "stem", x, 64, {7, 7, 2, 3, 3});
  x = pool(model, "stem/pool", "MaxPool", x, {3, 3, 2, 1, 1});
  for (std::size_t stage = 0; stage < blocks.size(); ++stage)
    for (int block = 0; block < blocks[stage]; ++block)
      x = bottleneck(model, fmt::format("stage{}/block{}", stage + 1, block + 1), x, std::int64_t{64} << stage,
                     stage > 0 && block == 0 ? 2 : 1);
  model.set_layer("classifier");
  {
    const auto cell = model.cell("classifier");
    const Operand features = global_average(model, "pool", x);
    softmax_or_loss(model, "softmax", dense(model, "logits", features, o.classes), "labels", o.step.training);
  }
  return finish(model, o.step);
}

ZooEntry entry(const std::string& name, const Blocks& blocks) {
  ZooEntry entry;
  entry.name = name;
  entry.summary = fmt::format("Residual network of {} layers for ImageNet.", name.substr(name.find('-') + 1));
  entry.reference = "He et al. 2016";
  entry.options = list_options<ResnetOptions>;
  entry.expert = expert_in_parts;
  entry.build = [name, blocks](const ConfigTable& table) {
    return build(name, blocks, read_options<ResnetOptions>(table));
  };
  return entry;
}

}  // namespace

ZooEntry resnet_50_entry() { return entry("resnet-50", {3, 4, 6, 3}); }
ZooEntry resnet_101_entry() { return entry("resnet-101", {3, 4, 23, 3}); }
ZooEntry resnet_152_entry() { return entry("resnet-152", {3, 8, 36, 3}); }

}  // namespace emplace::zoo
