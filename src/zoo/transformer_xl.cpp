// Transformer-XL (Dai et al. 2019, sections 3.2 and 3.3, appendix B): segments that attend to the hidden states of the
// previous segment, without a gradient into them, and relative positions. Sizes of the authors' enwik8 model: width
// 512, 8 heads, inner 2048, segment and memory of 512 characters, batch 22; 12 layers have 41 M parameters (table 2).
// GDP places 2, 4 and 8 layers and gives no other size.
#include <fmt/core.h>

#include "zoo/models.hpp"
#include "zoo/transformer.hpp"

namespace emplace::zoo {

namespace {

struct TransformerXlOptions {
  std::int64_t batch = 22;
  std::int64_t layers = 4;
  std::int64_t hidden = 512;
  std::int64_t sequence = 512;
  std::int64_t memory = 512;
  std::int64_t segments = 1;
  std::int64_t vocabulary = 204;
  StepOptions step;
};

void describe(TransformerXlOptions& o, OptionVisitor& visit) {
  visit("batch", o.batch, {.min = 1, .max = 65536, .unit = "sequences", .help = "Sequences in a step."});
  visit("layers", o.layers, {.min = 1, .max = 1024, .help = "Transformer layers."});
  visit("hidden", o.hidden, {.min = 1, .max = 65536, .unit = "units", .help = "Width of the layers."});
  visit("sequence", o.sequence, {.min = 1, .max = 65536, .unit = "tokens", .help = "Length of a segment."});
  visit("memory", o.memory,
        {.min = 1,
         .max = 65536,
         .unit = "tokens",
         .help = "Hidden states of the previous step to which the first segment attends."});
  visit("segments", o.segments, {.min = 1, .max = 256, .help = "Segments in a step, one after the other."});
  visit("vocabulary", o.vocabulary, {.min = 2, .max = 10000000, .unit = "tokens", .help = "Size of the vocabulary."});
  describe(o.step, visit);
}

// The weights of a layer, which all segments share.
struct Layer {
  Operand qkv, relative, output, inner, inner_bias, outer, outer_bias;
  Operand norms[4];  // scale and bias after attention, scale and bias after the feed-forward part
};

class TransformerXl {
 public:
  explicit TransformerXl(const TransformerXlOptions& options) : o_(options), model_("transformer-xl") {}

  Graph build() {
    block_.heads = heads_of(o_.hidden);
    block_.dropout = o_.step.training;
    block_.scale = model_.input("attention_scale", Shape::scalar());
    words_ = model_.parameter("embedding/table", {o_.vocabulary, o_.hidden});
    content_bias_ = model_.parameter("attention/content_bias", {o_.hidden});
    position_bias_ = model_.parameter("attention/position_bias", {o_.hidden});
    softmax_bias_ = model_.parameter("softmax/bias", {o_.vocabulary});
    for (std::int64_t i = 0; i < o_.layers; ++i) {
      layers_.push_back(make_layer(fmt::format("decoder/{}", i)));
      memory_.push_back(model_.input(fmt::format("memory/{}", i), {o_.batch, o_.memory, o_.hidden}));
    }
    std::vector<Operand> losses;
    for (std::int64_t s = 0; s < o_.segments; ++s) losses.push_back(segment(s));
    if (o_.step.training && losses.size() > 1) model_.op("softmax/loss", "Sum", losses, Shape::scalar());
    return finish(model_, o_.step);
  }

 private:
  Layer make_layer(const std::string& name) {
    const std::int64_t h = o_.hidden, inner = 4 * o_.hidden;
    Layer layer;
    layer.qkv = model_.parameter(name + "/qkv/weight", {h, 3 * h});
    layer.relative = model_.parameter(name + "/relative/weight", {h, h});
    layer.output = model_.parameter(name + "/output/weight", {h, h});
    layer.inner = model_.parameter(name + "/in/weight", {h, inner});
    layer.inner_bias = model_.parameter(name + "/in/bias", {inner});
    layer.outer = model_.parameter(name + "/out/weight", {inner, h});
    layer.outer_bias = model_.parameter(name + "/out/bias", {h});
    const char* parts[] = {"/attention/scale", "/attention/bias", "/feed_forward/scale", "/feed_forward/bias"};
    for (std::size_t i = 0; i < 4; ++i) layer.norms[i] = model_.parameter(name + parts[i], {h});
    return layer;
  }

  Operand segment(std::int64_t s) {
    const std::string prefix = fmt::format("segment{}", s);
    model_.set_layer("embedding");
    Operand x = embed(prefix + "/embedding");
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      model_.set_layer(fmt::format("decoder/{}", i));
      const std::string name = fmt::format("{}/decoder/{}", prefix, i);
      const Operand below = x;
      x = decode(name, layers_[i], below, memory_[i]);
      if (s + 1 < o_.segments) memory_[i] = model_.elementwise(name + "/remember", "Detach", {below});
    }
    model_.set_layer("softmax");
    const auto cell = model_.cell(prefix + "/softmax");
    const Operand rows = model_.op(prefix + "/softmax/rows", "Reshape", {x}, {o_.batch * o_.sequence, o_.hidden});
    const Operand scores = model_.op(prefix + "/softmax/scores", "MatMul", {rows, words_},
                                     {o_.batch * o_.sequence, o_.vocabulary}, {{"transB", std::int64_t{1}}});
    const Operand logits = model_.elementwise(prefix + "/softmax/add", "Add", {scores, softmax_bias_});
    return softmax_or_loss(model_, prefix + "/softmax", logits, prefix + "/labels", o_.step.training);
  }

