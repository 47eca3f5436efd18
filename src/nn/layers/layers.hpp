// The ops that work on rows: layers, columns, gathers, segments. Vectors are rows everywhere: a layer is x W. n is the
// number of rows; shapes are rows x columns. Every op exists for float and double. BugError if shapes do not fit.
#pragma once

#include <cstdint>
#include <span>

#include "emplace/problem/problem.hpp"  // Lists
#include "nn/tape/tape.hpp"

namespace emplace::nn {

enum class Activation : std::uint8_t { none, relu, tanh, sigmoid };

// y = activation(x W + b): x n x a, W a x b, bias 1 x b or none.
template <class T>
Var linear(Tape<T>& tape, Var x, Var weight, Var bias, Activation activation);
// x W, without a bias.
template <class T>
Var matmul(Tape<T>& tape, Var x, Var weight);
// x y^T: x n x a, y b x a.
template <class T>
Var matmul_transposed(Tape<T>& tape, Var x, Var y);
// The values of `product`, which must be x W, with a gradient by W only: for an x that an earlier step has computed.
template <class T>
Var product_of_constant(Tape<T>& tape, Var product, Var x, Var weight);
// As linear, for a weight with one column, for which the general product would compute a whole panel of columns.
template <class T>
Var project(Tape<T>& tape, Var x, Var weight, Var bias, Activation activation);
// x + y, of the same shape.
template <class T>
Var add(Tape<T>& tape, Var x, Var y);
// The row, 1 x columns, added to every row of x.
template <class T>
Var add_row(Tape<T>& tape, Var x, Var row);
template <class T>
Var scale(Tape<T>& tape, Var x, T factor);
// x y, element by element: y of the same shape, or a row (1 x columns) for every row of x.
template <class T>
Var times(Tape<T>& tape, Var x, Var y);
// n x D: the sum over k of x[r, k] features[r, d K + k], for x n x K and constant features n x (D K): scores of D
// choices, each with K features of its own in each row.
template <class T>
Var pair_scores(Tape<T>& tape, Var x, Var features);
template <class T>
Var activate(Tape<T>& tape, Var x, Activation activation);
// y = c tanh(x / temperature): bounds logits to (-c, c) (Mirhoseini et al. 2018; Bello et al. 2016).
template <class T>
Var squash(Tape<T>& tape, Var x, T c, T temperature);
// The same in place, without a tape.
template <class T>
void squash_all(T c, T temperature, std::span<T> values);

template <class T>
Var concat_columns(Tape<T>& tape, std::span<const Var> parts);
template <class T>
Var slice_columns(Tape<T>& tape, Var x, std::size_t begin, std::size_t count);
// The result is a view; nothing is copied.
template <class T>
Var slice_rows(Tape<T>& tape, Var x, std::size_t begin, std::size_t count) {
  return tape.rows(x, begin, count);
}
// Row i of the result is row index[i] of the table: embeddings, gathers, and copies of one row for several samples.
// `index` must stay valid until the step ends.
template <class T>
Var gather_rows(Tape<T>& tape, Var table, std::span<const std::uint32_t> index);

// Row r of the result is the sum (mean, largest) of the rows lists[r] of x; an empty list gives zeros. `lists` must
// stay valid until the step ends. max: of equal elements the first in the list gets the gradient.
template <class T>
Var segment_sum(Tape<T>& tape, Var x, const Lists& lists);
template <class T>
Var segment_mean(Tape<T>& tape, Var x, const Lists& lists);
template <class T>
Var segment_max(Tape<T>& tape, Var x, const Lists& lists);

// y = gain (x - mean) / sqrt(variance + epsilon) + bias over each row, the variance divided by the number of columns
// (Ba et al. 2016); gain and bias are 1 x columns.
template <class T>
Var layer_norm(Tape<T>& tape, Var x, Var gain, Var bias, T epsilon);
// The same of x + z, of the same shape.
template <class T>
Var add_norm(Tape<T>& tape, Var x, Var z, Var gain, Var bias, T epsilon);
// y = x + x W + b: x n x a, W a x a, bias 1 x a.
template <class T>
Var residual_linear(Tape<T>& tape, Var x, Var weight, Var bias);

}  // namespace emplace::nn
