#include "policy/common/attentional_decoder.hpp"

#include <algorithm>
#include <functional>

#include "emplace/base/error.hpp"

namespace emplace::policy {

using nn::Matrix;
using nn::Tape;
using nn::Var;

namespace {

template <class T>
Matrix<const T> value(Tape<T>& tape, const nn::Slice& slice) {
  return tape.value(tape.parameter(slice));
}

nn::Slice some_rows(const nn::Slice& whole, std::size_t begin, std::size_t count) {
  return {whole.begin + begin * whole.columns, count, whole.columns};
}

// The inputs' contributions to the decoder's gates: for every row of the device table, (D + 1) x 4H with the biases,
// and, if the decoder is aligned, for every row of the memory, M x 4H (else none). They are computed once, because
// there are few rows and every step reads them.
struct GateTables {
  Var devices, memory;
};

template <class T>
GateTables gate_tables(Tape<T>& tape, const AttentionalDecoder& decoder, const DecoderMemory& memory) {
  const std::size_t d = decoder.device_table.columns;
  GateTables tables;
  tables.devices =
      gate_sums(tape, tape.parameter(decoder.device_table), tape.parameter(some_rows(decoder.weight, 0, d)),
                tape.parameter(decoder.bias), tape.parameter(decoder.forget_bias));
  if (decoder.aligned)
    tables.memory =
        matmul(tape, memory.memory, tape.parameter(some_rows(decoder.weight, d, tape.value(memory.memory).columns)));
  return tables;
}

nn::Slice recurrent_weight(const AttentionalDecoder& decoder) {
  const std::size_t h = decoder.weight.columns / 4;
  return some_rows(decoder.weight, decoder.weight.rows - h, h);
}

}  // namespace

template <class T>
Var decoder_states(Tape<T>& tape, const AttentionalDecoder& decoder, const DecoderMemory& memory,
                   std::span<const std::uint32_t> previous, std::size_t batch) {
  const std::span<std::uint32_t> first_row = tape.template array<std::uint32_t>(batch);
  std::ranges::fill(first_row, 0U);
  nn::LstmVars vars;
  const GateTables tables = gate_tables(tape, decoder, memory);
  vars.input = gather_rows(tape, tables.devices, previous);
  if (decoder.aligned) {
    const std::span<std::uint32_t> row = tape.template array<std::uint32_t>(previous.size());
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<std::uint32_t>(i / batch);
    vars.input = add(tape, vars.input, nn::gather_rows<T>(tape, tables.memory, row));
  }
  vars.weight = tape.parameter(recurrent_weight(decoder));
  vars.hidden = nn::gather_rows<T>(tape, memory.last_hidden, first_row);
  vars.cell = nn::gather_rows<T>(tape, memory.last_cell, first_row);
  const Var states = lstm(tape, vars, {.batch = batch, .summed = true}).hidden;
  const Var query = matmul(tape, states, tape.parameter(decoder.query_weight));
  const Var both[] = {states, attention(tape, query, memory.keys, memory.memory, tape.parameter(decoder.score))};
  return nn::concat_columns<T>(tape, both);
}

namespace {

double floats_of_encoding(const AttentionalDecoder& decoder, std::size_t rows, std::size_t features) {
  const auto h = static_cast<double>(decoder.weight.columns / 4);
  constexpr double of_lstm = 14;  // sums of gates, their values, cells, states, keys
  return static_cast<double>(rows) * (static_cast<double>(features) + of_lstm * h);
}

}  // namespace

double bytes_of_decoding(const AttentionalDecoder& decoder, std::size_t rows, std::size_t features, std::size_t devices,
                         std::size_t batch) {
  const auto h = static_cast<double>(decoder.weight.columns / 4), attended = static_cast<double>(rows);
  const auto keys = static_cast<double>(decoder.query_weight.columns);
  // In widths of the state: sums of gates, gates, cells, states, what is read, joined; then their gradients.
  const double values = decoder.aligned ? 22 : 14, gradients = decoder.aligned ? 16 : 12;
  constexpr double of_device = 12;  // logits, probabilities
  const double row = (values + gradients) * h + 3 * keys + 2 * attended + of_device * static_cast<double>(devices);
  constexpr double with_gradients = 2;
  constexpr double packed = 5;  // copies of the weights that matrix products read
  return sizeof(float) *
         (attended * static_cast<double>(batch) * row + packed * static_cast<double>(decoder.weight.size()) +
          with_gradients * floats_of_encoding(decoder, rows, features));
}

double bytes_of_decoder_steps(const AttentionalDecoder& decoder, std::size_t rows, std::size_t features,
                              std::size_t batch) {
  const auto h = static_cast<double>(decoder.weight.columns / 4);
  constexpr double of_sample = 14;  // gates, states, query, what is read
  return sizeof(float) * (static_cast<double>(batch) * (of_sample * h + static_cast<double>(rows)) +
                          floats_of_encoding(decoder, rows, features));
}

template <class T>
DecoderSteps<T>::DecoderSteps(Tape<T>& tape, const AttentionalDecoder& decoder, const DecoderMemory& memory,
                              std::size_t batch)
    : lstm_(tape, value(tape, recurrent_weight(decoder)), batch),
      query_(tape, value(tape, decoder.query_weight), {}, nn::Activation::none),
      attention_(tape, tape.value(memory.keys), tape.value(memory.memory), value(tape, decoder.score), batch) {
  const GateTables tables = gate_tables(tape, decoder, memory);
  device_gates_ = tape.value(tables.devices);
  if (decoder.aligned) memory_gates_ = tape.value(tables.memory);
  const std::size_t e = tape.value(memory.memory).columns;
  const Matrix<const T> hidden = tape.value(memory.last_hidden), cell = tape.value(memory.last_cell);
  gates_ = tape.matrix(batch, device_gates_.columns);
  hidden_ = tape.matrix(batch, hidden.columns);
  cell_ = tape.matrix(batch, cell.columns);
  q_ = tape.matrix(batch, decoder.query_weight.columns);
  context_ = tape.matrix(batch, e);
  both_ = tape.matrix(batch, hidden.columns + e);
  for (std::size_t b = 0; b < batch; ++b) {
    std::ranges::copy(hidden.all(), hidden_.row(b).begin());
    std::ranges::copy(cell.all(), cell_.row(b).begin());
  }
}

template <class T>
Matrix<const T> DecoderSteps<T>::operator()(std::span<const std::uint32_t> previous) {
  EMPLACE_CHECK(previous.size() == gates_.rows);
  for (std::size_t b = 0; b < gates_.rows; ++b) {
    EMPLACE_CHECK(previous[b] < device_gates_.rows);
    std::ranges::copy(device_gates_.row(previous[b]), gates_.row(b).begin());
    if (memory_gates_.rows > 0)
      std::ranges::transform(gates_.row(b), memory_gates_.row(step_), gates_.row(b).begin(), std::plus<T>());
  }
  ++step_;
  lstm_(gates_, {}, hidden_, cell_);
  query_(hidden_, q_);
  attention_(q_, context_);
  for (std::size_t b = 0; b < gates_.rows; ++b)
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

}  // namespace emplace::policy
