// Ops on the edges of a graph. Shapes as in layers.hpp; lists and indices must stay valid until the step ends.
#pragma once

#include <cstdint>
#include <span>

#include "emplace/problem/problem.hpp"  // Lists
#include "nn/tape/tape.hpp"

namespace emplace::nn {

// y = A x with a symmetric n x n matrix of fixed numbers: row i has `values` at the columns lists[i], both in the order
// of lists.items.
template <class T>
Var symmetric_product(Tape<T>& tape, const Lists& lists, std::span<const double> values, Var x);
// y_e = x_{a[e]} * x_{b[e]}, element by element.
template <class T>
Var product_of_rows(Tape<T>& tape, Var x, std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);
// y_r = factor_r x_r: x n x columns, factor n x 1.
template <class T>
Var scale_rows(Tape<T>& tape, Var x, Var factor);

}  // namespace emplace::nn
