// Sequence to sequence LSTMs with attention, the NMT benchmark of ColocRL and of the Hierarchical Planner: a
// bidirectional first encoder layer and an encoder state handed to the decoder as in TensorFlow NMT and GNMT (Wu et al.
// 2016), additive attention (Bahdanau et al. 2015) with input feeding (Luong et al. 2015), the softmax projection at
// each decoder step. Unrolled over time, op by op; weights are shared by all steps. No dropout.
#include <fmt/core.h>

#include "model_builder.hpp"
#include "models.hpp"

namespace emplace {

namespace {

struct NmtOptions {
  std::int64_t batch = 64;
  std::int64_t layers = 2;
  std::int64_t hidden = 1024;
  std::int64_t sequence = 20;
  std::int64_t vocabulary = 32000;
  StepOptions step;
};

void describe(NmtOptions& o, OptionVisitor& visit) {
  visit("batch", o.batch, {.min = 1, .max = 65536, .unit = "sentences", .help = "Pairs of sentences in a step."});
  visit("layers", o.layers, {.min = 1, .max = 32, .help = "LSTM layers of the encoder, and of the decoder."});
  visit("hidden", o.hidden,
        {.min = 1, .max = 65536, .unit = "units", .help = "Width of LSTMs, embeddings, attention."});
  visit("sequence", o.sequence, {.min = 1, .max = 500, .unit = "tokens", .help = "Length of both sentences."});
  visit("vocabulary", o.vocabulary, {.min = 2, .max = 10000000, .unit = "tokens", .help = "Size of each vocabulary."});
  describe(o.step, visit);
}

class Nmt {
 public:
  explicit Nmt(const NmtOptions& options) : o_(options), model_("nmt") {}

  Graph build() {
    zero_ = model_.input("zero_state", {o_.batch, o_.hidden});
    encode(embed("source"));
    remember();
    decode(embed("target"));
    return finish(model_, o_.step);
  }

 private:
  using Steps = std::vector<Operand>;  // one batch x width tensor a time step

  [[nodiscard]] Shape rows(std::int64_t width) const { return {o_.batch, width}; }

  // One lookup for all tokens of the batch, as TensorFlow NMT does; then one piece a time step.
  Steps embed(const std::string& side) {
    const std::string name = "embedding/" + side;
    model_.set_layer(name);
    const Operand tokens = model_.input(side, {o_.sequence * o_.batch}, DType::i32);
    const Operand table = model_.parameter(name + "/table", {o_.vocabulary, o_.hidden});
    const Operand all = model_.op(name + "/lookup", "Gather", {table, tokens}, {o_.sequence * o_.batch, o_.hidden},
                                  {{"axis", std::int64_t{0}}});
    const std::vector<Shape> steps(static_cast<std::size_t>(o_.sequence), rows(o_.hidden));
    return model_.op_several(name + "/steps", "Split", {all}, steps, {{"axis", std::int64_t{0}}});
  }

  // Runs an LSTM over the steps and leaves its last state in `state`.
  Steps unroll(const std::string& name, const Steps& inputs, bool backwards, LstmState& state) {
    const LstmWeights weights = lstm_weights(model_, name, model_.dim(inputs[0], 1), o_.hidden);
    Steps outputs(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::size_t step = backwards ? inputs.size() - 1 - i : i;
      state = lstm_cell(model_, fmt::format("{}/step{}", name, step), weights, inputs[step], state);
      outputs[step] = state.hidden;
    }
    return outputs;
  }

  void encode(const Steps& words) {
    model_.set_layer("encoder/0");
    LstmState forward{zero_, zero_}, backward{zero_, zero_};
    const Steps left = unroll("encoder/0/forward", words, false, forward);
    const Steps right = unroll("encoder/0/backward", words, true, backward);
    for (std::size_t t = 0; t < words.size(); ++t)
      encoded_.push_back(model_.concat(fmt::format("encoder/0/both/step{}", t), {left[t], right[t]}, 1));
    // TensorFlow NMT's GNMT encoder hands on the state of the backward direction.
    states_.push_back(backward);
    for (std::int64_t layer = 1; layer < o_.layers; ++layer) {
      const std::string name = fmt::format("encoder/{}", layer);
      model_.set_layer(name);
      LstmState state{zero_, zero_};
      encoded_ = unroll(name, encoded_, false, state);
      states_.push_back(state);
    }
  }

