// Vectors of doubles for the kernels of the batch engine: 8 lanes with AVX-512, else 4 in the compiler's own vectors.
// Only for files that are compiled for one instruction set each: everything here is private to the file.
#pragma once

#include <cstdint>

#if defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

namespace emplace::batch {
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
// The lanes first .. first + width of device d in a word of View::where.
inline Mask lanes_on(const std::uint64_t* word, unsigned d, unsigned first) {
  return reinterpret_cast<const std::uint8_t*>(word)[2 * d + first / 8];
}
inline Mask lanes_on(std::uint64_t word, unsigned d, unsigned first) {
  return static_cast<Mask>(word >> (16 * d + first));
}
inline Index devices_of(const std::uint8_t* p) {
  return _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
inline Index lane_numbers() { return _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0); }
inline Index plus(Index a, Index b) { return _mm512_add_epi64(a, b); }
inline Index times(Index a, unsigned b) { return _mm512_mullo_epi64(a, _mm512_set1_epi64(b)); }
inline Mask equal(Index a, Index b) { return _mm512_cmpeq_epi64_mask(a, b); }
inline Mask both(Mask a, Mask b) { return a & b; }
// Sets of positions below 64.
inline Index no_set() { return _mm512_setzero_si512(); }
inline Index with(Index set, Index position) {
  return _mm512_or_si512(set, _mm512_sllv_epi64(_mm512_set1_epi64(1), position));
}
inline Mask contains(Index set, Index position) {
  return _mm512_test_epi64_mask(set, _mm512_sllv_epi64(_mm512_set1_epi64(1), position));
}
inline Index gather(const std::int64_t* p, Index i) { return _mm512_i64gather_epi64(i, p, 8); }
inline Mask as_mask(Index i) { return _mm512_movepi64_mask(i); }
inline Vector gather(const double* p, Index i) { return _mm512_i64gather_pd(i, p, 8); }
inline void scatter(double* p, Index i, Vector v) { _mm512_i64scatter_pd(p, i, v, 8); }

#else

inline constexpr unsigned width = 4;
using Vector = double __attribute__((vector_size(32)));
using Index = std::int64_t __attribute__((vector_size(32)));
using Mask = Index;  // all bits of a lane, or none

inline Vector load(const double* p) { return *reinterpret_cast<const Vector*>(p); }
inline void store(double* p, Vector v) { *reinterpret_cast<Vector*>(p) = v; }
inline Vector all(double x) { return Vector{x, x, x, x}; }
inline Vector add(Vector a, Vector b) { return a + b; }
#if defined(__AVX2__)
inline Vector larger(Vector a, Vector b) { return _mm256_max_pd(a, b); }
inline Vector choose(Mask m, Vector yes, Vector no) { return _mm256_blendv_pd(no, yes, reinterpret_cast<Vector>(m)); }
#else
inline Vector larger(Vector a, Vector b) { return a > b ? a : b; }
inline Vector choose(Mask m, Vector yes, Vector no) {
  return reinterpret_cast<Vector>((reinterpret_cast<Index>(yes) & m) | (reinterpret_cast<Index>(no) & ~m));
}
#endif
inline Mask lanes_on(std::uint64_t word, unsigned d, unsigned first) {
  using Bits = std::uint64_t __attribute__((vector_size(32)));
  const std::uint64_t bit = std::uint64_t{1} << (16 * d + first);
  const Bits bits = {bit, bit << 1, bit << 2, bit << 3};
  return (Bits{word, word, word, word} & bits) == bits;
}
inline Mask lanes_on(const std::uint64_t* word, unsigned d, unsigned first) { return lanes_on(*word, d, first); }
inline Index devices_of(const std::uint8_t* p) { return Index{p[0], p[1], p[2], p[3]}; }
inline Index lane_numbers() { return Index{0, 1, 2, 3}; }
inline Index plus(Index a, Index b) { return a + b; }
inline Index times(Index a, unsigned b) { return a * static_cast<std::int64_t>(b); }
inline Mask equal(Index a, Index b) { return a == b; }
inline Mask both(Mask a, Mask b) { return a & b; }
inline Index no_set() { return Index{}; }
inline Index with(Index set, Index position) { return set | (Index{1, 1, 1, 1} << position); }
inline Mask contains(Index set, Index position) { return (set & (Index{1, 1, 1, 1} << position)) != 0; }
inline Index gather(const std::int64_t* p, Index i) { return Index{p[i[0]], p[i[1]], p[i[2]], p[i[3]]}; }
inline Mask as_mask(Index i) { return i; }
inline Vector gather(const double* p, Index i) { return Vector{p[i[0]], p[i[1]], p[i[2]], p[i[3]]}; }
inline void scatter(double* p, Index i, Vector v) {
  for (unsigned lane = 0; lane < width; ++lane) p[i[lane]] = v[lane];
}

#endif

}  // namespace
}  // namespace emplace::batch
