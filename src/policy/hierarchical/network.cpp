#include "policy/hierarchical/network.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"

namespace emplace::policy {

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
    group_weight =
        layout.add("grouper/group_weight", of.grouper_hidden, of.groups, nn::glorot_uniform(of.grouper_gain));
    group_bias = layout.add("grouper/group_bias", 1, of.groups, nn::zeros);
  }
  encoder_there = layout.add("encoder/forward", of.group_features() + half, 4 * half, glorot);
  encoder_back = layout.add("encoder/backward", of.group_features() + half, 4 * half, glorot);
  encoder_forget = layout.add("encoder/forget_bias", 1, 1, nn::constant(1));
  memory_weight = layout.add("attention/memory", h, h, glorot);
  decoder.aligned = of.aligned;
  decoder.device_table = layout.add("devices", of.devices + 1, h, glorot);
  decoder.weight = layout.add("decoder/weight", (of.aligned ? 3 : 2) * h, 4 * h, glorot);
  decoder.forget_bias = layout.add("decoder/forget_bias", 1, 1, nn::constant(1));
  decoder.query_weight = layout.add("attention/query", h, h, glorot);
  decoder.score = layout.add("attention/score", h, 1, glorot);
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
DecoderMemory encode_groups(Tape<T>& tape, const HierarchicalNetwork& network, Matrix<const T> groups) {
  const nn::LstmResult states = encoder_states(tape, network, groups);
  const Var memory = matmul(tape, states.hidden, tape.parameter(network.memory_weight));
  return {memory, memory, states.last_hidden, states.last_cell};
}

template <class T>
Var decode_groups(Tape<T>& tape, const HierarchicalNetwork& network, const DecoderMemory& encoding,
                  std::span<const std::uint32_t> previous, std::size_t batch) {
  const Var logits = matmul(tape, decoder_states(tape, network.decoder, encoding, previous, batch),
                            tape.parameter(network.output_weight));
  return squash(tape, logits, static_cast<T>(network.sizes.squash), static_cast<T>(network.sizes.temperature));
}

template <class T>
PlacerSteps<T>::PlacerSteps(Tape<T>& tape, const HierarchicalNetwork& network, const DecoderMemory& encoding,
                            std::size_t batch)
    : states_(tape, network.decoder, encoding, batch),
      output_(tape, tape.value(tape.parameter(network.output_weight)), {}, nn::Activation::none),
      squash_(static_cast<T>(network.sizes.squash)),
      temperature_(static_cast<T>(network.sizes.temperature)),
      logits_(tape.matrix(batch, network.sizes.devices)) {}

template <class T>
Matrix<T> PlacerSteps<T>::operator()(std::span<const std::uint32_t> previous) {
  output_(states_(previous), logits_);
  nn::squash_all(squash_, temperature_, logits_.all());
  return logits_;
}

#define EMPLACE_INSTANTIATE(T)                                                                      \
  template Var grouper_logits(Tape<T>&, const HierarchicalNetwork&, const Lists&, Matrix<const T>); \
  template nn::LstmResult encoder_states(Tape<T>&, const HierarchicalNetwork&, Matrix<const T>);    \
  template DecoderMemory encode_groups(Tape<T>&, const HierarchicalNetwork&, Matrix<const T>);      \
  template Var decode_groups(Tape<T>&, const HierarchicalNetwork&, const DecoderMemory&,            \
                             std::span<const std::uint32_t>, std::size_t);                          \
  template class PlacerSteps<T>;
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::policy
