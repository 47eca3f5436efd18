// Sequence to sequence LSTMs with attention, the NMT benchmark of ColocRL and of the Hierarchical Planner: a
// bidirectional first encoder layer and an encoder state that initialises the decoder, as in TensorFlow NMT and GNMT
// (Wu et al. 2016), additive attention (Bahdanau et al. 2015) with input feeding (Luong et al. 2015), and the softmax
// projection at each decoder step. The graph is unrolled over time; all steps share the weights. There is no dropout.
#include <fmt/core.h>

#include "zoo/models.hpp"
#include "zoo/recurrent.hpp"

namespace emplace::zoo {

namespace {

struct NmtOptions : TranslationOptions {};
void describe(NmtOptions& options, OptionVisitor& visit) { describe_translation(options, visit); }

class Nmt {
 public:
  explicit Nmt(const NmtOptions& options) : o_(options), model_("nmt") {}

  Graph build() {
    zero_ = model_.input("zero_state", {o_.batch, o_.hidden});
    encode(embed_side(model_, "source", o_));
    remember();
    decode(embed_side(model_, "target", o_));
    return finish(model_, o_.step);
  }

 private:
  void encode(const Steps& words) {
    model_.set_layer("encoder/0");
    LstmState state;
    encoded_ = unroll_both_ways(model_, "encoder/0", words, o_.hidden, zero_, state);
    states_.push_back(state);
    for (std::int64_t layer = 1; layer < o_.layers; ++layer) {
      const std::string name = fmt::format("encoder/{}", layer);
      model_.set_layer(name);
      state = {zero_, zero_};
      encoded_ = unroll(model_, name, encoded_, o_.hidden, false, state);
      states_.push_back(state);
    }
  }

  void remember() {
    model_.set_layer("attention");
    memory_ = attention_memory(model_, encoded_, o_.hidden);
    const std::int64_t width = model_.dim(memory_.values, 2);
    output_weight_ = model_.parameter("attention/output_weight", {o_.hidden + width, o_.hidden});
  }

  // tanh([context, query] W), Luong et al. 2015, equation 5.
  Operand attend(const Operand& query, std::size_t step) {
    model_.set_layer("attention");
    const std::string name = fmt::format("attention/step{}", step);
    const auto cell = model_.cell(name);
    const Operand context = attention_context(model_, name, memory_, query);
    const Operand joined = model_.concat(name + "/concat", {context, query}, 1);
    const Operand output = linear(model_, name + "/output", joined, output_weight_, Operand::none());
    return model_.elementwise(name + "/attention", "Tanh", {output});
  }

  void decode(const Steps& words) {
    std::vector<LstmWeights> cells;
    for (std::int64_t layer = 0; layer < o_.layers; ++layer)
      cells.push_back(
          lstm_weights(model_, fmt::format("decoder/{}", layer), (layer == 0 ? 2 : 1) * o_.hidden, o_.hidden));
    const Operand weight = model_.parameter("softmax/weight", {o_.hidden, o_.vocabulary});
    const Operand bias = model_.parameter("softmax/bias", {o_.vocabulary});
    Operand attention = zero_;
    std::vector<Operand> losses;
    for (std::size_t t = 0; t < words.size(); ++t) {
      model_.set_layer("decoder/0");
      Operand x = model_.concat(fmt::format("decoder/0/feed/step{}", t), {words[t], attention}, 1);
      for (std::size_t layer = 0; layer < cells.size(); ++layer) {
        model_.set_layer(fmt::format("decoder/{}", layer));
        states_[layer] = lstm_cell(model_, fmt::format("decoder/{}/step{}", layer, t), cells[layer], x, states_[layer]);
        x = states_[layer].hidden;
      }
      attention = attend(x, t);
      model_.set_layer("softmax");
      const std::string name = fmt::format("softmax/step{}", t);
      const auto cell = model_.cell(name);
      const Operand logits = linear(model_, name, attention, weight, bias);
      losses.push_back(
          softmax_or_loss(model_, name + "/softmax", logits, fmt::format("labels/step{}", t), o_.step.training));
    }
    if (o_.step.training) model_.op("softmax/loss", "Sum", losses, Shape::scalar());
  }

  NmtOptions o_;
  ModelBuilder model_;
  Operand zero_, output_weight_;
  AttentionMemory memory_;
  Steps encoded_;
  std::vector<LstmState> states_;  // the encoder's last states, then the decoder's current ones
};

}  // namespace

ZooEntry nmt_entry() {
  ZooEntry entry;
  entry.name = "nmt";
  entry.summary = "Neural machine translation: LSTM encoder and decoder with attention, unrolled over time.";
  entry.reference = "Bahdanau et al. 2015; Wu et al. 2016; as in Mirhoseini et al. 2017, 2018";
  entry.options = list_options<NmtOptions>;
  entry.expert = expert_by_number;
  entry.build = [](const ConfigTable& table) { return Nmt(read_options<NmtOptions>(table)).build(); };
  return entry;
}

}  // namespace emplace::zoo
