// The inner loops of the ops, as a table for each instruction set. Arguments are pointers and counts only, because code
// compiled for one instruction set must not share inline functions with the rest of the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emplace::nn {

// A matrix whose element (i, j) is at data[i * row_step + j * column_step]; one of the steps is 1.
template <class T>
struct KernelMatrix {
  const T* data;
  std::size_t row_step, column_step;
};

// Keys or queries of attention: see scores.hpp.
template <class T>
struct KernelSide {
  const T* raw;
  const T* exponential;
  const std::uint8_t* large;
  std::size_t rows;
};

// A row's softmax before it is divided by its sum: the largest score, the sum of p = e^(score - largest), and the sum
// of p (score - largest).
template <class T>
struct SoftmaxSums {
  T largest;
  double sum, along;
};

// Coefficients of the formulas of optimizer.hpp. `factor` clips the gradient; `scale` and `epsilon` include the bias
// corrections.
struct AdamStep {
  float factor, keep1, take1, keep2, take2, scale, epsilon;
};

template <class T>
struct Kernels {
  // The number of elements of the packed form of a k x n matrix, and packing into that form, which is the right matrix
  // of product().
  std::size_t (*packed_size)(std::size_t k, std::size_t n);
  void (*pack)(KernelMatrix<T> b, std::size_t k, std::size_t n, T* packed);
  // c (m x n, rows c_step apart) = or += a (m x k) b. `backwards` goes through the columns from the last to the first,
  // whose data is still in the cache after another product; the result is bitwise equal.
  void (*product)(KernelMatrix<T> a, std::size_t m, std::size_t k, const T* packed, std::size_t n, T* c,
                  std::size_t c_step, bool add, bool backwards);

  void (*tanh)(T* values, std::size_t n);
  void (*sigmoid)(T* values, std::size_t n);
  // out = e^(values - offset); 0 for -infinity.
  void (*exp_less)(const T* values, T offset, T* out, std::size_t n);
  // out = e^(2 values).
  void (*exp_twice)(const T* values, T* out, std::size_t n);

  // p = e^(scores - largest), 0 where `allowed` (or null: all) is 0. Sums are computed in T in 64 bytes of lanes, which
  // are then added in double.
  SoftmaxSums<T> (*softmax)(const T* scores, const std::uint8_t* allowed, T* p, std::size_t n);
  // d -= p (offset + weight (scores - shift)) where p is above 0.
  void (*softmax_backward)(const T* scores, const T* p, T shift, T offset, T weight, T* d, std::size_t n);
  // Row r of out (lists x columns) = the largest of the rows items[begin[r]] ... items[begin[r + 1] - 1] of x in each
  // column, or 0.
  void (*largest_rows)(const T* x, const std::uint32_t* begin, const std::uint32_t* items, std::size_t lists,
                       std::size_t columns, T* out);
  // d_x += d_out in the first of these rows with x = out, in each column.
  void (*largest_rows_backward)(const T* x, const std::uint32_t* begin, const std::uint32_t* items, std::size_t lists,
                                std::size_t columns, const T* out, const T* d_out, T* d_x);
  // Row r of out = the sum of the rows of the list of r (as above), in their order.
  void (*sum_rows)(const T* x, const std::uint32_t* begin, const std::uint32_t* items, std::size_t lists,
                   std::size_t columns, T* out);
  // sums (columns) += the rows of x, in their order; they are `step` elements apart.
  void (*add_column_sums)(const T* x, std::size_t step, std::size_t rows, std::size_t columns, T* sums);

  // Layer normalisation of the rows of x, or of x + z where z is not null: u = (x + z - mean) inverse, y = gain u +
  // bias.
  void (*normalize)(const T* x, const T* z, const T* gain, const T* bias, T epsilon, std::size_t rows,
                    std::size_t columns, T* u, T* inverse, T* y);
  // Its backward pass from d = dy. If `after` is not null, it is the result of a rectifier and dropout (with factor
  // `scale`) after the normalisation, and d is the gradient of that result: only elements with `after` > 0 have a
  // gradient. dx and dz are set or added to; they, d_gain and d_bias may be null. `du` is one row of scratch memory.
  void (*normalize_backward)(const T* u, const T* inverse, const T* gain, const T* after, T scale, const T* d,
                             std::size_t rows, std::size_t columns, T* du, T* dx, bool set_dx, T* dz, bool set_dz,
                             T* d_gain, T* d_bias);
  // Row r of y = or += the sum of values[i] x_{items[i]} over the list of r (as above), one chain of fused
  // multiply-adds.
  void (*combine_rows)(const T* x, const std::uint32_t* begin, const std::uint32_t* items, const double* values,
                       std::size_t rows, std::size_t columns, T* y, bool add);

  // See lstm_cell.hpp; one row with h columns.
  void (*cell)(T* gates, const T* before, T* cell, T* squashed, T* hidden, std::size_t h);
  void (*cell_backward)(const T* gates, const T* before, const T* squashed, const T* d_hidden, T* d_gates, T* d_cell,
                        std::size_t h);

  // See scores.hpp; keys and queries have `width` columns. d_keys and d_v may be null.
  void (*scores)(KernelSide<T> queries, KernelSide<T> keys, const T* v, std::size_t width, T* scores);
  void (*scores_backward)(KernelSide<T> queries, KernelSide<T> keys, const T* v, std::size_t width, const T* d_scores,
                          T* d_queries, T* d_keys, T* d_v);
  // Of n values, n > 0: the sum, the largest, the sum of a b.
  T (*sum)(const T* values, std::size_t n);
  T (*largest)(const T* values, std::size_t n);
  T (*dot)(const T* a, const T* b, std::size_t n);

  // Over the elements with a finite p: the sum of g^2, in double.
  double (*squares)(const float* p, const float* g, std::size_t n);
  // One step of Adam in place; an element of p that is not finite does not change, and its moments become 0.
  void (*adam)(const AdamStep& step, float* p, const float* g, float* first, float* second, std::size_t n);
};

// The table of the set in use.
template <class T>
const Kernels<T>& kernels();

// One table for each instruction set that the program was built for.
template <class T>
const Kernels<T>& kernels_reference();
template <class T>
const Kernels<T>& kernels_plain();
template <class T>
const Kernels<T>& kernels_avx2();
template <class T>
const Kernels<T>& kernels_avx512();

}  // namespace emplace::nn
