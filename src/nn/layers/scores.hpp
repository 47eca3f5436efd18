// The scores of content-based attention, u_{t,i} = tanh(key_i + query_t) v, and their gradients. As
//   tanh(a + b) = 1 - 2 r with r = 1 / (1 + e^{2a} e^{2b})
// exponentials are computed once for each key and each query, and a pair costs a product, a sum and a division. If |a|
// or |b| is above 20 the product could overflow, so for these pairs e^{2 (a + b)} is computed directly.
#pragma once

#include "nn/tape/tape.hpp"

namespace emplace::nn {

// Keys or queries, n x A.
template <class T>
struct Side {
  Matrix<const T> raw;
  Matrix<T> exponential;          // e^{2 raw}; not used in large rows
  std::span<std::uint8_t> large;  // n: 1 if an element of the row is above the limit
};

// Allocates memory for the rest of the step; values are not set.
template <class T>
Side<T> make_side(Tape<T>& tape, std::size_t rows, std::size_t columns);
// Sets `raw` and computes its exponentials.
template <class T>
void set_side(Side<T>& side, Matrix<const T> raw);

// scores n x M.
template <class T>
void attention_scores(const Side<T>& queries, const Side<T>& keys, const T* v, Matrix<T> scores);

// Adds the gradients of d_scores to d_queries (n x A), d_keys (M x A, or null) and d_v (A, or null):
//   d = d_u v 4 r (1 - r) for both sides, and d_u (1 - 2 r) for v
template <class T>
void attention_scores_backward(const Side<T>& queries, const Side<T>& keys, const T* v, Matrix<const T> d_scores,
                               Matrix<T> d_queries, Matrix<T> d_keys, T* d_v);

// Replaces every row by its softmax.
template <class T>
void softmax_rows(Matrix<T> rows);
// d_rows = a (d - sum_i a_i d_i) in each row, for the softmax a; d_rows may be d.
template <class T>
void softmax_rows_backward(Matrix<const T> a, Matrix<const T> d, Matrix<T> d_rows);

}  // namespace emplace::nn
