#include "policy/colocrl/network.hpp"

#include <algorithm>

namespace emplace::policy {

using nn::Matrix;
using nn::Tape;
using nn::Var;

ColocrlNetwork::ColocrlNetwork(const ColocrlSizes& of) : sizes(of) {
  const std::size_t h = of.hidden, a = of.attention_width > 0 ? of.attention_width : h,
                    input = of.type_width + of.shape_slots + of.groups;
  const nn::Initializer glorot = nn::glorot_uniform(), table = nn::uniform(0.1);
  type_table = layout.add("types", of.types, of.type_width, table);
  encoder_weight = layout.add("encoder/weight", input + h, 4 * h, glorot);
  encoder_bias = layout.add("encoder/bias", 1, 4 * h, nn::zeros);
  decoder.aligned = of.aligned;
  decoder.weight = layout.add("decoder/weight", of.device_width + (of.aligned ? h : 0) + h, 4 * h, glorot);
  decoder.bias = layout.add("decoder/bias", 1, 4 * h, nn::zeros);
  key_weight = layout.add("attention/keys", h, a, glorot);
  decoder.query_weight = layout.add("attention/query", h, a, glorot);
  decoder.score = layout.add("attention/score", a, 1, glorot);
  output_weight = layout.add("output/weight", 2 * h, of.devices, glorot);
  output_bias = layout.add("output/bias", 1, of.devices, nn::zeros);
  decoder.device_table = layout.add("devices", of.devices + 1, of.device_width, table);
}

template <class T>
void ColocrlNetwork::initialize(std::span<T> values, std::uint64_t seed) const {
  layout.initialize(values, seed);
  for (const nn::Slice& bias : {encoder_bias, decoder.bias})  // the gates' columns are in the order i f o g
    std::ranges::fill(values.subspan(bias.begin + sizes.hidden, sizes.hidden), T{1});
}

template <class T>
DecoderMemory encode(Tape<T>& tape, const ColocrlNetwork& network, const ColocrlInput<T>& input) {
  const Var parts[] = {segment_sum(tape, tape.parameter(network.type_table), *input.types),
                       tape.constant(input.features)};
  nn::LstmVars vars;
  vars.input = nn::concat_columns<T>(tape, parts);
  vars.weight = tape.parameter(network.encoder_weight);
  vars.bias = tape.parameter(network.encoder_bias);
  const nn::LstmResult states = lstm(tape, vars, {});
  return {matmul(tape, states.hidden, tape.parameter(network.key_weight)), states.hidden, states.last_hidden,
          states.last_cell};
}

template <class T>
Var decode(Tape<T>& tape, const ColocrlNetwork& network, const DecoderMemory& encoding,
           std::span<const std::uint32_t> previous, std::size_t batch) {
  return linear(tape, decoder_states(tape, network.decoder, encoding, previous, batch),
                tape.parameter(network.output_weight), tape.parameter(network.output_bias), nn::Activation::none);
}

template <class T>
ColocrlSteps<T>::ColocrlSteps(Tape<T>& tape, const ColocrlNetwork& network, const DecoderMemory& encoding,
                              std::size_t batch)
    : states_(tape, network.decoder, encoding, batch),
      output_(tape, tape.value(tape.parameter(network.output_weight)), tape.value(tape.parameter(network.output_bias)),
              nn::Activation::none),
      logits_(tape.matrix(batch, network.sizes.devices)) {}

template <class T>
Matrix<const T> ColocrlSteps<T>::operator()(std::span<const std::uint32_t> previous) {
  output_(states_(previous), logits_);
  return logits_;
}

#define EMPLACE_INSTANTIATE(T)                                                                               \
  template void ColocrlNetwork::initialize(std::span<T>, std::uint64_t) const;                               \
  template DecoderMemory encode(Tape<T>&, const ColocrlNetwork&, const ColocrlInput<T>&);                    \
  template Var decode(Tape<T>&, const ColocrlNetwork&, const DecoderMemory&, std::span<const std::uint32_t>, \
                      std::size_t);                                                                          \
  template class ColocrlSteps<T>;
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::policy
