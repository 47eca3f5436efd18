#include "scores.hpp"

#include <algorithm>
#include <cmath>

namespace emplace::nn {

namespace {

constexpr int limit = 20;

template <class T>
T remainder(const Side<T>& queries, std::size_t t, const Side<T>& keys, std::size_t i, std::size_t j) {
  if (queries.large[t] != 0 || keys.large[i] != 0) return 1 / (1 + std::exp(2 * (keys.raw(i, j) + queries.raw(t, j))));
  return 1 / (1 + keys.exponential(i, j) * queries.exponential(t, j));
}

}  // namespace

template <class T>
Side<T> make_side(Tape<T>& tape, std::size_t rows, std::size_t columns) {
  return {{}, tape.matrix(rows, columns), tape.template array<std::uint8_t>(rows)};
}

template <class T>
void set_side(Side<T>& side, Matrix<const T> raw) {
  side.raw = raw;
  for (std::size_t i = 0; i < raw.size(); ++i) side.exponential.data[i] = std::exp(2 * raw.data[i]);
  for (std::size_t r = 0; r < raw.rows; ++r)
    side.large[r] = std::ranges::any_of(raw.row(r), [](T x) { return std::abs(x) > limit; }) ? 1 : 0;
}

template <class T>
void attention_scores(const Side<T>& queries, const Side<T>& keys, const T* v, Matrix<T> scores) {
  const std::size_t width = keys.raw.columns;
  T total = 0;
  for (std::size_t j = 0; j < width; ++j) total += v[j];
  for (std::size_t t = 0; t < queries.raw.rows; ++t)
    for (std::size_t i = 0; i < keys.raw.rows; ++i) {
      T sum = 0;
      for (std::size_t j = 0; j < width; ++j) sum += v[j] * remainder(queries, t, keys, i, j);
      scores(t, i) = total - 2 * sum;
    }
}

template <class T>
void attention_scores_backward(const Side<T>& queries, const Side<T>& keys, const T* v, Matrix<const T> d_scores,
                               Matrix<T> d_queries, Matrix<T> d_keys, T* d_v) {
  const std::size_t width = keys.raw.columns;
  for (std::size_t t = 0; t < queries.raw.rows; ++t)
    for (std::size_t i = 0; i < keys.raw.rows; ++i) {
      const T du = d_scores(t, i);
      for (std::size_t j = 0; j < width; ++j) {
        const T r = remainder(queries, t, keys, i, j);
        const T d = du * v[j] * (4 * r * (1 - r));
        d_queries(t, j) += d;
        if (d_keys.data != nullptr) d_keys(i, j) += d;
        if (d_v != nullptr) d_v[j] += du * (1 - 2 * r);
      }
    }
}

template <class T>
void softmax_rows(Matrix<T> rows) {
  for (std::size_t r = 0; r < rows.rows; ++r) {
    const std::span<T> row = rows.row(r);
    const T largest = *std::ranges::max_element(row);
    T sum = 0;
    for (T& value : row) {
      value = std::exp(value - largest);
      sum += value;
    }
    for (T& value : row) value /= sum;
  }
}

template <class T>
void softmax_rows_backward(Matrix<const T> a, Matrix<const T> d, Matrix<T> d_rows) {
  for (std::size_t r = 0; r < a.rows; ++r) {
    T along = 0;
    for (std::size_t i = 0; i < a.columns; ++i) along += a(r, i) * d(r, i);
    for (std::size_t i = 0; i < a.columns; ++i) d_rows(r, i) = a(r, i) * (d(r, i) - along);
  }
}

#define EMPLACE_INSTANTIATE(T)                                                                                     \
  template Side<T> make_side<T>(Tape<T>&, std::size_t, std::size_t);                                               \
  template void set_side<T>(Side<T>&, Matrix<const T>);                                                            \
  template void attention_scores<T>(const Side<T>&, const Side<T>&, const T*, Matrix<T>);                          \
  template void attention_scores_backward<T>(const Side<T>&, const Side<T>&, const T*, Matrix<const T>, Matrix<T>, \
                                             Matrix<T>, T*);                                                       \
  template void softmax_rows<T>(Matrix<T>);                                                                        \
  template void softmax_rows_backward<T>(Matrix<const T>, Matrix<const T>, Matrix<T>);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
