// A mixture-of-experts language model: every second feed-forward part is a set of experts, two of which process each
// token (Lepikhin et al. 2021, "GShard", section 2.2 and algorithm 1; Shazeer et al. 2017). The capacity of an expert
// is 1.25 times the even share of tokens (Fedus et al. 2022, "Switch Transformers", section 2.2). Tokens are scattered
// into the slots of their experts and gathered back. Sizes are those of GPT-2 small with 8 experts; no paper on
// placement uses such a model.
#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "zoo/models.hpp"
#include "zoo/transformer.hpp"

namespace emplace::zoo {

namespace {

struct MoeOptions {
  std::int64_t batch = 8;
  std::int64_t layers = 12;
  std::int64_t hidden = 768;
  std::int64_t experts = 8;
  std::int64_t sequence = 512;
  std::int64_t vocabulary = 32000;
  StepOptions step;
};

void describe(MoeOptions& o, OptionVisitor& visit) {
  visit("batch", o.batch, {.min = 1, .max = 65536, .unit = "sequences", .help = "Sequences in a step."});
  visit("layers", o.layers, {.min = 1, .max = 1024, .help = "Transformer layers; every second has experts."});
  visit("hidden", o.hidden, {.min = 1, .max = 65536, .unit = "units", .help = "Width of the layers."});
  visit("experts", o.experts, {.min = 2, .max = 4096, .help = "Experts of a layer that has them."});
  visit("sequence", o.sequence, {.min = 2, .max = 65536, .unit = "tokens", .help = "Length of a sequence."});
  visit("vocabulary", o.vocabulary, {.min = 2, .max = 10000000, .unit = "tokens", .help = "Size of the vocabulary."});
  describe(o.step, visit);
}

class MoeTransformer {
 public:
  explicit MoeTransformer(const MoeOptions& options)
      : o_(options), model_("moe-transformer"), tokens_(options.batch * options.sequence) {
    capacity_ = std::max<std::int64_t>(1, (2 * tokens_ * 5 / 4 + o_.experts - 1) / o_.experts);
  }

  Graph build() {
    block_.heads = heads_of(o_.hidden);
    block_.inner = 4 * o_.hidden;
    block_.norm_first = true;
    block_.dropout = o_.step.training;
    block_.mask = model_.input("causal_mask", {o_.sequence, o_.sequence});
    block_.scale = model_.input("attention_scale", Shape::scalar());
    slots_ = model_.input("empty_slots", {o_.experts * capacity_, o_.hidden});
    Operand x = embed();
    for (std::int64_t i = 0; i < o_.layers; ++i) {
      const std::string name = fmt::format("decoder/{}", i);
      model_.set_layer(name);
      x = i % 2 == 0 ? transformer_layer(model_, name, x, block_) : expert_layer(name, x);
    }
    model_.set_layer("softmax");
    const auto cell = model_.cell("softmax");
    const Operand rows = flat("softmax/rows", layer_norm(model_, "softmax/norm", x));
    const Operand logits =
        model_.op("softmax/scores", "MatMul", {rows, words_}, {tokens_, o_.vocabulary}, {{"transB", std::int64_t{1}}});
    softmax_or_loss(model_, "softmax", logits, "labels", o_.step.training);
    return finish(model_, o_.step);
  }

 private:
  Operand flat(const std::string& name, const Operand& x) {
    return model_.op(name, "Reshape", {x}, {tokens_, o_.hidden});
  }

  Operand embed() {
    model_.set_layer("embedding");
    const auto cell = model_.cell("embedding");
    words_ = model_.parameter("embedding/words", {o_.vocabulary, o_.hidden});
    const Operand positions = model_.parameter("embedding/positions", {1, o_.sequence, o_.hidden});
    const Operand tokens = model_.input("tokens", {o_.batch, o_.sequence}, DType::i32);
    const Operand word = model_.op("embedding/word", "Gather", {words_, tokens}, {o_.batch, o_.sequence, o_.hidden},
                                   {{"axis", std::int64_t{0}}});
    return model_.elementwise("embedding/add", "Add", {word, positions});
  }

