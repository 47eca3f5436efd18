// What one core can do at most: fused multiply-adds from registers, and copying.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace emplace::nn {

inline double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The best of several runs of f, which does `work`, as work a second.
template <class F>
double best_rate(double work, F f) {
  double best = 0;
  for (int run = 0; run < 20; ++run) {
    const double begin = wall_seconds();
    f();
    best = std::max(best, work / (wall_seconds() - begin));
  }
  return best;
}

#if defined(__x86_64__)
// Twelve independent chains, as two units with a latency of four need at least eight.
__attribute__((target("avx512f"))) inline float multiply_add_512(std::size_t rounds) {
  __m512 sums[12];
  for (auto& sum : sums) sum = _mm512_set1_ps(1e-3F);
  const __m512 a = _mm512_set1_ps(0.999F), b = _mm512_set1_ps(1e-3F);
  for (std::size_t i = 0; i < rounds; ++i)
    for (auto& sum : sums) sum = _mm512_fmadd_ps(sum, a, b);
  __m512 total = sums[0];
  for (int i = 1; i < 12; ++i) total = _mm512_add_ps(total, sums[i]);
  return _mm512_cvtss_f32(total);
}
__attribute__((target("avx2,fma"))) inline float multiply_add_256(std::size_t rounds) {
  __m256 sums[12];
  for (auto& sum : sums) sum = _mm256_set1_ps(1e-3F);
  const __m256 a = _mm256_set1_ps(0.999F), b = _mm256_set1_ps(1e-3F);
  for (std::size_t i = 0; i < rounds; ++i)
    for (auto& sum : sums) sum = _mm256_fmadd_ps(sum, a, b);
  __m256 total = sums[0];
  for (int i = 1; i < 12; ++i) total = _mm256_add_ps(total, sums[i]);
  return _mm256_cvtss_f32(total);
}
#endif

// Floating-point operations a second, two for a multiply-add; 0 where it is not known.
inline double peak_flops() {
#if defined(__x86_64__)
  static const double peak = [] {
    constexpr std::size_t rounds = 200000;
    volatile float sink = 0;
    if (__builtin_cpu_supports("avx512f"))
      return best_rate(12.0 * 16 * 2 * rounds, [&] { sink = multiply_add_512(rounds); });
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return best_rate(12.0 * 8 * 2 * rounds, [&] { sink = multiply_add_256(rounds); });
    return 0.0;
  }();
  return peak;
#else
  return 0;
#endif
}

// Bytes read and written a second by copies of `bytes` bytes, with the sources rotating.
inline double copy_bytes_per_s(const std::vector<std::vector<float>>& sources, std::size_t bytes) {
  std::vector<float> target(bytes / sizeof(float));
  std::size_t i = 0;
  return best_rate(2.0 * static_cast<double>(bytes),
                   [&] { std::memcpy(target.data(), sources[i++ % sources.size()].data(), bytes); });
}

}  // namespace emplace::nn
