// The scores of content-based attention, u_{t,i} = tanh(key_i + query_t) v, and their gradients. As
//   tanh(a + b) = 1 - 2 r with r = 1 / (1 + e^{2a} e^{2b})
// the exponentials are taken once for each key and each query, and a pair costs a product, a sum and a division. Where
// |a| or |b| is above 20 the product could overflow: these pairs take e^{2 (a + b)} themselves.
#pragma once

#include "nn/tape/tape.hpp"

namespace emplace::nn {

// Keys or queries, n x A.
template <class T>
struct Side {
  Matrix<const T> raw;
  Matrix<T> exponential;          // e^{2 raw}; not used in large rows
  std::span<std::uint8_t> large;  // n: an element is beyond the limit
};

// Memory for the rest of the step, without values.
template <class T>
Side<T> make_side(Tape<T>& tape, std::size_t rows, std::size_t columns);
// Computes the exponentials of raw.
template <class T>
void set_side(Side<T>& side, Matrix<const T> raw);

// scores n x M.
template <class T>
void attention_scores(const Side<T>& queries, const Side<T>& keys, const T* v, Matrix<T> scores);

// Adds to d_queries (n x A), d_keys (M x A, or null) and d_v (A, or null) what d_scores mean for them:
//   d = d_u v 4 r (1 - r) for both sides, and d_u (1 - 2 r) for v
template <class T>
void attention_scores_backward(const Side<T>& queries, const Side<T>& keys, const T* v, Matrix<const T> d_scores,
                               Matrix<T> d_queries, Matrix<T> d_keys, T* d_v);

// Every row becomes its softmax.
template <class T>
void softmax_rows(Matrix<T> rows);
// d_rows = a (d - sum_i a_i d_i) in each row, for the softmax a; d_rows may be d.
template <class T>
void softmax_rows_backward(Matrix<const T> a, Matrix<const T> d, Matrix<T> d_rows);

}  // namespace emplace::nn
