#include "nn/layers/lstm_cell.hpp"

#include "nn/kernels/kernels.hpp"

namespace emplace::nn {

template <class T>
void lstm_cell(Matrix<T> gates, const T* before, T* cell, T* squashed, T* hidden, std::size_t hidden_stride) {
  const std::size_t h = gates.columns / 4;
  for (std::size_t b = 0; b < gates.rows; ++b)
    kernels<T>().cell(gates.row(b).data(), before == nullptr ? nullptr : before + b * h, cell + b * h, squashed + b * h,
                      hidden + b * hidden_stride, h);
}

template <class T>
void lstm_cell_backward(Matrix<const T> gates, const T* before, const T* squashed, const T* d_hidden,
                        std::size_t d_stride, Matrix<T> d_gates, T* d_cell) {
  const std::size_t h = gates.columns / 4;
  for (std::size_t b = 0; b < gates.rows; ++b)
    kernels<T>().cell_backward(gates.row(b).data(), before == nullptr ? nullptr : before + b * h, squashed + b * h,
                               d_hidden + b * d_stride, d_gates.row(b).data(), d_cell + b * h, h);
}

#define EMPLACE_INSTANTIATE(T)                                              \
  template void lstm_cell<T>(Matrix<T>, const T*, T*, T*, T*, std::size_t); \
  template void lstm_cell_backward<T>(Matrix<const T>, const T*, const T*, const T*, std::size_t, Matrix<T>, T*);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
