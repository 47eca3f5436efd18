#include "zoo/recurrent.hpp"

#include <fmt/core.h>

namespace emplace::zoo {

void describe_translation(TranslationOptions& o, OptionVisitor& visit) {
  visit("batch", o.batch, {.min = 1, .max = 65536, .unit = "sentences", .help = "Pairs of sentences in a step."});
  visit("layers", o.layers, {.min = 1, .max = 32, .help = "LSTM layers of the encoder, and of the decoder."});
  visit("hidden", o.hidden,
        {.min = 1, .max = 65536, .unit = "units", .help = "Width of LSTMs, embeddings, attention."});
  visit("sequence", o.sequence, {.min = 1, .max = 5000, .unit = "tokens", .help = "Length of both sentences."});
  visit("vocabulary", o.vocabulary, {.min = 2, .max = 10000000, .unit = "tokens", .help = "Size of each vocabulary."});
  describe(o.step, visit);
}

Steps embed_steps(ModelBuilder& model, const std::string& name, const std::string& tokens, const Embedding& shape) {
  const auto cell = model.cell(name);
  const std::int64_t rows = shape.sequence * shape.batch;
  const Operand indices = model.input(tokens, {rows}, DType::i32);
  const Operand table = model.parameter(name + "/table", {shape.vocabulary, shape.width});
  const Operand all =
      model.op(name + "/lookup", "Gather", {table, indices}, {rows, shape.width}, {{"axis", std::int64_t{0}}});
  const std::vector<Shape> steps(static_cast<std::size_t>(shape.sequence), {shape.batch, shape.width});
  return model.op_several(name + "/steps", "Split", {all}, steps, {{"axis", std::int64_t{0}}});
}

Steps embed_side(ModelBuilder& model, const std::string& side, const TranslationOptions& o) {
  const std::string name = "embedding/" + side;
  model.set_layer(name);
  return embed_steps(model, name, side, {o.batch, o.sequence, o.hidden, o.vocabulary});
}

Steps unroll(ModelBuilder& model, const std::string& name, const Steps& inputs, std::int64_t hidden, bool backwards,
             LstmState& state) {
  const LstmWeights weights = lstm_weights(model, name, model.dim(inputs[0], 1), hidden);
  Steps outputs(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t step = backwards ? inputs.size() - 1 - i : i;
    state = lstm_cell(model, fmt::format("{}/step{}", name, step), weights, inputs[step], state);
    outputs[step] = state.hidden;
  }
  return outputs;
}

Steps unroll_both_ways(ModelBuilder& model, const std::string& name, const Steps& inputs, std::int64_t hidden,
                       const Operand& zero, LstmState& state) {
  LstmState forward{zero, zero}, backward{zero, zero};
  const Steps left = unroll(model, name + "/forward", inputs, hidden, false, forward);
  const Steps right = unroll(model, name + "/backward", inputs, hidden, true, backward);
  Steps both;
  for (std::size_t t = 0; t < inputs.size(); ++t)
    both.push_back(model.concat(fmt::format("{}/both/step{}", name, t), {left[t], right[t]}, 1));
  state = backward;
  return both;
}

AttentionMemory attention_memory(ModelBuilder& model, const Steps& encoded, std::int64_t hidden) {
  const auto cell = model.cell("attention/memory");
  const std::int64_t batch = model.dim(encoded[0], 0), width = model.dim(encoded[0], 1);
  const auto time = static_cast<std::int64_t>(encoded.size());
  const Operand side_by_side = model.concat("attention/memory/concat", encoded, 1);
  AttentionMemory memory;
  memory.values = model.op("attention/memory", "Reshape", {side_by_side}, {batch, time, width});
  const Operand weight = model.parameter("attention/memory_weight", {width, hidden});
  memory.keys = linear(model, "attention/keys", memory.values, weight, Operand::none());
  memory.query_weight = model.parameter("attention/query_weight", {hidden, hidden});
  memory.score_weight = model.parameter("attention/score_weight", {hidden});
  return memory;
}

Operand attention_context(ModelBuilder& model, const std::string& name, const AttentionMemory& memory,
                          const Operand& query) {
  const Shape wide = model.shape(memory.keys);
  const std::int64_t batch = wide.dims[0], time = wide.dims[1], hidden = wide.dims[2];
  const std::int64_t width = model.dim(memory.values, 2);
  const Operand projected = linear(model, name + "/query", query, memory.query_weight, Operand::none());
  const Operand expanded = model.op(name + "/expand", "Unsqueeze", {projected}, {batch, 1, hidden});
  const Operand sum = model.op(name + "/add", "Add", {memory.keys, expanded}, wide);
  const Operand squashed = model.elementwise(name + "/tanh", "Tanh", {sum});
  const Operand weighted = model.op(name + "/weigh", "Mul", {squashed, memory.score_weight}, wide);
  const Operand score =
      model.op(name + "/score", "ReduceSum", {weighted}, {batch, time}, {{"axes", std::vector<std::int64_t>{2}}});
  const Operand share = model.elementwise(name + "/softmax", "Softmax", {score});
  const Operand row = model.op(name + "/row", "Unsqueeze", {share}, {batch, 1, time});
  const Operand mixed = model.op(name + "/mix", "MatMul", {row, memory.values}, {batch, 1, width});
  return model.op(name + "/context", "Squeeze", {mixed}, {batch, width});
}

}  // namespace emplace::zoo
