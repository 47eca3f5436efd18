// Functions of every element and the LSTM's cell for one instruction set (see lanes.hpp). The formulas are in
// lstm_cell.hpp.
#pragma once

#include "nn/kernels/kernels.hpp"
#include "nn/kernels/lanes.hpp"

namespace emplace::nn {
namespace {

template <class T>
void tanh_all(T* values, std::size_t n) {
  over<T>(n, [=](auto part, std::size_t i) { store(part, values + i, tanh<T>(load(part, values + i))); });
}

template <class T>
void sigmoid_all(T* values, std::size_t n) {
  over<T>(n, [=](auto part, std::size_t i) { store(part, values + i, sigmoid<T>(load(part, values + i))); });
}

template <class T>
void exp_less(const T* values, T offset, T* out, std::size_t n) {
  over<T>(n, [=](auto part, std::size_t i) { store(part, out + i, exp<T>(load(part, values + i) - offset)); });
}

template <class T>
void exp_twice(const T* values, T* out, std::size_t n) {
  over<T>(n, [=](auto part, std::size_t i) { store(part, out + i, exp<T>(T{2} * load(part, values + i))); });
}

template <class T>
T sum_all(const T* values, std::size_t n) {
  Wide<T> sum;
  over_wide<T>(n, [&](auto part, std::size_t i, std::size_t p) { sum.part[p] += load(part, values + i); });
  return sum.total();
}

template <class T>
T largest_of(const T* values, std::size_t n) {
  const auto larger = [](Lanes<T> a, Lanes<T> b) { return a > b ? a : b; };
  Lanes<T> largest = all(values[0]);
  std::size_t i = 0;
  for (; i + width<T> <= n; i += width<T>) largest = larger(load(values + i), largest);
  T best = across<T>(largest, larger);
  for (; i < n; ++i) best = values[i] > best ? values[i] : best;
  return best;
}

template <class T>
T dot_all(const T* a, const T* b, std::size_t n) {
  Wide<T> sum;
  over_wide<T>(n, [&](auto part, std::size_t i, std::size_t p) {
    sum.part[p] = fma(load(part, a + i), load(part, b + i), sum.part[p]);
  });
  return sum.total();
}

template <class T>
void cell_row(T* gates, const T* before, T* cell, T* squashed, T* hidden, std::size_t h) {
  over<T>(h, [=](auto part, std::size_t j) {
    T* const z = gates + j;
    const Lanes<T> i = sigmoid<T>(load(part, z)), f = sigmoid<T>(load(part, z + h));
    const Lanes<T> o = sigmoid<T>(load(part, z + 2 * h)), g = tanh<T>(load(part, z + 3 * h));
    const Lanes<T> kept = before == nullptr ? Lanes<T>{} : f * load(part, before + j);
    const Lanes<T> c = fma(i, g, kept), s = tanh<T>(c);
    store(part, z, i);
    store(part, z + h, f);
    store(part, z + 2 * h, o);
    store(part, z + 3 * h, g);
    store(part, cell + j, c);
    store(part, squashed + j, s);
    store(part, hidden + j, o * s);
  });
}

template <class T>
void cell_backward_row(const T* gates, const T* before, const T* squashed, const T* d_hidden, T* d_gates, T* d_cell,
                       std::size_t h) {
  over<T>(h, [=](auto part, std::size_t j) {
    const T* const z = gates + j;
    T* const dz = d_gates + j;
    const Lanes<T> i = load(part, z), f = load(part, z + h), o = load(part, z + 2 * h), g = load(part, z + 3 * h);
    const Lanes<T> s = load(part, squashed + j), dh = load(part, d_hidden + j);
    const Lanes<T> dc = load(part, d_cell + j) + dh * o * (T{1} - s * s);
    const Lanes<T> c = before == nullptr ? Lanes<T>{} : load(part, before + j);
    store(part, dz, dc * g * (i * (T{1} - i)));
    store(part, dz + h, dc * c * (f * (T{1} - f)));
    store(part, dz + 2 * h, dh * s * (o * (T{1} - o)));
    store(part, dz + 3 * h, dc * i * (T{1} - g * g));
    store(part, d_cell + j, dc * f);
  });
}

}  // namespace
}  // namespace emplace::nn
