// Placements, given one after the other, turned into what the kernels read: for each op the device in every lane.
#pragma once

#include "batch_lanes.hpp"
#include "batch_view.hpp"

namespace emplace::batch {
namespace {

inline void pack_one_by_one(const View& view, std::size_t begin) {
  for (std::size_t op = begin; op < view.ops; ++op) {
    std::uint64_t where = 0;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const std::uint8_t device = view.placement[lane][op];
      view.device[op * lanes + lane] = device;
      if (device < most_one_hot) where |= std::uint64_t{1} << (16 * device + lane);
    }
    __builtin_memcpy(view.where + op * 8, &where, sizeof where);
  }
}

#if defined(__SSE2__)

// 16 ops at a time: the 16 x 16 bytes are transposed by interleaving rows four times.
inline void pack(const View& view) {
  std::size_t op = 0;
  for (; op + 16 <= view.ops; op += 16) {
    __m128i a[16], b[16];
    for (unsigned i = 0; i < 16; ++i) a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(view.placement[i] + op));
    const auto interleave = [](const __m128i* from, __m128i* to) {
      for (unsigned i = 0; i < 8; ++i) {
        to[2 * i] = _mm_unpacklo_epi8(from[i], from[i + 8]);
        to[2 * i + 1] = _mm_unpackhi_epi8(from[i], from[i + 8]);
      }
    };
    interleave(a, b);
    interleave(b, a);
    interleave(a, b);
    interleave(b, a);
    for (unsigned i = 0; i < 16; ++i) {
      _mm_store_si128(reinterpret_cast<__m128i*>(view.device + (op + i) * lanes), a[i]);
      if (view.devices > most_one_hot) continue;
      std::uint64_t where = 0;
      for (unsigned d = 0; d < most_one_hot; ++d)
        where |= std::uint64_t(_mm_movemask_epi8(_mm_cmpeq_epi8(a[i], _mm_set1_epi8(char(d))))) << (16 * d);
      __builtin_memcpy(view.where + (op + i) * 8, &where, sizeof where);
    }
  }
  pack_one_by_one(view, op);
}

#else

inline void pack(const View& view) { pack_one_by_one(view, 0); }

#endif

}  // namespace
}  // namespace emplace::batch
