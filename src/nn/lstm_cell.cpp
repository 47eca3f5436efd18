#include "lstm_cell.hpp"

#include <cmath>

namespace emplace::nn {

namespace {

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

template <class T>
void lstm_cell(Matrix<T> gates, const T* before, T* cell, T* squashed, T* hidden, std::size_t hidden_stride) {
  const std::size_t h = gates.columns / 4;
  for (std::size_t b = 0; b < gates.rows; ++b) {
    T* const z = gates.row(b).data();
    for (std::size_t j = 0; j < h; ++j) {
      const T i = sigmoid(z[j]), f = sigmoid(z[h + j]), o = sigmoid(z[2 * h + j]), g = std::tanh(z[3 * h + j]);
      const T c = i * g + (before != nullptr ? f * before[b * h + j] : T{0});
      z[j] = i;
      z[h + j] = f;
      z[2 * h + j] = o;
      z[3 * h + j] = g;
      cell[b * h + j] = c;
      squashed[b * h + j] = std::tanh(c);
      hidden[b * hidden_stride + j] = o * squashed[b * h + j];
    }
  }
}

//   do = dh tanh(c);  dc += dh o (1 - tanh(c)^2);  di = dc g;  df = dc c_before;  dg = dc i;  dc_before = dc f
//   by the sums: times i (1 - i), f (1 - f), o (1 - o), 1 - g^2
template <class T>
void lstm_cell_backward(Matrix<const T> gates, const T* before, const T* squashed, const T* d_hidden,
                        std::size_t d_stride, Matrix<T> d_gates, T* d_cell) {
  const std::size_t h = gates.columns / 4;
  for (std::size_t b = 0; b < gates.rows; ++b) {
    const T* const z = gates.row(b).data();
    T* const dz = d_gates.row(b).data();
    for (std::size_t j = 0; j < h; ++j) {
      const T i = z[j], f = z[h + j], o = z[2 * h + j], g = z[3 * h + j];
      const T s = squashed[b * h + j], dh = d_hidden[b * d_stride + j];
      const T dc = d_cell[b * h + j] + dh * o * (1 - s * s);
      dz[j] = dc * g * (i * (1 - i));
      dz[h + j] = before != nullptr ? dc * before[b * h + j] * (f * (1 - f)) : T{0};
      dz[2 * h + j] = dh * s * (o * (1 - o));
      dz[3 * h + j] = dc * i * (1 - g * g);
      d_cell[b * h + j] = dc * f;
    }
  }
}

#define EMPLACE_INSTANTIATE(T)                                              \
  template void lstm_cell<T>(Matrix<T>, const T*, T*, T*, T*, std::size_t); \
  template void lstm_cell_backward<T>(Matrix<const T>, const T*, const T*, const T*, std::size_t, Matrix<T>, T*);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
