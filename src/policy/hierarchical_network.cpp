#include "hierarchical_network.hpp"

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "emplace/nn/decoding.hpp"

namespace emplace {

using nn::Matrix;
using nn::Tape;
using nn::Var;

HierarchicalNetwork::HierarchicalNetwork(const HierarchicalSizes& of) : sizes(of) {
  EMPLACE_CHECK(of.hidden % 2 == 0);
  const std::size_t h = of.hidden, half = h / 2;
  const nn::Initializer glorot = nn::glorot_uniform();
  if (of.has_grouper) {
    type_table = layout.add("types", of.types, of.type_width, glorot);
    grouper_weight = layout.add("grouper/weight", of.type_width + of.op_constants(), of.grouper_hidden, glorot);
    grouper_bias = layout.add("grouper/bias", 1, of.grouper_hidden, nn::zeros);
    group_weight = layout.add("grouper/group_weight", of.grouper_hidden, of.groups, glorot);
    group_bias = layout.add("grouper/group_bias", 1, of.groups, nn::zeros);
  }
  encoder_there = layout.add("encoder/forward", of.group_features() + half, 4 * half, glorot);
  encoder_back = layout.add("encoder/backward", of.group_features() + half, 4 * half, glorot);
  encoder_forget = layout.add("encoder/forget_bias", 1, 1, nn::constant(1));
  memory_weight = layout.add("attention/memory", h, h, glorot);
  device_table = layout.add("devices", of.devices + 1, h, glorot);
  decoder_weight = layout.add("decoder/weight", (of.aligned ? 3 : 2) * h, 4 * h, glorot);
  decoder_forget = layout.add("decoder/forget_bias", 1, 1, nn::constant(1));
  query_weight = layout.add("attention/query", h, h, glorot);
  score = layout.add("attention/score", h, 1, glorot);
  output_weight = layout.add("output/weight", 2 * h, of.devices, glorot);
}

template <class T>
Var grouper_logits(Tape<T>& tape, const HierarchicalNetwork& network, const Lists& types, Matrix<const T> constants) {
  const Var parts[] = {segment_sum(tape, tape.parameter(network.type_table), types), tape.constant(constants)};
  const Var hidden = linear(tape, nn::concat_columns<T>(tape, parts), tape.parameter(network.grouper_weight),
                            tape.parameter(network.grouper_bias), nn::Activation::relu);
  return linear(tape, hidden, tape.parameter(network.group_weight), tape.parameter(network.group_bias),
                nn::Activation::none);
}

template <class T>
nn::LstmResult encoder_states(Tape<T>& tape, const HierarchicalNetwork& network, Matrix<const T> groups) {
  nn::LstmVars there;
  there.input = tape.constant(groups);
  there.weight = tape.parameter(network.encoder_there);
  there.forget_bias = tape.parameter(network.encoder_forget);
  nn::LstmVars back = there;
  back.weight = tape.parameter(network.encoder_back);
  return bidirectional_lstm(tape, there, back, 1);
}

template <class T>
PlacerEncoding encode_groups(Tape<T>& tape, const HierarchicalNetwork& network, Matrix<const T> groups) {
  const nn::LstmResult states = encoder_states(tape, network, groups);
  return {matmul(tape, states.hidden, tape.parameter(network.memory_weight)), states.last_hidden, states.last_cell};
}

template <class T>
Var decode_groups(Tape<T>& tape, const HierarchicalNetwork& network, const PlacerEncoding& encoding,
                  std::span<const std::uint32_t> previous, std::size_t batch) {
  const std::span<std::uint32_t> first_row = tape.template array<std::uint32_t>(batch);
  std::ranges::fill(first_row, 0U);
  nn::LstmVars vars;
  vars.input = gather_rows(tape, tape.parameter(network.device_table), previous);
  if (network.sizes.aligned) {
    const std::span<std::uint32_t> group = tape.template array<std::uint32_t>(previous.size());
    for (std::size_t row = 0; row < group.size(); ++row) group[row] = static_cast<std::uint32_t>(row / batch);
    const Var both[] = {vars.input, nn::gather_rows<T>(tape, encoding.memory, group)};
    vars.input = nn::concat_columns<T>(tape, both);
  }
  vars.weight = tape.parameter(network.decoder_weight);
  vars.forget_bias = tape.parameter(network.decoder_forget);
  vars.hidden = nn::gather_rows<T>(tape, encoding.last_hidden, first_row);
  vars.cell = nn::gather_rows<T>(tape, encoding.last_cell, first_row);
  const Var states = lstm(tape, vars, {.batch = batch}).hidden;
  const Var query = matmul(tape, states, tape.parameter(network.query_weight));
  const Var both[] = {states, attention(tape, query, encoding.memory, encoding.memory, tape.parameter(network.score))};
  const Var logits = matmul(tape, nn::concat_columns<T>(tape, both), tape.parameter(network.output_weight));
  return squash(tape, logits, static_cast<T>(network.sizes.squash), static_cast<T>(network.sizes.temperature));
}

template <class T>
struct PlacerSteps<T>::Parts {
  Parts(Tape<T>& tape, const HierarchicalNetwork& network, const PlacerEncoding& encoding, std::size_t batch)
      : devices(value(tape, network.device_table)),
        memory(tape.value(encoding.memory)),
        lstm(tape, value(tape, network.decoder_weight), {}, value(tape, network.decoder_forget), batch),
        query(tape, value(tape, network.query_weight), {}, nn::Activation::none),
        attention(tape, tape.value(encoding.memory), tape.value(encoding.memory), value(tape, network.score), batch),
        output(tape, value(tape, network.output_weight), {}, nn::Activation::none),
        squash(static_cast<T>(network.sizes.squash)),
        temperature(static_cast<T>(network.sizes.temperature)),
        x(tape.matrix(batch, (network.sizes.aligned ? 2 : 1) * network.sizes.hidden)),
        hidden(tape.matrix(batch, network.sizes.hidden)),
        cell(tape.matrix(batch, network.sizes.hidden)),
        q(tape.matrix(batch, network.sizes.hidden)),
        context(tape.matrix(batch, network.sizes.hidden)),
        both(tape.matrix(batch, 2 * network.sizes.hidden)),
        logits(tape.matrix(batch, network.sizes.devices)) {
    for (std::size_t b = 0; b < batch; ++b) {
      std::ranges::copy(tape.value(encoding.last_hidden).all(), hidden.row(b).begin());
      std::ranges::copy(tape.value(encoding.last_cell).all(), cell.row(b).begin());
    }
  }
  static Matrix<const T> value(Tape<T>& tape, const nn::Slice& slice) { return tape.value(tape.parameter(slice)); }