  Operand embed(const std::string& name) {
    const auto cell = model_.cell(name);
    const Operand tokens = model_.input(name + "/tokens", {o_.batch, o_.sequence}, DType::i32);
    const Operand x = model_.op(name + "/lookup", "Gather", {words_, tokens}, {o_.batch, o_.sequence, o_.hidden},
                                {{"axis", std::int64_t{0}}});
    return dropout(model_, name + "/dropout", x, block_.dropout);
  }

  // A constant: the sinusoids of all distances, or the mask of later positions; both depend on the number of keys only.
  Operand constant(const std::string& what, Shape shape) {
    const std::string name = fmt::format("{}/{}", what, shape.str());
    const auto [at, is_new] = constants_.try_emplace(name);
    if (is_new) at->second = model_.input(name, std::move(shape));
    return at->second;
  }

  // Equation in section 3.3: (q + u) k^T + shift((q + v) r^T).
  Operand attend(const std::string& name, const Layer& layer, const Operand& x, const Operand& memory) {
    const std::int64_t batch = o_.batch, s = o_.sequence, h = o_.hidden, heads = block_.heads;
    const Operand all = model_.concat(name + "/context", {memory, x}, 1);
    const std::int64_t keys = model_.dim(all, 1);
    const Operand projected = linear(model_, name + "/qkv", all, layer.qkv, Operand::none());
    const Shape part{batch, keys, h};
    const auto qkv =
        model_.op_several(name + "/split", "Split", {projected}, {part, part, part}, {{"axis", std::int64_t{2}}});
    const Operand q = model_.op(name + "/query", "Slice", {qkv[0]}, {batch, s, h});
    const Operand by_content = model_.elementwise(name + "/query_content", "Add", {q, content_bias_});
    const Operand by_position = model_.elementwise(name + "/query_position", "Add", {q, position_bias_});
    const Operand distances = constant("distances", {1, keys, h});
    const Operand r = linear(model_, name + "/relative", distances, layer.relative, Operand::none());
    const Shape scores{batch, heads, s, keys};
    const Attributes transposed{{"transB", std::int64_t{1}}};
    const Operand content = model_.op(
        name + "/content", "MatMul",
        {split_heads(model_, name + "/qc", by_content, heads), split_heads(model_, name + "/k", qkv[1], heads)}, scores,
        transposed);
    const Operand position =
        model_.op(name + "/position", "MatMul",
                  {split_heads(model_, name + "/qp", by_position, heads), split_heads(model_, name + "/r", r, heads)},
                  scores, transposed);
    const Operand sum = model_.elementwise(name + "/sum", "Add", {content, shift(name + "/shift", position)});
    TransformerBlock block = block_;
    block.mask = constant("causal_mask", {s, keys});
    const Operand mixed = weigh_values(model_, name, sum, split_heads(model_, name + "/v", qkv[2], heads), block);
    return linear(model_, name + "/output", join_heads(model_, name, mixed), layer.output, Operand::none());
  }

  // Appendix B: row i is shifted by i, by padding the rows and reshaping the result with another row length.
  Operand shift(const std::string& name, const Operand& x) {
    const Shape shape = model_.shape(x);
    const std::int64_t b = shape.dims[0], heads = shape.dims[1], s = shape.dims[2], k = shape.dims[3];
    const Operand padded = model_.op(name + "/pad", "Pad", {x}, {b, heads, s, k + 1});
    const Operand turned = model_.op(name + "/turn", "Reshape", {padded}, {b, heads, k + 1, s});
    const Operand cut = model_.op(name + "/cut", "Slice", {turned}, {b, heads, k, s});
    return model_.op(name, "Reshape", {cut}, shape);
  }

  Operand add_and_norm(const std::string& name, const Operand& x, const Operand& y, const Operand* norm) {
    const Operand sum = residual(model_, name, x, dropout(model_, name + "/dropout_out", y, block_.dropout));
    return model_.elementwise(name + "/norm", "LayerNormalization", {sum, norm[0], norm[1]});
  }

  Operand decode(const std::string& name, const Layer& layer, const Operand& x, const Operand& memory) {
    Operand y;
    {
      const std::string attention = name + "/attention";
      const auto cell = model_.cell(attention);
      y = add_and_norm(attention, x, attend(attention, layer, x, memory), layer.norms);
    }
    const std::string forward = name + "/feed_forward";
    const auto cell = model_.cell(forward);
    const Operand wide = model_.elementwise(forward + "/relu", "Relu",
                                            {linear(model_, forward + "/in", y, layer.inner, layer.inner_bias)});
    const Operand out = linear(model_, forward + "/out", dropout(model_, forward + "/dropout", wide, block_.dropout),
                               layer.outer, layer.outer_bias);
    return add_and_norm(forward, y, out, layer.norms + 2);
  }

  TransformerXlOptions o_;
  ModelBuilder model_;
  TransformerBlock block_;
  Operand words_, content_bias_, position_bias_, softmax_bias_;
  std::vector<Layer> layers_;
  std::vector<Operand> memory_;  // per layer: the input of that layer in the segment before
  std::map<std::string, Operand> constants_;
};

}  // namespace

ZooEntry transformer_xl_entry() {
  ZooEntry entry;
  entry.name = "transformer-xl";
  entry.summary = "Transformer-XL: a language model over segments with memory and relative attention.";
  entry.reference = "Dai et al. 2019; as in Zhou et al. 2019, 2020";
  entry.options = list_options<TransformerXlOptions>;
  entry.expert = expert_in_parts;
  entry.build = [](const ConfigTable& table) {
    return TransformerXl(read_options<TransformerXlOptions>(table)).build();
  };
  return entry;
}

}  // namespace emplace::zoo