  // The attention's memory (batch x time x width) and its keys.
  void remember() {
    model_.set_layer("attention");
    const std::int64_t width = model_.dim(encoded_[0], 1);
    const Operand side_by_side = model_.concat("attention/memory/concat", encoded_, 1);
    memory_ = model_.op("attention/memory", "Reshape", {side_by_side}, {o_.batch, o_.sequence, width});
    const Operand weight = model_.parameter("attention/memory_weight", {width, o_.hidden});
    keys_ = linear(model_, "attention/keys", memory_, weight, Operand::none());
    query_weight_ = model_.parameter("attention/query_weight", {o_.hidden, o_.hidden});
    score_weight_ = model_.parameter("attention/score_weight", {o_.hidden});
    output_weight_ = model_.parameter("attention/output_weight", {o_.hidden + width, o_.hidden});
  }

  // score(s) = v . tanh(key(s) + query), Bahdanau et al. 2015, appendix A.1.2; then tanh([context, query] W).
  Operand attend(const Operand& query, std::size_t step) {
    model_.set_layer("attention");
    const std::string name = fmt::format("attention/step{}", step);
    const Shape wide{o_.batch, o_.sequence, o_.hidden}, scores{o_.batch, o_.sequence};
    const std::int64_t width = model_.dim(memory_, 2);
    const Operand projected = linear(model_, name + "/query", query, query_weight_, Operand::none());
    const Operand expanded = model_.op(name + "/expand", "Unsqueeze", {projected}, {o_.batch, 1, o_.hidden});
    const Operand sum = model_.op(name + "/add", "Add", {keys_, expanded}, wide);
    const Operand squashed = model_.elementwise(name + "/tanh", "Tanh", {sum});
    const Operand weighted = model_.op(name + "/weigh", "Mul", {squashed, score_weight_}, wide);
    const Operand score =
        model_.op(name + "/score", "ReduceSum", {weighted}, scores, {{"axes", std::vector<std::int64_t>{2}}});
    const Operand share = model_.elementwise(name + "/softmax", "Softmax", {score});
    const Operand row = model_.op(name + "/row", "Unsqueeze", {share}, {o_.batch, 1, o_.sequence});
    const Operand mixed = model_.op(name + "/mix", "MatMul", {row, memory_}, {o_.batch, 1, width});
    const Operand context = model_.op(name + "/context", "Squeeze", {mixed}, rows(width));
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
      const Operand logits = linear(model_, name, attention, weight, bias);
      losses.push_back(
          softmax_or_loss(model_, name + "/softmax", logits, fmt::format("labels/step{}", t), o_.step.training));
    }
    if (o_.step.training) model_.op("softmax/loss", "Sum", losses, Shape::scalar());
  }

  NmtOptions o_;
  ModelBuilder model_;
  Operand zero_, memory_, keys_, query_weight_, score_weight_, output_weight_;
  Steps encoded_;
  std::vector<LstmState> states_;  // the encoder's last states, then the decoder's running ones
};

}  // namespace

ZooEntry nmt_entry() {
  ZooEntry entry;
  entry.name = "nmt";
  entry.summary = "Neural machine translation: LSTM encoder and decoder with attention, unrolled over time.";
  entry.reference = "Bahdanau et al. 2015; Wu et al. 2016; as in Mirhoseini et al. 2017, 2018";
  entry.options = list_options<NmtOptions>;
  entry.build = [](const ConfigTable& table) { return Nmt(read_options<NmtOptions>(table)).build(); };
  return entry;
}

}  // namespace emplace
