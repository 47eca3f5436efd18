// One step of an LSTM, from the sums of its gates to its state, and its backward pass.
#pragma once

#include "nn/tape/tape.hpp"

namespace emplace::nn {

// In: gates B x 4H, the sums [i f o g] with all biases. Out: gates after their sigmoids and tanh; cell = the new c,
// squashed = tanh(c), hidden = h, all B x H. `before` is the former c, or null for zeros; `cell` may be `before`. Rows
// of hidden are `hidden_stride` apart.
template <class T>
void lstm_cell(Matrix<T> gates, const T* before, T* cell, T* squashed, T* hidden, std::size_t hidden_stride);

// In: the gates and tanh(c) of lstm_cell, d_hidden (rows `d_stride` apart) and d_cell (B x H). Out: d_gates B x 4H, the
// gradient by the sums; d_cell becomes that of the former c:
//   do = dh tanh(c);  dc += dh o (1 - tanh(c)^2);  di = dc g;  df = dc before;  dg = dc i;  dbefore = dc f
//   by the sums: times i (1 - i), f (1 - f), o (1 - o), 1 - g^2
template <class T>
void lstm_cell_backward(Matrix<const T> gates, const T* before, const T* squashed, const T* d_hidden,
                        std::size_t d_stride, Matrix<T> d_gates, T* d_cell);

}  // namespace emplace::nn