  Matrix<const T> devices, memory;
  std::size_t step = 0;
  nn::LstmStep<T> lstm;
  nn::LinearStep<T> query;
  nn::AttentionStep<T> attention;
  nn::LinearStep<T> output;
  T squash, temperature;
  Matrix<T> x, hidden, cell, q, context, both, logits;
};

template <class T>
PlacerSteps<T>::PlacerSteps(Tape<T>& tape, const HierarchicalNetwork& network, const PlacerEncoding& encoding,
                            std::size_t batch)
    : parts_(&tape.template make<Parts>(tape, network, encoding, batch)) {}

template <class T>
Matrix<T> PlacerSteps<T>::operator()(std::span<const std::uint32_t> previous) {
  Parts& p = *parts_;
  EMPLACE_CHECK(previous.size() == p.x.rows);
  for (std::size_t b = 0; b < p.x.rows; ++b) {
    const auto end = std::ranges::copy(p.devices.row(previous[b]), p.x.row(b).begin()).out;
    if (end != p.x.row(b).end()) std::ranges::copy(p.memory.row(p.step), end);
  }
  ++p.step;
  p.lstm(p.x, p.hidden, p.cell);
  p.query(p.hidden, p.q);
  p.attention(p.q, p.context);
  for (std::size_t b = 0; b < p.x.rows; ++b)
    std::ranges::copy(p.context.row(b), std::ranges::copy(p.hidden.row(b), p.both.row(b).begin()).out);
  p.output(p.both, p.logits);
  for (T& logit : p.logits.all()) logit = p.squash * std::tanh(logit / p.temperature);
  return p.logits;
}

#define EMPLACE_INSTANTIATE(T)                                                                      \
  template Var grouper_logits(Tape<T>&, const HierarchicalNetwork&, const Lists&, Matrix<const T>); \
  template nn::LstmResult encoder_states(Tape<T>&, const HierarchicalNetwork&, Matrix<const T>);    \
  template PlacerEncoding encode_groups(Tape<T>&, const HierarchicalNetwork&, Matrix<const T>);     \
  template Var decode_groups(Tape<T>&, const HierarchicalNetwork&, const PlacerEncoding&,           \
                             std::span<const std::uint32_t>, std::size_t);                          \
  template class PlacerSteps<T>;
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace
