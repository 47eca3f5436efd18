// All inner loops compiled for one instruction set, as a table.
#pragma once

#include "nn/kernels/cell_lanes.hpp"
#include "nn/kernels/kernels.hpp"
#include "nn/kernels/norm_lanes.hpp"
#include "nn/kernels/product_lanes.hpp"
#include "nn/kernels/row_lanes.hpp"
#include "nn/kernels/score_lanes.hpp"
#include "nn/kernels/step_lanes.hpp"

namespace emplace::nn {
namespace {

template <class T>
constexpr Kernels<T> kernel_table = {
    .packed_size = packed_size<T>,
    .pack = pack<T>,
    .product = product<T>,
    .tanh = tanh_all<T>,
    .sigmoid = sigmoid_all<T>,
    .exp_less = exp_less<T>,
    .exp_twice = exp_twice<T>,
    .softmax = softmax<T>,
    .softmax_backward = softmax_backward<T>,
    .largest_rows = largest_rows<T>,
    .largest_rows_backward = largest_rows_backward<T>,
    .sum_rows = sum_rows<T>,
    .add_column_sums = add_column_sums<T>,
    .normalize = normalize<T>,
    .normalize_backward = normalize_backward<T>,
    .combine_rows = combine_rows<T>,
    .cell = cell_row<T>,
    .cell_backward = cell_backward_row<T>,
    .scores = scores<T>,
    .scores_backward = scores_backward<T>,
    .sum = sum_all<T>,
    .largest = largest_of<T>,
    .dot = dot_all<T>,
    .squares = squares,
    .adam = adam,
};

}  // namespace
}  // namespace emplace::nn
