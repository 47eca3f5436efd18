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
// y_i = the sum over j in lists[i] of a_ij x_j, where a_i is the softmax over these j of LeakyReLU(s_i0 + s_j1), with
// slope 0.2 below 0: one head of graph attention (Velickovic et al. 2018, equations 1 to 4), for values that are
// transformed before or afterwards. x is n x columns with columns > 0, scores n x 2; an empty list gives zeros.
template <class T>
Var neighbour_attention(Tape<T>& tape, Var x, Var scores, const Lists& lists);
// y_e = x_{a[e]} * x_{b[e]}, element by element.
template <class T>
Var product_of_rows(Tape<T>& tape, Var x, std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);
// y_r = factor_r x_r: x n x columns, factor n x 1.
template <class T>
Var scale_rows(Tape<T>& tape, Var x, Var factor);

}  // namespace emplace::nn