  Operand expert_layer(const std::string& name, const Operand& input) {
    Operand x, rows, weights, places, queue;
    {
      const std::string attention = name + "/attention";
      const auto cell = model_.cell(attention);
      const Operand y = self_attention(model_, attention, layer_norm(model_, attention + "/norm", input), block_);
      x = residual(model_, attention, input, dropout(model_, attention + "/drop", y, block_.dropout));
    }
    {
      const auto cell = model_.cell(name + "/gate");
      rows = flat(name + "/rows", layer_norm(model_, name + "/norm", x));
      std::tie(weights, places) = route(name + "/gate", rows);
      const Operand twice = model_.concat(name + "/twice", {rows, rows}, 0);
      queue = model_.elementwise(name + "/dispatch", "ScatterND", {slots_, places, twice});
    }
    const Operand answers = ask_experts(name, queue);
    model_.set_layer(name);
    const auto cell = model_.cell(name + "/combine");
    const Operand gathered =
        model_.op(name + "/gather", "Gather", {answers, places}, {2 * tokens_, o_.hidden}, {{"axis", std::int64_t{0}}});
    const Operand weighted = model_.elementwise(name + "/weigh", "Mul", {gathered, weights});
    const Shape half{tokens_, o_.hidden};
    const auto both =
        model_.op_several(name + "/halves", "Split", {weighted}, {half, half}, {{"axis", std::int64_t{0}}});
    const Operand sum = model_.elementwise(name + "/combine", "Add", {both[0], both[1]});
    const Operand y = model_.op(name + "/shape", "Reshape", {sum}, model_.shape(x));
    return residual(model_, name, x, dropout(model_, name + "/drop", y, block_.dropout));
  }

  // Returns the gate values of the two experts of each token (2 tokens x 1), and the token's slots in the experts'
  // queues (2 tokens), which are a running count of the tokens of each expert. Slots have no gradient.
  std::pair<Operand, Operand> route(const std::string& name, const Operand& rows) {
    const std::int64_t chosen = 2 * tokens_;
    const Operand shares =
        model_.elementwise(name + "/softmax", "Softmax", {dense(model_, name + "/logits", rows, o_.experts, false)});
    const auto best = model_.op_several(name + "/best", "TopK", {shares}, {{tokens_, 2}, {tokens_, 2}});
    const Operand weights = model_.op(name + "/weights", "Reshape", {best[0]}, {chosen, 1});
    const Operand mask = model_.op(name + "/mask", "OneHot", {best[1]}, {chosen, o_.experts});
    const Operand counts = model_.elementwise(name + "/count", "CumSum", {mask});
    const Operand own = model_.elementwise(name + "/own", "Mul", {counts, mask});
    const Operand place =
        model_.op(name + "/place", "ReduceSum", {own}, {chosen}, {{"axes", std::vector<std::int64_t>{1}}});
    return {weights, place};
  }

  Operand ask_experts(const std::string& name, const Operand& queue) {
    const std::vector<Shape> shapes(static_cast<std::size_t>(o_.experts), {capacity_, o_.hidden});
    const auto queues = model_.op_several(name + "/queues", "Split", {queue}, shapes, {{"axis", std::int64_t{0}}});
    std::vector<Operand> answers;
    for (std::size_t e = 0; e < queues.size(); ++e) {
      const std::string expert = fmt::format("{}/expert/{}", name, e);
      model_.set_layer(expert);
      const auto cell = model_.cell(expert);
      answers.push_back(feed_forward(model_, expert, queues[e], block_.inner, "Relu"));
    }
    model_.set_layer(name);
    return model_.concat(name + "/answers", answers, 0);
  }

  MoeOptions o_;
  ModelBuilder model_;
  std::int64_t tokens_, capacity_;
  TransformerBlock block_;
  Operand words_, slots_;
};

}  // namespace

ZooEntry moe_transformer_entry() {
  ZooEntry entry;
  entry.name = "moe-transformer";
  entry.summary = "Transformer language model with a mixture of experts in every second layer.";
  entry.reference = "Shazeer et al. 2017; Lepikhin et al. 2021";
  entry.options = list_options<MoeOptions>;
  entry.expert = expert_with_experts;
  entry.build = [](const ConfigTable& table) { return MoeTransformer(read_options<MoeOptions>(table)).build(); };
  return entry;
}

}  // namespace emplace::zoo
