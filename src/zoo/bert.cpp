// BERT base and large (Devlin et al. 2019, section 3): 12 layers of width 768 with 12 heads, 24 of 1024 with 16. The
// inference graph ends with the pooler, as the released encoder does: 109,482,240 and 335,141,888 parameters (the
// paper's 110 M and 340 M). Training adds the two tasks of pre-training: the masked words (15 % of the positions, by
// the word table itself and one more linear layer) and the next sentence. FLOPs: 22.5 G for base and a sentence of 128
// (Jiao et al. 2020, "TinyBERT", table 1).
#include <fmt/core.h>

#include <algorithm>

#include "zoo/models.hpp"
#include "zoo/transformer.hpp"

namespace emplace::zoo {

namespace {

struct BertOptions {
  std::int64_t batch = 32;
  std::int64_t sequence = 128;
  std::int64_t vocabulary = 30522;
  StackOptions stack;
  StepOptions step;
};

void describe(BertOptions& o, OptionVisitor& visit) {
  visit("batch", o.batch, {.min = 1, .max = 65536, .unit = "sentences", .help = "Sentences in a step."});
  visit("sequence", o.sequence, {.min = 1, .max = 512, .unit = "tokens", .help = "Length of a sentence."});
  visit("vocabulary", o.vocabulary, {.min = 2, .max = 10000000, .unit = "tokens", .help = "Size of the vocabulary."});
  describe_stack(o.stack, visit);
  describe(o.step, visit);
}

constexpr std::int64_t bert_longest_sequence = 512;

class Bert {
 public:
  Bert(const std::string& name, const BertOptions& options) : o_(options), model_(name), width_(options.stack.hidden) {}

  Graph build() {
    block_.heads = heads_of(width_);
    block_.inner = 4 * width_;
    block_.joint_projection = false;
    block_.dropout = o_.step.training;
    block_.mask = model_.input("attention_mask", {o_.batch, 1, 1, o_.sequence});
    block_.scale = model_.input("attention_scale", Shape::scalar());
    Operand x = embed();
    for (std::int64_t layer = 0; layer < o_.stack.layers; ++layer) {
      const std::string name = fmt::format("encoder/{}", layer);
      model_.set_layer(name);
      x = transformer_layer(model_, name, x, block_);
    }
    model_.set_layer("pooler");
    const Operand pooled = pool_first(x);
    if (o_.step.training) pretrain(x, pooled);
    return finish(model_, o_.step);
  }

 private:
  Operand lookup(const std::string& name, const Operand& table, const Operand& indices, Shape shape) {
    return model_.op(name, "Gather", {table, indices}, std::move(shape), {{"axis", std::int64_t{0}}});
  }

  Operand embed() {
    model_.set_layer("embedding");
    const auto cell = model_.cell("embedding");
    const Shape shape{o_.batch, o_.sequence, width_};
    words_ = model_.parameter("embedding/words", {o_.vocabulary, width_});
    const Operand positions = model_.parameter("embedding/positions", {bert_longest_sequence, width_});
    const Operand types = model_.parameter("embedding/types", {2, width_});
    const Operand tokens = model_.input("tokens", {o_.batch, o_.sequence}, DType::i32);
    const Operand segments = model_.input("segments", {o_.batch, o_.sequence}, DType::i32);
    const Operand word = lookup("embedding/word", words_, tokens, shape);
    const Operand type = lookup("embedding/type", types, segments, shape);
    const Operand position =
        model_.op("embedding/position", "Slice", {positions}, {1, o_.sequence, width_});  // the first rows
    const Operand both = model_.elementwise("embedding/add_type", "Add", {word, type});
    const Operand sum = model_.elementwise("embedding/add_position", "Add", {both, position});
    return dropout(model_, "embedding/dropout", layer_norm(model_, "embedding/norm", sum), o_.step.training);
  }

  Operand pool_first(const Operand& x) {
    const auto cell = model_.cell("pooler");
    const Operand first = model_.op("pooler/first", "Slice", {x}, {o_.batch, 1, width_});
    const Operand row = model_.op("pooler/row", "Reshape", {first}, {o_.batch, width_});
    return model_.elementwise("pooler/tanh", "Tanh", {dense(model_, "pooler", row, width_)});
  }

  void pretrain(const Operand& x, const Operand& pooled) {
    const std::int64_t masked = std::max<std::int64_t>(1, o_.sequence * 15 / 100) * o_.batch;
    model_.set_layer("masked_words");
    const auto cell = model_.cell("pretraining");
    const Operand rows = model_.op("masked_words/rows", "Reshape", {x}, {o_.batch * o_.sequence, width_});
    const Operand places = model_.input("masked_places", {masked}, DType::i32);
    Operand y = lookup("masked_words/gather", rows, places, {masked, width_});
    y = model_.elementwise("masked_words/gelu", "Gelu", {dense(model_, "masked_words/transform", y, width_)});
    y = layer_norm(model_, "masked_words/norm", y);
    const Operand scores =
        model_.op("masked_words/scores", "MatMul", {y, words_}, {masked, o_.vocabulary}, {{"transB", std::int64_t{1}}});
    const Operand bias = model_.parameter("masked_words/bias", {o_.vocabulary});
    const Operand logits = model_.elementwise("masked_words/add", "Add", {scores, bias});
    const Operand words = softmax_or_loss(model_, "masked_words", logits, "masked_labels", true);
    const Operand next =
        softmax_or_loss(model_, "next_sentence", dense(model_, "next_sentence", pooled, 2), "next_labels", true);
    model_.elementwise("loss", "Add", {words, next});
  }

  BertOptions o_;
  ModelBuilder model_;
  std::int64_t width_;
  TransformerBlock block_;
  Operand words_;
};

ZooEntry entry(const std::string& name, const StackOptions& stack) {
  ZooEntry entry;
  entry.name = name;
  entry.summary =
      fmt::format("BERT: a transformer encoder of {} layers, width {}, with its pooler.", stack.layers, stack.hidden);
  entry.reference = "Devlin et al. 2019";
  entry.options = list_options<BertOptions>;
  entry.expert = expert_in_parts;
  entry.build = [name, stack](const ConfigTable& table) {
    BertOptions options = read_options<BertOptions>(table);
    if (options.stack.layers == 0) options.stack.layers = stack.layers;
    if (options.stack.hidden == 0) options.stack.hidden = stack.hidden;
    return Bert(name, options).build();
  };
  return entry;
}

}  // namespace

ZooEntry bert_base_entry() { return entry("bert-base", {.layers = 12, .hidden = 768}); }
ZooEntry bert_large_entry() { return entry("bert-large", {.layers = 24, .hidden = 1024}); }

}  // namespace emplace::zoo
