// Vectors of doubles for the kernels of the batch engine: 8 lanes with AVX-512, else 4 in the compiler's portable
// vectors. Only for files that are compiled for one instruction set each: everything here is private to the file.
#pragma once

#include <cstdint>

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

namespace emplace::simulate::batch {
namespace {

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)

inline constexpr unsigned width = 8;
using Vector = __m512d;
using Mask = __mmask8;
using Index = __m512i;

inline Vector load(const double* p) { return _mm512_load_pd(p); }
inline void store(double* p, Vector v) { _mm512_store_pd(p, v); }
inline Vector all(double x) { return _mm512_set1_pd(x); }
inline Vector add(Vector a, Vector b) { return _mm512_add_pd(a, b); }
inline Vector larger(Vector a, Vector b) { return _mm512_max_pd(a, b); }
inline Vector choose(Mask m, Vector yes, Vector no) { return _mm512_mask_blend_pd(m, no, yes); }
// Masks from bits, the first lane's bit being the lowest: from a number, or from memory.
inline Mask mask_of(std::uint64_t bits, unsigned) { return static_cast<Mask>(bits); }
inline Mask mask_at(const std::uint8_t* bits, unsigned) { return _load_mask8(const_cast<Mask*>(bits)); }
inline Index devices_of(const std::uint8_t* p) {
  return _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline Index every(std::int64_t x) { return _mm512_set1_epi64(x); }
inline Index lane_numbers() { return _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0); }
inline Index plus(Index a, Index b) { return _mm512_add_epi64(a, b); }
inline Index times(Index a, unsigned b) { return _mm512_mullo_epi64(a, _mm512_set1_epi64(b)); }
inline Mask equal(Index a, Index b) { return _mm512_cmpeq_epi64_mask(a, b); }
inline Mask both(Mask a, Mask b) { return a & b; }
inline Mask either(Mask a, Mask b) { return a | b; }
inline Mask without(Mask a, Mask b) { return static_cast<Mask>(a & ~b); }
inline Mask no_lanes() { return 0; }
// Sets of positions below 64.
inline Index no_set() { return _mm512_setzero_si512(); }
inline Index with(Index set, Index position) {
  return _mm512_or_si512(set, _mm512_sllv_epi64(_mm512_set1_epi64(1), position));
}
inline Mask contains(Index set, Index position) {
  return _mm512_test_epi64_mask(set, _mm512_sllv_epi64(_mm512_set1_epi64(1), position));
}
inline Mask as_mask(Index i) { return _mm512_movepi64_mask(i); }
inline void store(std::int64_t* p, Index i) { _mm512_store_si512(p, i); }
inline Index load(const std::int64_t* p) { return _mm512_load_si512(p); }
// row[i] of a row of 8.
inline Vector look_up(const double* row, Index i) { return _mm512_permutexvar_pd(i, _mm512_loadu_pd(row)); }

#else

#if defined(__AVX2__)
inline constexpr unsigned width = 4;
#else
inline constexpr unsigned width = 2;
#endif
using Vector = double __attribute__((vector_size(8 * width)));
using Index = std::int64_t __attribute__((vector_size(8 * width)));
using Mask = Index;  // all bits of a lane are set, or none

inline Vector load(const double* p) { return *reinterpret_cast<const Vector*>(p); }
inline void store(double* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
inline Index load(const std::int64_t* p) { return *reinterpret_cast<const Index*>(p); }
inline void store(std::int64_t* p, Index i) { *reinterpret_cast<Index*>(p) = i; }
inline Vector all(double x) { return x - Vector{}; }
inline Index every(std::int64_t x) { return x - Index{}; }
inline Vector add(Vector a, Vector b) { return a + b; }
#if defined(__AVX2__)
inline Vector larger(Vector a, Vector b) { return _mm256_max_pd(a, b); }
inline Vector choose(Mask m, Vector yes, Vector no) { return _mm256_blendv_pd(no, yes, reinterpret_cast<Vector>(m)); }
#else
inline Vector choose(Mask m, Vector yes, Vector no) {
  return reinterpret_cast<Vector>((reinterpret_cast<Index>(yes) & m) | (reinterpret_cast<Index>(no) & ~m));
}
#if defined(__SSE2__)
inline Vector larger(Vector a, Vector b) { return _mm_max_pd(a, b); }
#else
inline Vector larger(Vector a, Vector b) { return choose(a > b, a, b); }
#endif
#endif
struct MaskTable {
  constexpr MaskTable() {
    for (unsigned bits = 0; bits < 1 << width; ++bits)
      for (unsigned lane = 0; lane < width; ++lane) of[bits][lane] = -static_cast<std::int64_t>(bits >> lane & 1);
  }
  alignas(8 * width) std::int64_t of[1 << width][width] = {};
};
inline constexpr MaskTable mask_table;
inline Mask mask_of(std::uint64_t bits, unsigned first) {
  return load(mask_table.of[bits >> first % 8 & ((1 << width) - 1)]);
}
inline Mask mask_at(const std::uint8_t* bits, unsigned first) { return mask_of(*bits, first); }
// Lane i gets f(i).
template <class F>
inline Index in_lanes(F&& f) {
  Index result{};
  for (unsigned lane = 0; lane < width; ++lane) result[lane] = f(lane);
  return result;
}
inline Index devices_of(const std::uint8_t* p) {
  return in_lanes([p](unsigned lane) { return p[lane]; });
}
inline Index lane_numbers() {
  return in_lanes([](unsigned lane) { return lane; });
}
inline Index plus(Index a, Index b) { return a + b; }
inline Index times(Index a, unsigned b) { return a * static_cast<std::int64_t>(b); }
inline Mask equal(Index a, Index b) { return a == b; }
inline Mask both(Mask a, Mask b) { return a & b; }
inline Mask either(Mask a, Mask b) { return a | b; }
inline Mask without(Mask a, Mask b) { return a & ~b; }
inline Mask no_lanes() { return Mask{}; }
inline Index no_set() { return Index{}; }
inline Index with(Index set, Index position) { return set | every(1) << position; }
inline Mask contains(Index set, Index position) { return (set >> position & 1) == 1; }
inline Mask as_mask(Index i) { return i; }
inline Vector look_up(const double* row, Index i) {
  Vector result{};
  for (unsigned lane = 0; lane < width; ++lane) result[lane] = row[i[lane]];
  return result;
}

#endif

// The position that each lane reads or writes. Single loads and stores are faster than the gather instructions.
struct Places {
  explicit Places(Index index) { store(at, index); }
  alignas(8 * width) std::int64_t at[width];
};
inline Vector gather(const double* p, const Places& places) {
  alignas(8 * width) double values[width];
  for (unsigned lane = 0; lane < width; ++lane) values[lane] = p[places.at[lane]];
  return load(values);
}
inline Index gather(const std::int64_t* p, const Places& places) {
  alignas(8 * width) std::int64_t values[width];
  for (unsigned lane = 0; lane < width; ++lane) values[lane] = p[places.at[lane]];
  return load(values);
}
inline void scatter(double* p, const Places& places, Vector v) {
  alignas(8 * width) double values[width];
  store(values, v);
  for (unsigned lane = 0; lane < width; ++lane) p[places.at[lane]] = values[lane];
}

}  // namespace
}  // namespace emplace::simulate::batch
