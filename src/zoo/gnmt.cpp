// GNMT (Wu et al. 2016, "Google's Neural Machine Translation System", sections 3 and 3.1): a bidirectional first
// encoder layer, residual connections from the third layer on, and attention from the bottom layer of the decoder,
// whose context is an input of all its layers. The paper has 8 layers, width 1024, a vocabulary of 32,000 word pieces
// and batch 128; GDP places 2, 4 and 8 layers and gives neither batch nor length. Attention is as in TensorFlow NMT's
// `gnmt_v2`: the context of a step is computed from the bottom layer's new output.
#include <fmt/core.h>

#include "zoo/models.hpp"
#include "zoo/recurrent.hpp"

namespace emplace::zoo {

namespace {

struct GnmtOptions : TranslationOptions {
  GnmtOptions() {
    batch = 128;
    layers = 8;
    sequence = 30;
  }
};
void describe(GnmtOptions& options, OptionVisitor& visit) { describe_translation(options, visit); }

constexpr std::int64_t first_residual_layer = 2;

class Gnmt {
 public:
  explicit Gnmt(const GnmtOptions& options) : o_(options), model_("gnmt") {}

  Graph build() {
    zero_ = model_.input("zero_state", {o_.batch, o_.hidden});
    encode(embed_side(model_, "source", o_));
    model_.set_layer("attention");
    memory_ = attention_memory(model_, encoded_, o_.hidden);
    decode(embed_side(model_, "target", o_));
    return finish(model_, o_.step);
  }

 private:
  Operand residual(const std::string& name, std::int64_t layer, const Operand& x, const Operand& y) {
    return layer < first_residual_layer ? y : model_.elementwise(name, "Add", {x, y});
  }

  void encode(const Steps& words) {
    model_.set_layer("encoder/0");
    LstmState state;
    encoded_ = unroll_both_ways(model_, "encoder/0", words, o_.hidden, zero_, state);
    states_.push_back(state);
    for (std::int64_t layer = 1; layer < o_.layers; ++layer) {
      const std::string name = fmt::format("encoder/{}", layer);
      model_.set_layer(name);
      state = {zero_, zero_};
      Steps outputs = unroll(model_, name, encoded_, o_.hidden, false, state);
      for (std::size_t t = 0; t < outputs.size(); ++t)
        outputs[t] = residual(fmt::format("{}/residual/step{}", name, t), layer, encoded_[t], outputs[t]);
      encoded_ = std::move(outputs);
      states_.push_back(state);
    }
  }

  // One time step: the bottom layer, the attention, then the layers above, whose input is concatenated with the
  // context.
  Operand decode_step(const std::vector<LstmWeights>& cells, const Operand& word, Operand& context, std::size_t t) {
    Operand x;
    for (std::size_t layer = 0; layer < cells.size(); ++layer) {
      const std::string name = fmt::format("decoder/{}", layer);
      model_.set_layer(name);
      const Operand below = layer == 0 ? word : x;
      const Operand fed = model_.concat(fmt::format("{}/feed/step{}", name, t), {below, context}, 1);
      states_[layer] = lstm_cell(model_, fmt::format("{}/step{}", name, t), cells[layer], fed, states_[layer]);
      x = residual(fmt::format("{}/residual/step{}", name, t), static_cast<std::int64_t>(layer), below,
                   states_[layer].hidden);
      if (layer != 0) continue;
      model_.set_layer("attention");
      const std::string attention = fmt::format("attention/step{}", t);
      const auto cell = model_.cell(attention);
      context = attention_context(model_, attention, memory_, x);
    }
    return x;
  }

  void decode(const Steps& words) {
    // The output of a single encoder layer is the concatenation of both directions.
    const std::int64_t width = model_.dim(memory_.values, 2);
    std::vector<LstmWeights> cells;
    for (std::int64_t layer = 0; layer < o_.layers; ++layer)
      cells.push_back(lstm_weights(model_, fmt::format("decoder/{}", layer), o_.hidden + width, o_.hidden));
    const Operand weight = model_.parameter("softmax/weight", {o_.hidden, o_.vocabulary});
    const Operand bias = model_.parameter("softmax/bias", {o_.vocabulary});
    Operand context = model_.input("zero_context", {o_.batch, width});
    std::vector<Operand> losses;
    for (std::size_t t = 0; t < words.size(); ++t) {
      const Operand x = decode_step(cells, words[t], context, t);
      model_.set_layer("softmax");
      const std::string name = fmt::format("softmax/step{}", t);
      const auto cell = model_.cell(name);
      const Operand logits = linear(model_, name, x, weight, bias);
      losses.push_back(
          softmax_or_loss(model_, name + "/softmax", logits, fmt::format("labels/step{}", t), o_.step.training));
    }
    if (o_.step.training) model_.op("softmax/loss", "Sum", losses, Shape::scalar());
  }

  GnmtOptions o_;
  ModelBuilder model_;
  Operand zero_;
  AttentionMemory memory_;
  Steps encoded_;
  std::vector<LstmState> states_;  // the encoder's last states, then the decoder's current ones
};

}  // namespace

ZooEntry gnmt_entry() {
  ZooEntry entry;
  entry.name = "gnmt";
  entry.summary = "Google's translation system: deep LSTMs with residuals and attention, unrolled over time.";
  entry.reference = "Wu et al. 2016; as in Zhou et al. 2019, 2020";
  entry.options = list_options<GnmtOptions>;
  entry.expert = expert_by_number;
  entry.build = [](const ConfigTable& table) { return Gnmt(read_options<GnmtOptions>(table)).build(); };
  return entry;
}

}  // namespace emplace::zoo
