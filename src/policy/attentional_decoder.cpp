#include "attentional_decoder.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"

namespace emplace {

using nn::Matrix;
using nn::Tape;
using nn::Var;

namespace {

template <class T>
Matrix<const T> value(Tape<T>& tape, const nn::Slice& slice) {
  return tape.value(tape.parameter(slice));
}

}  // namespace

template <class T>
Var decoder_states(Tape<T>& tape, const AttentionalDecoder& decoder, const DecoderMemory& memory,
                   std::span<const std::uint32_t> previous, std::size_t batch) {
  const std::span<std::uint32_t> first_row = tape.template array<std::uint32_t>(batch);
  std::ranges::fill(first_row, 0U);
  nn::LstmVars vars;
  vars.input = gather_rows(tape, tape.parameter(decoder.device_table), previous);
  if (decoder.aligned) {
    const std::span<std::uint32_t> row = tape.template array<std::uint32_t>(previous.size());
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<std::uint32_t>(i / batch);
    const Var both[] = {vars.input, nn::gather_rows<T>(tape, memory.memory, row)};
    vars.input = nn::concat_columns<T>(tape, both);
  }
  vars.weight = tape.parameter(decoder.weight);
  vars.bias = tape.parameter(decoder.bias);
  vars.forget_bias = tape.parameter(decoder.forget_bias);
  vars.hidden = nn::gather_rows<T>(tape, memory.last_hidden, first_row);
  vars.cell = nn::gather_rows<T>(tape, memory.last_cell, first_row);
  const Var states = lstm(tape, vars, {.batch = batch}).hidden;
  const Var query = matmul(tape, states, tape.parameter(decoder.query_weight));
  const Var both[] = {states, attention(tape, query, memory.keys, memory.memory, tape.parameter(decoder.score))};
  return nn::concat_columns<T>(tape, both);
}

template <class T>
DecoderSteps<T>::DecoderSteps(Tape<T>& tape, const AttentionalDecoder& decoder, const DecoderMemory& memory,
                              std::size_t batch)
    : devices_(value(tape, decoder.device_table)),
      memory_(tape.value(memory.memory)),
      aligned_(decoder.aligned),
      lstm_(tape, value(tape, decoder.weight), value(tape, decoder.bias), value(tape, decoder.forget_bias), batch),
      query_(tape, value(tape, decoder.query_weight), {}, nn::Activation::none),
      attention_(tape, tape.value(memory.keys), memory_, value(tape, decoder.score), batch) {
  const Matrix<const T> hidden = tape.value(memory.last_hidden), cell = tape.value(memory.last_cell);
  x_ = tape.matrix(batch, devices_.columns + (aligned_ ? memory_.columns : 0));
  hidden_ = tape.matrix(batch, hidden.columns);
  cell_ = tape.matrix(batch, cell.columns);
  q_ = tape.matrix(batch, decoder.query_weight.columns);
  context_ = tape.matrix(batch, memory_.columns);
  both_ = tape.matrix(batch, hidden.columns + memory_.columns);
  for (std::size_t b = 0; b < batch; ++b) {
    std::ranges::copy(hidden.all(), hidden_.row(b).begin());
    std::ranges::copy(cell.all(), cell_.row(b).begin());
  }
}

template <class T>
Matrix<const T> DecoderSteps<T>::operator()(std::span<const std::uint32_t> previous) {
  EMPLACE_CHECK(previous.size() == x_.rows);
  for (std::size_t b = 0; b < x_.rows; ++b) {
    const auto end = std::ranges::copy(devices_.row(previous[b]), x_.row(b).begin()).out;
    if (aligned_) std::ranges::copy(memory_.row(step_), end);
  }
  ++step_;
  lstm_(x_, hidden_, cell_);
  query_(hidden_, q_);
  attention_(q_, context_);
  for (std::size_t b = 0; b < x_.rows; ++b)
    std::ranges::copy(context_.row(b), std::ranges::copy(hidden_.row(b), both_.row(b).begin()).out);
  return both_;
}

#define EMPLACE_INSTANTIATE(T)                                                           \
  template Var decoder_states(Tape<T>&, const AttentionalDecoder&, const DecoderMemory&, \
                              std::span<const std::uint32_t>, std::size_t);              \
  template class DecoderSteps<T>;
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace
