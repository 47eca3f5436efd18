#include "colocrl_network.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"
#include "emplace/nn/decoding.hpp"

namespace emplace {

using nn::Matrix;
using nn::Tape;
using nn::Var;

ColocrlNetwork::ColocrlNetwork(const ColocrlSizes& of) : sizes(of) {
  const std::size_t h = of.hidden, input = of.type_width + of.shape_slots + of.groups;
  const nn::Initializer glorot = nn::glorot_uniform(), table = nn::uniform(0.1);
  type_table = layout.add("types", of.types, of.type_width, table);
  encoder_weight = layout.add("encoder/weight", input + h, 4 * h, glorot);
  encoder_bias = layout.add("encoder/bias", 1, 4 * h, nn::zeros);
  decoder_weight = layout.add("decoder/weight", of.device_width + (of.aligned ? h : 0) + h, 4 * h, glorot);
  decoder_bias = layout.add("decoder/bias", 1, 4 * h, nn::zeros);
  key_weight = layout.add("attention/keys", h, h, glorot);
  query_weight = layout.add("attention/query", h, h, glorot);
  score = layout.add("attention/score", h, 1, glorot);
  output_weight = layout.add("output/weight", 2 * h, of.devices, glorot);
  output_bias = layout.add("output/bias", 1, of.devices, nn::zeros);
  device_table = layout.add("devices", of.devices + 1, of.device_width, table);
}

template <class T>
void ColocrlNetwork::initialize(std::span<T> values, std::uint64_t seed) const {
  layout.initialize(values, seed);
  for (const nn::Slice& bias : {encoder_bias, decoder_bias})  // the columns of the gates are i f o g
    std::ranges::fill(values.subspan(bias.begin + sizes.hidden, sizes.hidden), T{1});
}

template <class T>
ColocrlEncoding encode(Tape<T>& tape, const ColocrlNetwork& network, const ColocrlInput<T>& input) {
  const Var parts[] = {segment_sum(tape, tape.parameter(network.type_table), *input.types),
                       tape.constant(input.features)};
  nn::LstmVars vars;
  vars.input = nn::concat_columns<T>(tape, parts);
  vars.weight = tape.parameter(network.encoder_weight);
  vars.bias = tape.parameter(network.encoder_bias);
  const nn::LstmResult states = lstm(tape, vars, {});
  return {states.hidden, matmul(tape, states.hidden, tape.parameter(network.key_weight)), states.last_hidden,
          states.last_cell};
}

template <class T>
Var decode(Tape<T>& tape, const ColocrlNetwork& network, const ColocrlEncoding& encoding,
           std::span<const std::uint32_t> previous, std::size_t batch) {
  const std::span<std::uint32_t> first_row = tape.template array<std::uint32_t>(batch);
  std::ranges::fill(first_row, 0U);
  nn::LstmVars vars;
  vars.input = gather_rows(tape, tape.parameter(network.device_table), previous);
  if (network.sizes.aligned) {
    const std::span<std::uint32_t> group = tape.template array<std::uint32_t>(previous.size());
    for (std::size_t row = 0; row < group.size(); ++row) group[row] = static_cast<std::uint32_t>(row / batch);
    const Var both[] = {vars.input, nn::gather_rows<T>(tape, encoding.hidden, group)};
    vars.input = nn::concat_columns<T>(tape, both);
  }
  vars.weight = tape.parameter(network.decoder_weight);
  vars.bias = tape.parameter(network.decoder_bias);
  vars.hidden = nn::gather_rows<T>(tape, encoding.last_hidden, first_row);
  vars.cell = nn::gather_rows<T>(tape, encoding.last_cell, first_row);
  const Var states = lstm(tape, vars, {.batch = batch}).hidden;
  const Var query = matmul(tape, states, tape.parameter(network.query_weight));
  const Var both[] = {states, attention(tape, query, encoding.keys, encoding.hidden, tape.parameter(network.score))};
  return linear(tape, nn::concat_columns<T>(tape, both), tape.parameter(network.output_weight),
                tape.parameter(network.output_bias), nn::Activation::none);
}

template <class T>
struct ColocrlSteps<T>::Parts {
  Parts(Tape<T>& tape, const ColocrlNetwork& network, const ColocrlEncoding& encoding, std::size_t batch)
      : devices(value(tape, network.device_table)),
        groups(tape.value(encoding.hidden)),
        lstm(tape, value(tape, network.decoder_weight), value(tape, network.decoder_bias), {}, batch),
        query(tape, value(tape, network.query_weight), {}, nn::Activation::none),
        attention(tape, tape.value(encoding.keys), tape.value(encoding.hidden), value(tape, network.score), batch),
        output(tape, value(tape, network.output_weight), value(tape, network.output_bias), nn::Activation::none),
        x(tape.matrix(batch, network.sizes.device_width + (network.sizes.aligned ? network.sizes.hidden : 0))),
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

  Matrix<const T> devices, groups;
  std::size_t step = 0;
  nn::LstmStep<T> lstm;
  nn::LinearStep<T> query;
  nn::AttentionStep<T> attention;
  nn::LinearStep<T> output;
  Matrix<T> x, hidden, cell, q, context, both, logits;
};

template <class T>
ColocrlSteps<T>::ColocrlSteps(Tape<T>& tape, const ColocrlNetwork& network, const ColocrlEncoding& encoding,
                              std::size_t batch)
    : parts_(&tape.template make<Parts>(tape, network, encoding, batch)) {}

template <class T>
Matrix<const T> ColocrlSteps<T>::operator()(std::span<const std::uint32_t> previous) {
  Parts& p = *parts_;
  EMPLACE_CHECK(previous.size() == p.x.rows);
  for (std::size_t b = 0; b < p.x.rows; ++b) {
    const auto end = std::ranges::copy(p.devices.row(previous[b]), p.x.row(b).begin()).out;
    if (end != p.x.row(b).end()) std::ranges::copy(p.groups.row(p.step), end);
  }
  ++p.step;
  p.lstm(p.x, p.hidden, p.cell);
  p.query(p.hidden, p.q);
  p.attention(p.q, p.context);
  for (std::size_t b = 0; b < p.x.rows; ++b)
    std::ranges::copy(p.context.row(b), std::ranges::copy(p.hidden.row(b), p.both.row(b).begin()).out);
  p.output(p.both, p.logits);
  return p.logits;
}

#define EMPLACE_INSTANTIATE(T)                                                                                 \
  template void ColocrlNetwork::initialize(std::span<T>, std::uint64_t) const;                                 \
  template ColocrlEncoding encode(Tape<T>&, const ColocrlNetwork&, const ColocrlInput<T>&);                    \
  template Var decode(Tape<T>&, const ColocrlNetwork&, const ColocrlEncoding&, std::span<const std::uint32_t>, \
                      std::size_t);                                                                            \
  template class ColocrlSteps<T>;
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace
