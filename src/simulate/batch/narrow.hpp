// Vectors of 32-bit numbers, `wide` lanes each, for the bounds of peak memory: integers (counts of bytes), and floats
// that are only compared. Twice as many lanes as in lanes.hpp; also private to the file that includes it.
#pragma once

#include <cstdint>

#include "simulate/batch/lanes.hpp"

namespace emplace::simulate::batch {
namespace {

inline constexpr unsigned wide = 2 * width;

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)

using Counts = __m512i;
using Floats = __m512;
using Lanes = __mmask16;

inline Counts load(const std::int32_t* p) { return _mm512_load_si512(p); }
inline void store(std::int32_t* p, Counts v) { _mm512_store_si512(p, v); }
inline Floats load(const float* p) { return _mm512_load_ps(p); }
inline void store(float* p, Floats v) { _mm512_store_ps(p, v); }
inline Counts counts(std::int32_t x) { return _mm512_set1_epi32(x); }
inline Counts add(Counts a, Counts b) { return _mm512_add_epi32(a, b); }
inline Counts larger(Counts a, Counts b) { return _mm512_max_epi32(a, b); }
inline Floats larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }
inline Counts minus(Counts a, Counts b) { return _mm512_sub_epi32(a, b); }
inline Counts add_in(Lanes m, Counts a, Counts b) { return _mm512_mask_add_epi32(a, m, a, b); }
inline Counts minus_in(Lanes m, Counts a, Counts b) { return _mm512_mask_sub_epi32(a, m, a, b); }
inline Counts choose(Lanes m, Counts yes, Counts no) { return _mm512_mask_blend_epi32(m, no, yes); }
inline Floats choose(Lanes m, Floats yes, Floats no) { return _mm512_mask_blend_ps(m, no, yes); }
// A mask from 16 bits, one per lane, beginning with lane `first`.
inline Lanes lanes_at(const std::uint8_t* bits, unsigned) {
  return _load_mask16(reinterpret_cast<Lanes*>(const_cast<std::uint8_t*>(bits)));
}
inline bool any(Lanes m) { return m != 0; }
inline Lanes less(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
inline Lanes at_most(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
inline Lanes at_most_in(Lanes m, Floats a, Floats b) { return _mm512_mask_cmp_ps_mask(m, a, b, _CMP_LE_OQ); }
// Rounded to the nearest float, so a smaller number never becomes larger than a larger one.
inline void store(float* p, Vector v) { _mm256_store_ps(p, _mm512_cvtpd_ps(v)); }

#else

using Counts = std::int32_t __attribute__((vector_size(4 * wide)));
using Floats = float __attribute__((vector_size(4 * wide)));
using Lanes = Counts;  // all bits of a lane are set, or none

inline Counts load(const std::int32_t* p) { return *reinterpret_cast<const Counts*>(p); }
inline void store(std::int32_t* p, Counts v) { *reinterpret_cast<Counts*>(p) = v; }
inline Floats load(const float* p) { return *reinterpret_cast<const Floats*>(p); }
inline void store(float* p, Floats v) { *reinterpret_cast<Floats*>(p) = v; }
inline Counts counts(std::int32_t x) { return x - Counts{}; }
inline Counts add(Counts a, Counts b) { return a + b; }
inline Counts minus(Counts a, Counts b) { return a - b; }
inline Counts add_in(Lanes m, Counts a, Counts b) { return a + (b & m); }
inline Counts minus_in(Lanes m, Counts a, Counts b) { return a - (b & m); }
inline Counts choose(Lanes m, Counts yes, Counts no) { return (yes & m) | (no & ~m); }
inline Floats choose(Lanes m, Floats yes, Floats no) {
  return reinterpret_cast<Floats>(choose(m, reinterpret_cast<Counts>(yes), reinterpret_cast<Counts>(no)));
}
#if defined(__AVX2__)
inline Counts larger(Counts a, Counts b) {
  return reinterpret_cast<Counts>(_mm256_max_epi32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}
inline Floats larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
#else
inline Counts larger(Counts a, Counts b) { return choose(a > b, a, b); }
inline Floats larger(Floats a, Floats b) { return choose(a > b, a, b); }
#endif
inline Lanes lanes_at(const std::uint8_t* bits, unsigned first) {
  Counts bit_of_lane{};
  for (unsigned lane = 0; lane < wide; ++lane) bit_of_lane[lane] = 1 << (first % 8 + lane);
  return (counts(std::int32_t{*bits}) & bit_of_lane) != 0;
}
inline bool any(Lanes m) {
#if defined(__AVX2__)
  return _mm256_movemask_ps(reinterpret_cast<Floats>(m)) != 0;
#else
  std::int32_t some = 0;
  for (unsigned lane = 0; lane < wide; ++lane) some |= m[lane];
  return some != 0;
#endif
}
inline Lanes less(Floats a, Floats b) { return a < b; }
inline Lanes at_most(Floats a, Floats b) { return a <= b; }
inline Lanes at_most_in(Lanes m, Floats a, Floats b) { return (a <= b) & m; }
inline void store(float* p, Vector v) {
#if defined(__AVX2__)
  _mm_store_ps(p, _mm256_cvtpd_ps(v));
#else
  for (unsigned lane = 0; lane < width; ++lane) p[lane] = static_cast<float>(v[lane]);
#endif
}

#endif

}  // namespace
}  // namespace emplace::simulate::batch
