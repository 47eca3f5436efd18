// Softmax of a row, and the largest and the sum of several rows, for one instruction set (see lanes.hpp).
#pragma once

#include "nn/kernels/kernels.hpp"
#include "nn/kernels/lanes.hpp"

namespace emplace::nn {
namespace {

template <class T>
SoftmaxSums<T> softmax(const T* scores, const std::uint8_t* allowed, T* p, std::size_t n) {
  const T* in = scores;
  if (allowed != nullptr) {
    for (std::size_t i = 0; i < n; ++i) p[i] = allowed[i] != 0 ? scores[i] : -__builtin_inf();
    in = p;
  }
  const T largest = largest_of(in, n);
  Wide<T> sum, along;
  const Lanes<T> zero = {};
  over_wide<T>(n, [&](auto part, std::size_t i, std::size_t at) {
    const Lanes<T> below = load(part, in + i) - largest;
    Lanes<T> e = exp<T>(below);
    store(part, p + i, e);
    if constexpr (sizeof(part) == sizeof(Part)) {
      // So that lanes after the end add nothing.
      e = load(part, p + i);
    }
    sum.part[at] += e;
    along.part[at] += e > zero ? e * below : zero;
  });
  return {largest, sum.double_total(), along.double_total()};
}

template <class T>
void softmax_backward(const T* scores, const T* p, T shift, T offset, T weight, T* d, std::size_t n) {
  const Lanes<T> zero = {};
  over<T>(n, [=](auto part, std::size_t i) {
    const Lanes<T> probability = load(part, p + i);
    const Lanes<T> change = probability * fma(all(weight), load(part, scores + i) - shift, all(offset));
    store(part, d + i, load(part, d + i) - (probability > zero ? change : zero));
  });
}

// Prefetches a row of x, or of d_x that will be written.
template <class T>
inline void prefetch(const T* row, std::size_t columns) {
  for (std::size_t j = 0; j < columns; j += 64 / sizeof(T)) __builtin_prefetch(row + j);
}
// How many rows ahead are prefetched: rows are far apart, so the processor does not prefetch them itself.
inline constexpr std::size_t ahead = 12;

template <class T>
void largest_rows(const T* x, const std::uint32_t* begin, const std::uint32_t* items, std::size_t lists,
                  std::size_t columns, T* out) {
  constexpr std::size_t w = width<T>, together = 8;  // number of vectors of a row that are processed together
  const std::size_t end = begin[lists];
  for (std::size_t r = 0; r < lists; ++r, out += columns) {
    const std::size_t first = begin[r], last = begin[r + 1];
    for (std::size_t i = first + ahead; i < last + ahead && i < end; ++i) prefetch(x + items[i] * columns, columns);
    if (first == last) {
      for (std::size_t j = 0; j < columns; ++j) out[j] = 0;
      continue;
    }
    std::size_t j = 0;
    for (; j + together * w <= columns; j += together * w) {
      Lanes<T> best[together];
      for (std::size_t v = 0; v < together; ++v) best[v] = load(x + items[first] * columns + j + v * w);
      for (std::size_t i = first + 1; i < last; ++i)
        for (std::size_t v = 0; v < together; ++v) {
          const Lanes<T> next = load(x + items[i] * columns + j + v * w);
          best[v] = next > best[v] ? next : best[v];
        }
      for (std::size_t v = 0; v < together; ++v) store(out + j + v * w, best[v]);
    }
    over<T>(columns - j, [&](auto part, std::size_t at) {
      Lanes<T> best = load(part, x + items[first] * columns + j + at);
      for (std::size_t i = first + 1; i < last; ++i) {
        const Lanes<T> next = load(part, x + items[i] * columns + j + at);
        best = next > best ? next : best;
      }
      store(part, out + j + at, best);
    });
  }
}

template <class T>
void sum_rows(const T* x, const std::uint32_t* begin, const std::uint32_t* items, std::size_t lists,
              std::size_t columns, T* out) {
  for (std::size_t r = 0; r < lists; ++r, out += columns)
    over<T>(columns, [&](auto part, std::size_t j) {
      Lanes<T> sum = {};
      for (std::size_t i = begin[r]; i < begin[r + 1]; ++i) sum += load(part, x + items[i] * columns + j);
      store(part, out + j, sum);
    });
}

template <class T>
void add_column_sums(const T* x, std::size_t step, std::size_t rows, std::size_t columns, T* sums) {
  over<T>(columns, [&](auto part, std::size_t j) {
    Lanes<T> sum = load(part, sums + j);
    for (std::size_t r = 0; r < rows; ++r) sum += load(part, x + r * step + j);
    store(part, sums + j, sum);
  });
}

template <class T>
void largest_rows_backward(const T* x, const std::uint32_t* begin, const std::uint32_t* items, std::size_t lists,
                           std::size_t columns, const T* out, const T* d_out, T* d_x) {
  const Lanes<T> zero = {};
  const std::size_t end = begin[lists];
  for (std::size_t r = 0; r < lists; ++r, out += columns, d_out += columns) {
    const std::size_t first = begin[r], last = begin[r + 1];
    for (std::size_t i = first + ahead; i < last + ahead && i < end; ++i) {
      prefetch(x + items[i] * columns, columns);
      prefetch(d_x + items[i] * columns, columns);
    }
    over<T>(columns, [&](auto part, std::size_t j) {
      const Lanes<T> best = load(part, out + j);
      Lanes<T> rest = load(part, d_out + j);  // becomes 0 once a row has got it
      for (std::size_t i = first; i < last; ++i) {
        const std::size_t at = items[i] * columns + j;
        const auto taken = load(part, x + at) == best;
        store(part, d_x + at, load(part, d_x + at) + (taken ? rest : zero));
        rest = taken ? zero : rest;
      }
    });
  }
}

}  // namespace
}  // namespace emplace::nn
