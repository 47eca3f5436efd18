// The matrix product for one instruction set (see lanes.hpp). The right matrix is packed into panels of two vectors of
// columns, k rows each; a tile of some rows and panels stays in registers while the loop runs over all k. Every element
// is one chain of fused multiply-adds in the order of k, for every choice of tiles.
#pragma once

#include <utility>

#include "nn/kernels/kernels.hpp"
#include "nn/kernels/lanes.hpp"

// Unrolls the loops of a tile, so that all its sums stay in registers.
#define EMPLACE_UNROLL _Pragma("GCC unroll 16")

namespace emplace::nn {
namespace {

template <class T>
inline constexpr std::size_t panel = 2 * width<T>;  // columns

// The largest number of rows of a tile, and the number of panels for a number of rows: there are enough accumulators to
// hide the latency of the multiply-adds, but not more than registers.
#if defined(__AVX512F__)
inline constexpr std::size_t tile_rows = 12;
constexpr std::size_t panels_of(std::size_t rows) { return rows <= 2 ? 4 : rows <= 4 ? 2 : 1; }
#elif defined(__AVX2__)
inline constexpr std::size_t tile_rows = 6;
constexpr std::size_t panels_of(std::size_t rows) { return rows == 1 ? 4 : rows <= 3 ? 2 : 1; }
#else
inline constexpr std::size_t tile_rows = 4;
constexpr std::size_t panels_of(std::size_t rows) { return rows == 1 ? 2 : 1; }
#endif
// Number of rows of the left matrix in a block that fits in the L2 cache.
inline constexpr std::size_t block_rows = 192;

template <class T>
std::size_t packed_size(std::size_t k, std::size_t n) {
  return (n + panel<T> - 1) / panel<T> * panel<T> * k;
}

// The vector a0 b0 a1 b1 ... of the lower (0) or the upper half of the lanes.
template <std::size_t half, class V, std::size_t... i>
inline V zipped(V a, V b, std::index_sequence<i...>) {
  constexpr std::size_t n = sizeof...(i);
  return __builtin_shufflevector(a, b, (i % 2 * n + half * n / 2 + i / 2)...);
}

// Exchanges lane j of vector i with lane i of vector j, by zipping vectors i and i + n / 2, log2 n times.
template <class T>
inline void transpose(Lanes<T> (&v)[width<T>]) {
  constexpr std::size_t n = width<T>;
  constexpr auto lanes = std::make_index_sequence<n>();
  EMPLACE_UNROLL for (std::size_t times = 1; times < n; times *= 2) {
    Lanes<T> next[n];
    EMPLACE_UNROLL for (std::size_t i = 0; i < n / 2; ++i) {
      next[2 * i] = zipped<0>(v[i], v[i + n / 2], lanes);
      next[2 * i + 1] = zipped<1>(v[i], v[i + n / 2], lanes);
    }
    EMPLACE_UNROLL for (std::size_t i = 0; i < n; ++i) v[i] = next[i];
  }
}

template <class T>
void pack(KernelMatrix<T> b, std::size_t k, std::size_t n, T* packed) {
  for (std::size_t begin = 0; begin < n; begin += panel<T>, packed += k * panel<T>) {
    const std::size_t columns = n - begin < panel<T> ? n - begin : panel<T>;
    const T* const from = b.data + begin * b.column_step;
    if (columns < panel<T>)
      for (std::size_t i = 0; i < k * panel<T>; ++i) packed[i] = 0;
    if (b.column_step != 1) {
      std::size_t begin_i = 0;
      if (columns == panel<T> && b.row_step == 1)
        for (; begin_i + width<T> <= k; begin_i += width<T>)
          for (std::size_t j = 0; j < panel<T>; j += width<T>) {
            Lanes<T> block[width<T>];
            EMPLACE_UNROLL for (std::size_t l = 0; l < width<T>; ++l) block[l] =
                load(from + (j + l) * b.column_step + begin_i);
            transpose<T>(block);
            EMPLACE_UNROLL for (std::size_t l = 0; l < width<T>; ++l)
                store(packed + (begin_i + l) * panel<T> + j, block[l]);
          }
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t i = begin_i; i < k; ++i) packed[i * panel<T> + j] = from[j * b.column_step + i * b.row_step];
    } else if (columns == panel<T>) {
      // Rows are far apart in memory, so the processor does not prefetch them itself.
      constexpr std::size_t ahead = 8;
      for (std::size_t i = 0; i < k; ++i) {
        if (i + ahead < k) {
          __builtin_prefetch(from + (i + ahead) * b.row_step);
          __builtin_prefetch(from + (i + ahead) * b.row_step + width<T>);
        }
        store(packed + i * panel<T>, load(from + i * b.row_step));
        store(packed + i * panel<T> + width<T>, load(from + i * b.row_step + width<T>));
      }
    } else {
      for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j < columns; ++j) packed[i * panel<T> + j] = from[i * b.row_step + j];
    }
  }
}

