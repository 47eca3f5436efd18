// Inception-V3 (Szegedy et al. 2016, "Rethinking the Inception Architecture for Computer Vision", table 1 and figures 5
// to 7), with the layer sizes of the released models (TensorFlow slim, torchvision). The auxiliary classifier is left
// out: the published 23.8 M parameters and 5.7 GMACs do not include it.
#include "zoo/model_builder.hpp"
#include "zoo/models.hpp"

namespace emplace::zoo {

namespace {

struct InceptionOptions : ImageOptions {
  InceptionOptions() { image = 299; }
  StepOptions step;
};

void describe(InceptionOptions& o, OptionVisitor& visit) {
  describe_images(o, visit, 75);
  describe(o.step, visit);
}

class InceptionV3 {
 public:
  explicit InceptionV3(const InceptionOptions& options) : options_(options), model_("inception-v3") {}

  Graph build() {
    Operand x = model_.input("image", {options_.batch, 3, options_.image, options_.image});
    x = stem(x);
    x = block_35(x, "Mixed_5b", 32);
    x = block_35(x, "Mixed_5c", 64);
    x = block_35(x, "Mixed_5d", 64);
    x = reduction_to_17(x, "Mixed_6a");
    x = block_17(x, "Mixed_6b", 128);
    x = block_17(x, "Mixed_6c", 160);
    x = block_17(x, "Mixed_6d", 160);
    x = block_17(x, "Mixed_6e", 192);
    x = reduction_to_8(x, "Mixed_7a");
    x = block_8(x, "Mixed_7b");
    x = block_8(x, "Mixed_7c");
    classifier(x);
    return finish(model_, options_.step);
  }

 private:
  Operand unit(const Operand& x, const std::string& name, std::int64_t channels, const Window& window) {
    // In the releases that the placement papers ran, TensorFlow slim used separate ops for the normalisation.
    return conv_bn_relu(model_, name, x, channels, window, false);
  }
  Operand unit(const Operand& x, const std::string& name, std::int64_t channels) {
    return unit(x, name, channels, Window{});
  }
  Operand max_pool(const Operand& x, const std::string& name) { return pool(model_, name, "MaxPool", x, {3, 3, 2}); }
  Operand pooled(const Operand& x, const std::string& name, std::int64_t channels) {
    return unit(pool(model_, name + "/pool", "AveragePool", x, {3, 3, 1, 1, 1}), name + "/pool_1x1", channels);
  }

  Operand stem(Operand x) {
    model_.set_layer("stem");
    x = unit(x, "Conv2d_1a", 32, {3, 3, 2});
    x = unit(x, "Conv2d_2a", 32, {3, 3, 1});
    x = unit(x, "Conv2d_2b", 64, {3, 3, 1, 1, 1});
    x = max_pool(x, "MaxPool_3a");
    x = unit(x, "Conv2d_3b", 80);
    x = unit(x, "Conv2d_4a", 192, {3, 3, 1});
    return max_pool(x, "MaxPool_5a");
  }

  // Figure 5: 35 x 35.
  Operand block_35(const Operand& x, const std::string& name, std::int64_t pool_channels) {
    model_.set_layer(name);
    const Operand a = unit(x, name + "/1x1", 64);
    Operand b = unit(x, name + "/5x5_reduce", 48);
    b = unit(b, name + "/5x5", 64, {5, 5, 1, 2, 2});
    Operand c = unit(x, name + "/double_reduce", 64);
    c = unit(c, name + "/double_3x3_1", 96, {3, 3, 1, 1, 1});
    c = unit(c, name + "/double_3x3_2", 96, {3, 3, 1, 1, 1});
    return model_.concat(name + "/concat", {a, b, c, pooled(x, name, pool_channels)}, 1);
  }

