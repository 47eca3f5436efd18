// GPT-2 (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", table 2): a transformer decoder
// with normalisation first, a causal mask, learnt positions and the word table as output layer. Released sizes:
// 124,439,808 (small), 354,823,168 (medium), 774,030,080 (large) and 1,557,611,200 (xl) parameters.
#include <fmt/core.h>

#include "zoo/models.hpp"
#include "zoo/transformer.hpp"

namespace emplace::zoo {

namespace {

struct Gpt2Options {
  std::string size = "small";
  std::int64_t batch = 8;
  std::int64_t sequence = 1024;
  std::int64_t vocabulary = 50257;
  StackOptions stack;
  StepOptions step;
};

void describe(Gpt2Options& o, OptionVisitor& visit) {
  visit("size", o.size,
        {.choices = {"small", "medium", "large", "xl"}, .help = "Released size; decides layers and width."});
  visit("batch", o.batch, {.min = 1, .max = 65536, .unit = "sequences", .help = "Sequences in a step."});
  visit("sequence", o.sequence, {.min = 2, .max = 1024, .unit = "tokens", .help = "Length of a sequence."});
  visit("vocabulary", o.vocabulary, {.min = 2, .max = 10000000, .unit = "tokens", .help = "Size of the vocabulary."});
  describe_stack(o.stack, visit);
  describe(o.step, visit);
}

constexpr std::int64_t gpt2_longest_sequence = 1024;

StackOptions stack_of(const Gpt2Options& o) {
  StackOptions stack{12, 768};
  if (o.size == "medium") stack = {24, 1024};
  if (o.size == "large") stack = {36, 1280};
  if (o.size == "xl") stack = {48, 1600};
  if (o.stack.layers != 0) stack.layers = o.stack.layers;
  if (o.stack.hidden != 0) stack.hidden = o.stack.hidden;
  return stack;
}

Graph build(const Gpt2Options& o) {
  ModelBuilder model("gpt-2");
  const StackOptions stack = stack_of(o);
  const std::int64_t width = stack.hidden;
  const TransformerBlock block{.heads = heads_of(width),
                               .inner = 4 * width,
                               .norm_first = true,
                               .dropout = o.step.training,
                               .mask = model.input("causal_mask", {o.sequence, o.sequence}),
                               .scale = model.input("attention_scale", Shape::scalar())};
  const Operand words = model.parameter("embedding/words", {o.vocabulary, width});
  Operand x;
  model.set_layer("embedding");
  {
    const auto cell = model.cell("embedding");
    const Operand positions = model.parameter("embedding/positions", {gpt2_longest_sequence, width});
    const Operand tokens = model.input("tokens", {o.batch, o.sequence}, DType::i32);
    const Operand word = model.op("embedding/word", "Gather", {words, tokens}, {o.batch, o.sequence, width},
                                  {{"axis", std::int64_t{0}}});
    const Operand position = model.op("embedding/position", "Slice", {positions}, {1, o.sequence, width});
    x = dropout(model, "embedding/dropout", model.elementwise("embedding/add", "Add", {word, position}),
                o.step.training);
  }
  for (std::int64_t layer = 0; layer < stack.layers; ++layer) {
    const std::string name = fmt::format("decoder/{}", layer);
    model.set_layer(name);
    x = transformer_layer(model, name, x, block);
  }
  model.set_layer("softmax");
  {
    const auto cell = model.cell("softmax");
    x = layer_norm(model, "softmax/norm", x);
    const Operand rows = model.op("softmax/rows", "Reshape", {x}, {o.batch * o.sequence, width});
    const Operand logits = model.op("softmax/scores", "MatMul", {rows, words}, {o.batch * o.sequence, o.vocabulary},
                                    {{"transB", std::int64_t{1}}});
    softmax_or_loss(model, "softmax", logits, "labels", o.step.training);
  }
  return finish(model, o.step);
}

}  // namespace

ZooEntry gpt_2_entry() {
  ZooEntry entry;
  entry.name = "gpt-2";
  entry.summary = "GPT-2: a transformer language model in its four released sizes.";
  entry.reference = "Radford et al. 2019";
  entry.options = list_options<Gpt2Options>;
  entry.expert = expert_in_parts;
  entry.build = [](const ConfigTable& table) { return build(read_options<Gpt2Options>(table)); };
  return entry;
}

}  // namespace emplace::zoo
