// Stream::fill for one instruction set: Philox4x32-10 (Salmon et al. 2011) on many blocks side by side. Each 32-bit
// word is in a lane of 64 bits, whose upper half is ignored. All arithmetic is on integers, so every instruction set
// gives the same bits.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>

#include "base/random_fill.hpp"

namespace emplace {
namespace {

#if defined(__AVX512F__)
inline constexpr std::size_t lanes = 8;
#elif defined(__AVX2__)
inline constexpr std::size_t lanes = 4;
#else
inline constexpr std::size_t lanes = 2;
#endif
typedef std::uint64_t Words __attribute__((vector_size(8 * lanes)));

// The 64-bit products of `by` and the lower half of each lane.
inline Words product(Words words, std::uint32_t by) {
#if defined(__AVX512F__)
  return reinterpret_cast<Words>(
      _mm512_mul_epu32(reinterpret_cast<__m512i>(words), _mm512_set1_epi64(static_cast<long long>(by))));
#elif defined(__AVX2__)
  return reinterpret_cast<Words>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(words), _mm256_set1_epi64x(static_cast<long long>(by))));
#else
  return (words & 0xFFFFFFFFU) * std::uint64_t{by};
#endif
}

constexpr std::size_t vectors = 4;  // processed together, because a product takes several cycles

// Computes vectors x lanes blocks of 4 words; each element of `out` receives two words.
inline void philox(const std::uint32_t* key, const std::uint32_t* counter, std::uint64_t* out) {
  Words c0[vectors], c1[vectors], c2[vectors], c3[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    Words numbers = {};
    for (std::size_t i = 0; i < lanes; ++i) numbers[i] = counter[0] + static_cast<std::uint32_t>(v * lanes + i);
    c0[v] = numbers;
    c1[v] = Words{} + counter[1];
    c2[v] = Words{} + counter[2];
    c3[v] = Words{} + counter[3];
  }
  std::uint32_t k0 = key[0], k1 = key[1];
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < vectors; ++v) {
      const Words low = product(c0[v], 0xD2511F53U), high = product(c2[v], 0xCD9E8D57U);
      c0[v] = (high >> 32) ^ c1[v] ^ std::uint64_t{k0};
      c2[v] = (low >> 32) ^ c3[v] ^ std::uint64_t{k1};
      c1[v] = high;
      c3[v] = low;
    }
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  for (std::size_t v = 0; v < vectors; ++v) {
    const Words first = (c0[v] & 0xFFFFFFFFU) | (c1[v] << 32), second = (c2[v] & 0xFFFFFFFFU) | (c3[v] << 32);
    for (std::size_t i = 0; i < lanes; ++i) {
      out[2 * (v * lanes + i)] = first[i];
      out[2 * (v * lanes + i) + 1] = second[i];
    }
  }
}

inline void fill_blocks(const std::uint32_t* key, const std::uint32_t* counter, std::uint16_t* out, std::size_t count) {
  constexpr std::size_t once = vectors * lanes;  // blocks
  std::uint32_t now[4] = {counter[0], counter[1], counter[2], counter[3]};
  std::uint64_t words[2 * once];
  for (std::size_t done = 0; done < count; done += 8 * once, now[0] += static_cast<std::uint32_t>(once)) {
    const std::size_t left = count - done, take = left < 8 * once ? left : 8 * once;
    philox(key, now, words);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    __builtin_memcpy(out + done, words, 2 * take);
#else
    for (std::size_t i = 0; i < take; ++i) out[done + i] = static_cast<std::uint16_t>(words[i / 4] >> (i % 4 * 16));
#endif
  }
}

}  // namespace
}  // namespace emplace