  Operand reduction_to_17(const Operand& x, const std::string& name) {
    model_.set_layer(name);
    const Operand a = unit(x, name + "/3x3", 384, {3, 3, 2});
    Operand b = unit(x, name + "/double_reduce", 64);
    b = unit(b, name + "/double_3x3_1", 96, {3, 3, 1, 1, 1});
    b = unit(b, name + "/double_3x3_2", 96, {3, 3, 2});
    return model_.concat(name + "/concat", {a, b, max_pool(x, name + "/pool")}, 1);
  }

  // Figure 6 with n = 7: 17 x 17.
  Operand block_17(const Operand& x, const std::string& name, std::int64_t inner) {
    model_.set_layer(name);
    const Window row{1, 7, 1, 0, 3}, column{7, 1, 1, 3, 0};
    const Operand a = unit(x, name + "/1x1", 192);
    Operand b = unit(x, name + "/7x7_reduce", inner);
    b = unit(b, name + "/1x7", inner, row);
    b = unit(b, name + "/7x1", 192, column);
    Operand c = unit(x, name + "/double_reduce", inner);
    c = unit(c, name + "/double_7x1_1", inner, column);
    c = unit(c, name + "/double_1x7_1", inner, row);
    c = unit(c, name + "/double_7x1_2", inner, column);
    c = unit(c, name + "/double_1x7_2", 192, row);
    return model_.concat(name + "/concat", {a, b, c, pooled(x, name, 192)}, 1);
  }

  Operand reduction_to_8(const Operand& x, const std::string& name) {
    model_.set_layer(name);
    Operand a = unit(x, name + "/3x3_reduce", 192);
    a = unit(a, name + "/3x3", 320, {3, 3, 2});
    Operand b = unit(x, name + "/7x7_reduce", 192);
    b = unit(b, name + "/1x7", 192, {1, 7, 1, 0, 3});
    b = unit(b, name + "/7x1", 192, {7, 1, 1, 3, 0});
    b = unit(b, name + "/7x7_3x3", 192, {3, 3, 2});
    return model_.concat(name + "/concat", {a, b, max_pool(x, name + "/pool")}, 1);
  }

  // Figure 7: 8 x 8.
  Operand block_8(const Operand& x, const std::string& name) {
    model_.set_layer(name);
    const Window row{1, 3, 1, 0, 1}, column{3, 1, 1, 1, 0};
    const Operand a = unit(x, name + "/1x1", 320);
    const Operand b = unit(x, name + "/3x3_reduce", 384);
    const Operand b_row = unit(b, name + "/1x3", 384, row), b_column = unit(b, name + "/3x1", 384, column);
    Operand c = unit(x, name + "/double_reduce", 448);
    c = unit(c, name + "/double_3x3", 384, {3, 3, 1, 1, 1});
    const Operand c_row = unit(c, name + "/double_1x3", 384, row),
                  c_column = unit(c, name + "/double_3x1", 384, column);
    return model_.concat(name + "/concat", {a, b_row, b_column, c_row, c_column, pooled(x, name, 192)}, 1);
  }

  void classifier(const Operand& image) {
    model_.set_layer("classifier");
    const auto cell = model_.cell("classifier");
    const Operand x = dropout(model_, "dropout", global_average(model_, "pool", image), options_.step.training);
    softmax_or_loss(model_, "softmax", dense(model_, "logits", x, options_.classes), "labels", options_.step.training);
  }

  InceptionOptions options_;
  ModelBuilder model_;
};

}  // namespace

ZooEntry inception_v3_entry() {
  ZooEntry entry;
  entry.name = "inception-v3";
  entry.summary = "Inception-V3 for ImageNet: 94 convolutions with batch normalisation.";
  entry.reference = "Szegedy et al. 2016";
  entry.options = list_options<InceptionOptions>;
  entry.expert = expert_in_parts;
  entry.build = [](const ConfigTable& table) { return InceptionV3(read_options<InceptionOptions>(table)).build(); };
  return entry;
}

}  // namespace emplace::zoo
