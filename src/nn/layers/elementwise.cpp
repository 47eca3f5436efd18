#include "nn/layers/elementwise.hpp"

#include <algorithm>

#include "nn/kernels/kernels.hpp"

namespace emplace::nn {

template <class T>
void activate_all(Activation activation, std::span<T> values) {
  switch (activation) {
    case Activation::none: return;
    case Activation::relu:
      for (T& v : values) v = v > 0 ? v : T{0};
      return;
    case Activation::tanh: return kernels<T>().tanh(values.data(), values.size());
    case Activation::sigmoid: return kernels<T>().sigmoid(values.data(), values.size());
  }
}

template <class T>
void activate_backward(Activation activation, std::span<const T> after, std::span<const T> d_after,
                       std::span<T> d_before) {
  const std::size_t n = after.size();
  switch (activation) {
    case Activation::none:
      if (d_before.data() != d_after.data()) std::ranges::copy(d_after, d_before.begin());
      return;
    case Activation::relu:
      for (std::size_t i = 0; i < n; ++i) d_before[i] = after[i] > 0 ? d_after[i] : T{0};
      return;
    case Activation::tanh:
      for (std::size_t i = 0; i < n; ++i) d_before[i] = d_after[i] * (1 - after[i] * after[i]);
      return;
    case Activation::sigmoid:
      for (std::size_t i = 0; i < n; ++i) d_before[i] = d_after[i] * (after[i] * (1 - after[i]));
      return;
  }
}

template <class T>
void add_all(std::span<const T> values, std::span<T> sum) {
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
}

template <class T>
void add_scaled(T factor, std::span<const T> values, std::span<T> sum) {
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += factor * values[i];
}

template <class T>
void add_rows(Matrix<const T> rows, std::span<T> sum) {
  kernels<T>().add_column_sums(rows.data, rows.columns, rows.rows, rows.columns, sum.data());
}

#define EMPLACE_INSTANTIATE(T)                                                                          \
  template void activate_all<T>(Activation, std::span<T>);                                              \
  template void activate_backward<T>(Activation, std::span<const T>, std::span<const T>, std::span<T>); \
  template void add_all<T>(std::span<const T>, std::span<T>);                                           \
  template void add_scaled<T>(T, std::span<const T>, std::span<T>);                                     \
  template void add_rows<T>(Matrix<const T>, std::span<T>);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
