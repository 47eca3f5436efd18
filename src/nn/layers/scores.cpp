#include "nn/layers/scores.hpp"

#include <algorithm>
#include <cmath>

#include "base/interrupt.hpp"
#include "nn/kernels/kernels.hpp"

namespace emplace::nn {

namespace {

constexpr int limit = 20;

template <class T>
KernelSide<T> kernel_side(const Side<T>& side) {
  return {side.raw.data, side.exponential.data, side.large.data(), side.raw.rows};
}

// Calls visit(some of the queries, the number of those before them), with stop points. The kernels process 16 queries
// after the other, so the results are the same.
template <class T, class Visit>
void in_blocks(const Side<T>& queries, const Side<T>& keys, Visit&& visit) {
  constexpr std::size_t at_once = 16, most = std::size_t{1} << 25;  // elements of all pairs
  const std::size_t columns = keys.raw.columns, pair = std::max<std::size_t>(1, keys.raw.rows * columns);
  const std::size_t block = std::max<std::size_t>(1, most / pair / at_once) * at_once;
  const KernelSide<T> all = kernel_side(queries);
  for (std::size_t begin = 0; begin < all.rows; begin += block) {
    stop_point();
    visit(KernelSide<T>{all.raw + begin * columns, all.exponential + begin * columns, all.large + begin,
                        std::min(block, all.rows - begin)},
          begin);
  }
}

}  // namespace

template <class T>
Side<T> make_side(Tape<T>& tape, std::size_t rows, std::size_t columns) {
  return {{}, tape.matrix(rows, columns), tape.template array<std::uint8_t>(rows)};
}

template <class T>
void set_side(Side<T>& side, Matrix<const T> raw) {
  side.raw = raw;
  kernels<T>().exp_twice(raw.data, side.exponential.data, raw.size());
  for (std::size_t r = 0; r < raw.rows; ++r)
    side.large[r] = std::ranges::any_of(raw.row(r), [](T x) { return std::abs(x) > limit; }) ? 1 : 0;
}

template <class T>
void attention_scores(const Side<T>& queries, const Side<T>& keys, const T* v, Matrix<T> scores) {
  in_blocks(queries, keys, [&](const KernelSide<T>& some, std::size_t begin) {
    kernels<T>().scores(some, kernel_side(keys), v, keys.raw.columns, scores.row(begin).data());
  });
}

template <class T>
void attention_scores_backward(const Side<T>& queries, const Side<T>& keys, const T* v, Matrix<const T> d_scores,
                               Matrix<T> d_queries, Matrix<T> d_keys, T* d_v) {
  in_blocks(queries, keys, [&](const KernelSide<T>& some, std::size_t begin) {
    kernels<T>().scores_backward(some, kernel_side(keys), v, keys.raw.columns, d_scores.row(begin).data(),
                                 d_queries.row(begin).data(), d_keys.data, d_v);
  });
}

template <class T>
void softmax_rows(Matrix<T> rows) {
  const Kernels<T>& kernel = kernels<T>();
  for (std::size_t r = 0; r < rows.rows; ++r) {
    T* const row = rows.row(r).data();
    kernel.exp_less(row, kernel.largest(row, rows.columns), row, rows.columns);
    const T inverse = 1 / kernel.sum(row, rows.columns);
    for (std::size_t i = 0; i < rows.columns; ++i) row[i] *= inverse;
  }
}

template <class T>
void softmax_rows_backward(Matrix<const T> a, Matrix<const T> d, Matrix<T> d_rows) {
  for (std::size_t r = 0; r < a.rows; ++r) {
    const T along = kernels<T>().dot(a.row(r).data(), d.row(r).data(), a.columns);
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
