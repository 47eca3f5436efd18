// Functions of every element of an array.
#pragma once

#include <span>

#include "nn/layers/layers.hpp"

namespace emplace::nn {

// values = activation(values).
template <class T>
void activate_all(Activation activation, std::span<T> values);
// d_before = d_after * activation'(before), from after = activation(before); d_before may be d_after.
template <class T>
void activate_backward(Activation activation, std::span<const T> after, std::span<const T> d_after,
                       std::span<T> d_before);
// sum += values.
template <class T>
void add_all(std::span<const T> values, std::span<T> sum);
// sum += factor * values.
template <class T>
void add_scaled(T factor, std::span<const T> values, std::span<T> sum);
// sum += the sum of the rows, in order.
template <class T>
void add_rows(Matrix<const T> rows, std::span<T> sum);

}  // namespace emplace::nn