// Computes one tile. `step` is the distance between rows of the left matrix (by_rows) or between its columns. The
// results, `columns` in each row, are stored in c, with rows c_step apart. Last is Part if they end within a vector.
template <class T, std::size_t rows, std::size_t vectors, bool by_rows, class Last>
void tile(const T* a, std::size_t step, std::size_t k, const T* packed, T* c, std::size_t c_step, bool add,
          std::size_t columns) {
  constexpr std::size_t w = width<T>, whole = vectors - 1;
  const Last last{columns - whole * w};
  Lanes<T> sums[rows][vectors];
  if (add) {
    EMPLACE_UNROLL for (std::size_t i = 0; i < rows; ++i) {
      EMPLACE_UNROLL for (std::size_t v = 0; v < whole; ++v) sums[i][v] = load(c + i * c_step + v * w);
      sums[i][whole] = load(last, c + i * c_step + whole * w);
    }
  } else {
    EMPLACE_UNROLL for (std::size_t i = 0; i < rows; ++i) EMPLACE_UNROLL for (std::size_t v = 0; v < vectors; ++v)
        sums[i][v] = Lanes<T>{};
  }
  const std::size_t panel_step = k * panel<T>;
  for (std::size_t at = 0; at < k; ++at, packed += panel<T>) {
    Lanes<T> b[vectors];
    EMPLACE_UNROLL for (std::size_t v = 0; v < vectors; ++v) b[v] = load(packed + v / 2 * panel_step + v % 2 * w);
    EMPLACE_UNROLL for (std::size_t i = 0; i < rows; ++i) {
      const Lanes<T> left = all(by_rows ? a[i * step + at] : a[at * step + i]);
      EMPLACE_UNROLL for (std::size_t v = 0; v < vectors; ++v) sums[i][v] = fma(left, b[v], sums[i][v]);
    }
  }
  EMPLACE_UNROLL for (std::size_t i = 0; i < rows; ++i) {
    EMPLACE_UNROLL for (std::size_t v = 0; v < whole; ++v) store(c + i * c_step + v * w, sums[i][v]);
    store(last, c + i * c_step + whole * w, sums[i][whole]);
  }
}

template <class T>
using Tile = void (*)(const T*, std::size_t, std::size_t, const T*, T*, std::size_t, bool, std::size_t);

// The functions for tiles of 1 to tile_rows rows: with panels_of(rows) panels, with one, and with what a narrower last
// panel has, which is one vector and a part of the second, or a part of the first.
template <class T, bool by_rows>
struct Tiles {
  Tile<T> many[tile_rows + 1] = {}, one[tile_rows + 1] = {}, wide_rest[tile_rows + 1] = {}, rest[tile_rows + 1] = {};
  constexpr Tiles() { fill<1>(); }
  [[nodiscard]] constexpr const Tile<T>* of(std::size_t columns) const {
    if (columns > panel<T>) return many;
    if (columns == panel<T>) return one;
    return columns > width<T> ? wide_rest : rest;
  }
  template <std::size_t rows>
  constexpr void fill() {
    many[rows] = tile<T, rows, 2 * panels_of(rows), by_rows, Full>;
    one[rows] = tile<T, rows, 2, by_rows, Full>;
    wide_rest[rows] = tile<T, rows, 2, by_rows, Part>;
    rest[rows] = tile<T, rows, 1, by_rows, Part>;
    if constexpr (rows < tile_rows) fill<rows + 1>();
  }
};
template <class T, bool by_rows>
constexpr Tiles<T, by_rows> tiles;

template <class T, bool by_rows>
void product_of(const T* a, std::size_t step, std::size_t m, std::size_t k, const T* packed, std::size_t n, T* c,
                std::size_t c_step, bool add, bool backwards) {
  const std::size_t panels = (n + panel<T> - 1) / panel<T>;
  std::size_t begins[block_rows / tile_rows + 1] = {};  // first rows of the block's tiles, the same for all panels
  const auto row = [=](std::size_t i) { return by_rows ? a + i * step : a + i; };
  const Tiles<T, by_rows>& kinds = tiles<T, by_rows>;
  for (std::size_t block = 0; block < m; block += block_rows) {
    const std::size_t rows = m - block < block_rows ? m - block : block_rows;
    // All tiles have nearly the same number of rows: a small one at the end would waste registers.
    const std::size_t count = (rows + tile_rows - 1) / tile_rows;
    const std::size_t group = panels_of(count == 1 ? rows : tile_rows);
    const std::size_t groups = (panels + group - 1) / group;
    for (std::size_t t = 0; t < count; ++t) begins[t + 1] = rows * (t + 1) / count;
    for (std::size_t g = 0; g < groups; ++g) {
      const std::size_t first = (backwards ? groups - 1 - g : g) * group;
      const bool many = group > 1 && (first + group) * panel<T> <= n;
      for (std::size_t p = first; p < panels && p < first + group; p += many ? group : 1) {
        const std::size_t last = many ? p + group : p + 1;
        const std::size_t columns = last == panels ? n - p * panel<T> : (last - p) * panel<T>;
        const Tile<T>* const kind = kinds.of(columns);
        for (std::size_t t = 0; t < count; ++t) {
          const std::size_t begin = block + begins[t], height = begins[t + 1] - begins[t];
          kind[height](row(begin), step, k, packed + p * k * panel<T>, c + begin * c_step + p * panel<T>, c_step, add,
                       columns);
        }
      }
    }
  }
}

template <class T>
void product(KernelMatrix<T> a, std::size_t m, std::size_t k, const T* packed, std::size_t n, T* c, std::size_t c_step,
             bool add, bool backwards) {
  if (a.column_step == 1)
    product_of<T, true>(a.data, a.row_step, m, k, packed, n, c, c_step, add, backwards);
  else
    product_of<T, false>(a.data, a.column_step, m, k, packed, n, c, c_step, add, backwards);
}

}  // namespace
}  // namespace emplace::nn

#undef EMPLACE_UNROLL
