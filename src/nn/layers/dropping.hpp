// Rectifier and dropout in place, and their backward pass: an element above 0 in the result was above 0 before, and
// kept.
#pragma once

#include <span>

#include "nn/layers/dropout.hpp"

namespace emplace::nn {

// The factor of kept elements.
double drop_scale(const Dropout& dropout);
// values = drop(relu(values)), with masks drawn from the stream.
template <class T>
void relu_drop(const Dropout& dropout, std::span<T> values);
// d_before = d_after * scale where `after` is above 0, else 0; d_before may be d_after.
template <class T>
void relu_drop_backward(T scale, std::span<const T> after, std::span<const T> d_after, std::span<T> d_before);

}  // namespace emplace::nn
