// Layer normalisation and sums of weighted rows for one instruction set (see lanes.hpp).
#pragma once

#include "nn/kernels/cell_lanes.hpp"
#include "nn/kernels/kernels.hpp"
#include "nn/kernels/lanes.hpp"

namespace emplace::nn {
namespace {

template <class T>
void normalize(const T* x, const T* z, const T* gain, const T* bias, T epsilon, std::size_t rows, std::size_t columns,
               T* u, T* inverse, T* y) {
  const auto count = static_cast<T>(columns);
  for (std::size_t r = 0; r < rows; ++r, x += columns, u += columns, y += columns) {
    const T* in = x;
    if (z != nullptr) {
      over<T>(columns, [=](auto part, std::size_t j) { store(part, u + j, load(part, x + j) + load(part, z + j)); });
      z += columns;
      in = u;
    }
    const T mean = sum_all(in, columns) / count;
    Wide<T> squares;
    over_wide<T>(columns, [&](auto part, std::size_t j, std::size_t p) {
      Lanes<T> away = load(part, in + j) - mean;
      store(part, u + j, away);
      if constexpr (sizeof(part) == sizeof(Part)) away = load(part, u + j);  // so that lanes after the end add nothing
      squares.part[p] = fma(away, away, squares.part[p]);
    });
    const T variance = squares.total() / count + epsilon;
    T root = 0;
    if constexpr (sizeof(T) == sizeof(float))
      root = __builtin_sqrtf(variance);
    else
      root = __builtin_sqrt(variance);
    const T s = 1 / root;
    inverse[r] = s;
    over<T>(columns, [=](auto part, std::size_t j) {
      const Lanes<T> normal = load(part, u + j) * s;
      store(part, u + j, normal);
      store(part, y + j, load(part, gain + j) * normal + load(part, bias + j));
    });
  }
}

template <class T>
void normalize_backward(const T* u, const T* inverse, const T* gain, const T* after, T scale, const T* d,
                        std::size_t rows, std::size_t columns, T* du, T* dx, bool set_dx, T* dz, bool set_dz, T* d_gain,
                        T* d_bias) {
  const auto count = static_cast<T>(columns);
  const Lanes<T> zero = {};
  for (std::size_t r = 0; r < rows; ++r, u += columns, d += columns) {
    Wide<T> sum, along;
    over_wide<T>(columns, [&](auto part, std::size_t j, std::size_t p) {
      const Lanes<T> normal = load(part, u + j);
      Lanes<T> slope = load(part, d + j);
      if (after != nullptr) slope = load(part, after + j) > zero ? slope * scale : zero;
      if (d_gain != nullptr) store(part, d_gain + j, load(part, d_gain + j) + slope * normal);
      if (d_bias != nullptr) store(part, d_bias + j, load(part, d_bias + j) + slope);
      const Lanes<T> each = slope * load(part, gain + j);
      store(part, du + j, each);
      sum.part[p] += each;
      along.part[p] = fma(each, normal, along.part[p]);
    });
    const T mean = sum.total() / count, share = along.total() / count, s = inverse[r];
    over<T>(columns, [=](auto part, std::size_t j) {
      const Lanes<T> back = s * (load(part, du + j) - mean - load(part, u + j) * share);
      if (dx != nullptr) store(part, dx + j, set_dx ? back : load(part, dx + j) + back);
      if (dz != nullptr) store(part, dz + j, set_dz ? back : load(part, dz + j) + back);
    });
    if (after != nullptr) after += columns;
    if (dx != nullptr) dx += columns;
    if (dz != nullptr) dz += columns;
  }
}

template <class T>
void combine_rows(const T* x, const std::uint32_t* begin, const std::uint32_t* items, const double* values,
                  std::size_t rows, std::size_t columns, T* y, bool add) {
  constexpr std::size_t w = width<T>, together = 8;  // number of vectors of a row that are summed in registers
  for (std::size_t r = 0; r < rows; ++r, y += columns) {
    const std::size_t first = begin[r], last = begin[r + 1];
    std::size_t j = 0;
    for (; j + together * w <= columns; j += together * w) {
      Lanes<T> sum[together];
      for (std::size_t v = 0; v < together; ++v) sum[v] = add ? load(y + j + v * w) : Lanes<T>{};
      for (std::size_t i = first; i < last; ++i) {
        const Lanes<T> factor = all(static_cast<T>(values[i]));
        for (std::size_t v = 0; v < together; ++v)
          sum[v] = fma(factor, load(x + items[i] * columns + j + v * w), sum[v]);
      }
      for (std::size_t v = 0; v < together; ++v) store(y + j + v * w, sum[v]);
    }
    over<T>(columns - j, [&](auto part, std::size_t at) {
      Lanes<T> sum = add ? load(part, y + j + at) : Lanes<T>{};
      for (std::size_t i = first; i < last; ++i)
        sum = fma(all(static_cast<T>(values[i])), load(part, x + items[i] * columns + j + at), sum);
      store(part, y + j + at, sum);
    });
  }
}

}  // namespace
}  // namespace emplace::nn
