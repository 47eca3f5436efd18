// Transposes placements, which are given one after the other, to the form that kernels read: the devices of all lanes,
// op after op.
#pragma once

#include "simulate/batch/lanes.hpp"
#include "simulate/batch/view.hpp"
#include "simulate/batch/walk.hpp"

namespace emplace::simulate::batch {
namespace {

// Number of mask words per op; 0 if they are not needed.
inline unsigned packed_words(const View& view) {
  return view.one_hot() || view.shared_lines || view.bound ? words_of(view.devices) : 0;
}

inline void pack_one_by_one(const View& view, std::size_t begin) {
  const unsigned words = packed_words(view);
  const bool devices = !view.one_hot() && !view.shared_lines;
  for (std::size_t op = begin; op < view.ops; ++op) {
    std::uint64_t where[max_words] = {};
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const std::uint8_t device = view.placement[lane][op];
      if (devices) view.device[op * lanes + lane] = device;
      if (words > 0) where[device / 4] |= std::uint64_t{1} << (16 * (device % 4) + lane);
    }
    for (unsigned w = 0; w < words; ++w) store_word(view.where + (op * words + w) * 8, where[w]);
  }
}

#if defined(__SSE2__)

// 16 ops at a time: the 16 x 16 bytes are transposed by interleaving rows four times.
inline void pack(const View& view) {
  const unsigned words = packed_words(view);
  const bool devices = !view.one_hot() && !view.shared_lines;
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
      if (devices) _mm_store_si128(reinterpret_cast<__m128i*>(view.device + (op + i) * lanes), a[i]);
      for (unsigned w = 0; w < words; ++w) {
        std::uint64_t where = 0;
        for (unsigned d = 0; d < 4; ++d)
          where |= std::uint64_t(_mm_movemask_epi8(_mm_cmpeq_epi8(a[i], _mm_set1_epi8(char(4 * w + d))))) << (16 * d);
        store_word(view.where + ((op + i) * words + w) * 8, where);
      }
    }
  }
  pack_one_by_one(view, op);
}

#else

inline void pack(const View& view) { pack_one_by_one(view, 0); }

#endif

}  // namespace
}  // namespace emplace::simulate::batch
