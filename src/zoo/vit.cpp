// ViT-B/16 (Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", table 1): patches of 16 x 16, 12 layers of width
// 768 with 12 heads. torchvision's vit_b_16 has 86,567,656 parameters and 17.56 GMACs at 224 x 224.
#include <fmt/core.h>

#include "zoo/models.hpp"
#include "zoo/transformer.hpp"

namespace emplace::zoo {

namespace {

struct VitOptions {
  std::int64_t batch = 32;
  std::int64_t image = 224;
  std::int64_t classes = 1000;
  std::int64_t layers = 12;
  std::int64_t hidden = 768;
  StepOptions step;
};

constexpr std::int64_t patch = 16;

void describe(VitOptions& o, OptionVisitor& visit) {
  visit("batch", o.batch, {.min = 1, .max = 65536, .unit = "images", .help = "Images in a step."});
  visit("image", o.image,
        {.min = 16,
         .max = 8192,
         .unit = "pixels",
         .help = "Height and width of an image; pixels beyond the last whole patch are cut."});
  visit("classes", o.classes, {.min = 2, .max = 1000000, .help = "Outputs of the classifier."});
  visit("layers", o.layers, {.min = 1, .max = 1024, .help = "Transformer layers."});
  visit("hidden", o.hidden, {.min = 1, .max = 65536, .unit = "units", .help = "Width of the layers."});
  describe(o.step, visit);
}

// Embeds patches as rows, puts the class token before them and adds learnt positions.
Operand embed(ModelBuilder& model, const VitOptions& o) {
  model.set_layer("embedding");
  const auto cell = model.cell("embedding");
  const std::int64_t side = o.image / patch, patches = side * side;
  const Operand image = model.input("image", {o.batch, 3, o.image, o.image});
  const Operand bias = model.parameter("embedding/patches/bias", {o.hidden, 1, 1});
  const Operand grid = model.elementwise(
      "embedding/patches/add", "Add", {conv(model, "embedding/patches", image, o.hidden, {patch, patch, patch}), bias});
  const Operand columns = model.op("embedding/flat", "Reshape", {grid}, {o.batch, o.hidden, patches});
  const Operand rows = model.op("embedding/rows", "Transpose", {columns}, {o.batch, patches, o.hidden},
                                {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
  const Operand token = model.parameter("embedding/class_token", {1, 1, o.hidden});
  const Operand tokens = model.op("embedding/class_tokens", "Expand", {token}, {o.batch, 1, o.hidden});
  const Operand all = model.concat("embedding/concat", {tokens, rows}, 1);
  return model.elementwise("embedding/add", "Add",
                           {all, model.parameter("embedding/positions", {1, patches + 1, o.hidden})});
}

Graph build(const VitOptions& o) {
  ModelBuilder model("vit-b-16");
  const TransformerBlock block{.heads = heads_of(o.hidden),
                               .inner = 4 * o.hidden,
                               .norm_first = true,
                               .mask = Operand::none(),
                               .scale = model.input("attention_scale", Shape::scalar())};
  Operand x = embed(model, o);
  for (std::int64_t layer = 0; layer < o.layers; ++layer) {
    const std::string name = fmt::format("encoder/{}", layer);
    model.set_layer(name);
    x = transformer_layer(model, name, x, block);
  }
  model.set_layer("classifier");
  {
    const auto cell = model.cell("classifier");
    x = layer_norm(model, "classifier/norm", x);
    const Operand first = model.op("classifier/first", "Slice", {x}, {o.batch, 1, o.hidden});
    const Operand row = model.op("classifier/row", "Reshape", {first}, {o.batch, o.hidden});
    softmax_or_loss(model, "softmax", dense(model, "logits", row, o.classes), "labels", o.step.training);
  }
  return finish(model, o.step);
}

}  // namespace

ZooEntry vit_b_16_entry() {
  ZooEntry entry;
  entry.name = "vit-b-16";
  entry.summary = "Vision transformer for ImageNet with patches of 16 x 16.";
  entry.reference = "Dosovitskiy et al. 2021";
  entry.options = list_options<VitOptions>;
  entry.expert = expert_in_parts;
  entry.build = [](const ConfigTable& table) { return build(read_options<VitOptions>(table)); };
  return entry;
}

}  // namespace emplace::zoo
