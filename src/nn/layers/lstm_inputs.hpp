// The part that the LSTM and the decoder with input feeding share: checks, the sums that do not depend on the state,
// and their gradients. The rows of the weight are those of x (F), then those of the fed-back input (R), the hidden
// state last.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "nn/kernels/gemm.hpp"
#include "nn/layers/elementwise.hpp"
#include "nn/layers/recurrent.hpp"

namespace emplace::nn {

enum LstmInput : std::size_t { lstm_input, lstm_weight, lstm_bias, lstm_forget, lstm_hidden, lstm_cell_start };
constexpr std::size_t lstm_input_count = 6;

inline std::array<Var, lstm_input_count> lstm_input_list(const LstmVars& v) {
  return {v.input, v.weight, v.bias, v.forget_bias, v.hidden, v.cell};
}

// Checks the shapes of an LSTM that reads rows of `columns` columns (x and, if there is one, the context), and returns
// H.
inline std::size_t lstm_width(std::string_view op, std::span<const Shape> in, std::size_t columns, std::size_t batch) {
  const std::size_t h = in[lstm_weight].columns / 4;
  const auto is = [](const Shape& shape, const Shape& wanted) { return shape.size() == 0 || shape == wanted; };
  const bool right = batch > 0 && in[lstm_input].rows > 0 && in[lstm_input].rows % batch == 0 && h > 0 &&
                     in[lstm_weight] == Shape{columns + h, 4 * h} && is(in[lstm_bias], {1, 4 * h}) &&
                     is(in[lstm_forget], {1, 1}) && is(in[lstm_hidden], {batch, h}) &&
                     is(in[lstm_cell_start], {batch, h});
  if (!right) wrong_shapes(op, in);
  return h;
}

template <class T>
struct LstmInputs {
  Matrix<const T> input, bias, forget_bias, hidden, cell;
  Strided<const T> weight, recurrent;  // F x 4H, R x 4H

  LstmInputs(std::span<const Matrix<const T>> in, std::size_t features)
      : input(in[lstm_input]),
        bias(in[lstm_bias]),
        forget_bias(in[lstm_forget]),
        hidden(in[lstm_hidden]),
        cell(in[lstm_cell_start]),
        weight(Strided<const T>(in[lstm_weight]).row_block(0, features)),
        recurrent(Strided<const T>(in[lstm_weight]).row_block(features, in[lstm_weight].rows - features)) {}

  // sums = X W_x + b, beta added to the columns of f.
  void gate_sums(Matrix<T> sums) const {
    const std::size_t h = sums.columns / 4;
    for (std::size_t r = 0; r < sums.rows; ++r) {
      if (bias.data != nullptr)
        std::ranges::copy(bias.all(), sums.row(r).begin());
      else
        std::ranges::fill(sums.row(r), T{0});
      if (forget_bias.data != nullptr)
        for (T& f : sums.row(r).subspan(h, h)) f += forget_bias.data[0];
    }
    multiply<T>(input, weight, sums, Into::add);
  }

  // Adds all gradients except those of the recurrent weight and of the start states.
  void backward(Matrix<const T> d_gates, std::span<const Matrix<T>> d_in) const {
    const std::size_t h = d_gates.columns / 4;
    if (d_in[lstm_weight].data != nullptr)
      multiply<T>(Strided<const T>(input).transposed(), d_gates,
                  Strided<T>(d_in[lstm_weight]).row_block(0, weight.rows), Into::add);
    if (d_in[lstm_bias].data != nullptr) add_rows<T>(d_gates, d_in[lstm_bias].all());
    if (d_in[lstm_forget].data != nullptr) {
      double sum = 0;
      for (std::size_t r = 0; r < d_gates.rows; ++r)
        for (const T d : d_gates.row(r).subspan(h, h)) sum += d;
      d_in[lstm_forget].data[0] += static_cast<T>(sum);
    }
    if (d_in[lstm_input].data != nullptr) multiply<T>(d_gates, weight.transposed(), d_in[lstm_input], Into::add);
  }

  Strided<T> recurrent_part(Matrix<T> d_weight) const {
    return Strided<T>(d_weight).row_block(weight.rows, recurrent.rows);
  }
};

}  // namespace emplace::nn
