// The widest vectors of the instruction set, and elementary functions of them. Only for files that are compiled for one
// instruction set each: everything here is private to the file. The functions take the same steps in every lane at
// every width, so that an element's result depends only on the element.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <utility>

namespace emplace::nn {
namespace {

#if defined(__AVX512F__)
inline constexpr std::size_t lane_bytes = 64;
#elif defined(__AVX2__)
inline constexpr std::size_t lane_bytes = 32;
#else
inline constexpr std::size_t lane_bytes = 16;
#endif
inline constexpr std::size_t wide_bytes = 64;  // size of the lanes of a sum

template <class T>
struct Types {
  typedef T V __attribute__((vector_size(lane_bytes)));
  typedef T Unaligned __attribute__((vector_size(lane_bytes), aligned(sizeof(T)), may_alias));
};
template <class T>
using Lanes = typename Types<T>::V;
template <class T>
inline constexpr std::size_t width = lane_bytes / sizeof(T);

template <class T>
inline Lanes<T> load(const T* p) {
  return *reinterpret_cast<const typename Types<T>::Unaligned*>(p);
}
template <class T>
inline void store(T* p, Lanes<T> v) {
  *reinterpret_cast<typename Types<T>::Unaligned*>(p) = v;
}
template <class T>
inline Lanes<T> all(T x) {
  return x - Lanes<T>{};
}

// The number of lanes that contain elements of the array: all, or the rest at the array's end; the other lanes are 0.
struct Full {
  constexpr Full() = default;
  constexpr explicit Full(std::size_t) {}  // like a Part, for code that is written for both
};
struct Part {
  std::size_t count;
};
template <class T>
inline Lanes<T> load(Full, const T* p) {
  return load(p);
}
template <class T>
inline void store(Full, T* p, Lanes<T> v) {
  store(p, v);
}
#if defined(__AVX512F__)
inline Lanes<float> load(Part part, const float* p) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << part.count) - 1), p);
}
inline Lanes<double> load(Part part, const double* p) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1U << part.count) - 1), p);
}
inline void store(Part part, float* p, Lanes<float> v) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1U << part.count) - 1), v);
}
inline void store(Part part, double* p, Lanes<double> v) {
  _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1U << part.count) - 1), v);
}
#elif defined(__AVX2__)
// Negative in the first `count` lanes.
inline __m256i first_lanes(std::size_t count, Lanes<float>) {
  static constexpr std::int32_t ones_then_zeros[] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_then_zeros + 8 - count));
}
inline __m256i first_lanes(std::size_t count, Lanes<double>) {
  static constexpr std::int64_t ones_then_zeros[] = {-1, -1, -1, -1, 0, 0, 0, 0};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_then_zeros + 4 - count));
}
inline Lanes<float> load(Part part, const float* p) {
  return _mm256_maskload_ps(p, first_lanes(part.count, Lanes<float>{}));
}
inline Lanes<double> load(Part part, const double* p) {
  return _mm256_maskload_pd(p, first_lanes(part.count, Lanes<double>{}));
}
inline void store(Part part, float* p, Lanes<float> v) { _mm256_maskstore_ps(p, first_lanes(part.count, v), v); }
inline void store(Part part, double* p, Lanes<double> v) { _mm256_maskstore_pd(p, first_lanes(part.count, v), v); }
#else
template <class T>
inline Lanes<T> load(Part part, const T* p) {
  T lanes[width<T>] = {};
  for (std::size_t i = 0; i < part.count; ++i) lanes[i] = p[i];
  return load(lanes);
}
template <class T>
inline void store(Part part, T* p, Lanes<T> v) {
  T lanes[width<T>];
  store(lanes, v);
  for (std::size_t i = 0; i < part.count; ++i) p[i] = lanes[i];
}
#endif
// Calls f(Full or Part, position) for the vectors of n elements.
template <class T, class F>
inline void over(std::size_t n, F f) {
  std::size_t i = 0;
  for (; i + width<T> <= n; i += width<T>) f(Full{}, i);
  if (i < n) f(Part{n - i}, i);
}

// a b + c with one rounding, and square roots.
#if defined(__AVX512F__)
inline Lanes<float> fma(Lanes<float> a, Lanes<float> b, Lanes<float> c) { return _mm512_fmadd_ps(a, b, c); }
inline Lanes<double> fma(Lanes<double> a, Lanes<double> b, Lanes<double> c) { return _mm512_fmadd_pd(a, b, c); }
inline Lanes<float> root(Lanes<float> x) { return _mm512_sqrt_ps(x); }
#elif defined(__AVX2__)
inline Lanes<float> fma(Lanes<float> a, Lanes<float> b, Lanes<float> c) { return _mm256_fmadd_ps(a, b, c); }
inline Lanes<double> fma(Lanes<double> a, Lanes<double> b, Lanes<double> c) { return _mm256_fmadd_pd(a, b, c); }
inline Lanes<float> root(Lanes<float> x) { return _mm256_sqrt_ps(x); }
#else
inline float fma_one(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma_one(double a, double b, double c) { return __builtin_fma(a, b, c); }
template <class V>
inline V fma(V a, V b, V c) {
  V sum = {};
  for (std::size_t i = 0; i < sizeof(V) / sizeof(a[0]); ++i) sum[i] = fma_one(a[i], b[i], c[i]);
  return sum;
}
inline Lanes<float> root(Lanes<float> x) {
  for (std::size_t i = 0; i < width<float>; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
}
#endif

template <std::size_t half, class V, std::size_t... i>
inline V swapped(V v, std::index_sequence<i...>) {
  return __builtin_shufflevector(v, v, (i ^ half)...);
}
// Reduces all lanes by f, by halves: lanes i and i + n / 2, then i and i + n / 4, ...
template <class T, std::size_t half = width<T> / 2, class F>
inline T across(Lanes<T> v, F f) {
  if constexpr (half == 0)
    return v[0];
  else
    return across<T, half / 2>(f(v, swapped<half>(v, std::make_index_sequence<width<T>>())), f);
}

// Loads width<double> floats.
inline Lanes<double> load_as_double(const float* p) {
  typedef float Narrow __attribute__((vector_size(lane_bytes / 2), aligned(sizeof(float)), may_alias));
  return __builtin_convertvector(*reinterpret_cast<const Narrow*>(p), Lanes<double>);
}
inline Lanes<double> load_as_double(const double* p) { return load(p); }

// Sums in 64 bytes of lanes: element j goes to lane j modulo their number, and the lanes are added by halves.
template <class T>
struct Wide {
  static constexpr std::size_t parts = wide_bytes / lane_bytes;
  Lanes<T> part[parts] = {};

  T total() const { return sum(part); }
  // The lanes are added in double.
  double double_total() const {
    constexpr std::size_t count = wide_bytes / sizeof(T) / width<double>;
    T lanes[wide_bytes / sizeof(T)];
    Lanes<double> wider[count];
    for (std::size_t i = 0; i < parts; ++i) store(lanes + i * width<T>, part[i]);
    for (std::size_t i = 0; i < count; ++i) wider[i] = load_as_double(lanes + i * width<double>);
    return Wide<double>::sum(wider);
  }
  template <std::size_t count>
  static T sum(const Lanes<T> (&values)[count]) {
    if constexpr (count == 1) {
      return across<T>(values[0], [](Lanes<T> a, Lanes<T> b) { return a + b; });
    } else {
      Lanes<T> halves[count / 2];
      for (std::size_t i = 0; i < count / 2; ++i) halves[i] = values[i] + values[i + count / 2];
      return sum(halves);
    }
  }
};
// Calls f(Full or Part, position, part of a Wide) for the vectors of n elements.
template <class T, class F>
inline void over_wide(std::size_t n, F f) {
  constexpr std::size_t parts = Wide<T>::parts;
  std::size_t i = 0;
  for (; i + parts * width<T> <= n; i += parts * width<T>)
    for (std::size_t p = 0; p < parts; ++p) f(Full{}, i + p * width<T>, p);
  for (std::size_t p = 0; i < n; ++p, i += width<T>) {
    if (i + width<T> <= n)
      f(Full{}, i, p);
    else
      f(Part{n - i}, i, p);
  }
}

template <class T>
struct ExpNumbers;
template <>
struct ExpNumbers<float> {
  using Bits = std::uint32_t;
  static constexpr float lowest = -87.0F, highest = 88.0F;
  static constexpr float shifter = 0x1.8p23F, log2_e = 0x1.715476p0F, ln2_high = 0x1.62e400p-1F,
                         ln2_low = 0x1.7f7d1cp-20F;
  static constexpr int fraction_bits = 23, exponent_bias = 127;
  // Taylor's series: 1/7! ... 1/1!, 1; the next term is below 6e-9.
  static constexpr float series[] = {1.0F / 5040, 1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F};
};
template <>
struct ExpNumbers<double> {
  using Bits = std::uint64_t;
  static constexpr double lowest = -700, highest = 700;
  static constexpr double shifter = 0x1.8p52, log2_e = 0x1.71547652b82fep0, ln2_high = 0x1.62e42fee00000p-1,
                          ln2_low = 0x1.a39ef35793c76p-33;
  static constexpr int fraction_bits = 52, exponent_bias = 1023;
  static constexpr double series[] = {
      1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
      1.0 / 720,        1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
};

// e^x; 0 for x below ExpNumbers::lowest, e^highest for x above `highest`.
template <class T>
inline Lanes<T> exp(Lanes<T> x) {
  using N = ExpNumbers<T>;
  typedef typename N::Bits Bits __attribute__((vector_size(lane_bytes)));
  const Lanes<T> lowest = all(N::lowest), highest = all(N::highest), zero = {};
  const Lanes<T> bounded = x < lowest ? lowest : (x > highest ? highest : x);
  // bounded = k ln 2 + r with |r| <= ln 2 / 2: adding the shifter rounds to an integer and leaves k in the low bits.
  const Lanes<T> shifted = fma(bounded, all(N::log2_e), all(N::shifter));
  const Lanes<T> k = shifted - N::shifter;
  const Lanes<T> r = fma(-k, all(N::ln2_low), fma(-k, all(N::ln2_high), bounded));
  Lanes<T> sum = all(N::series[0]);
  for (std::size_t i = 1; i < sizeof(N::series) / sizeof(T); ++i) sum = fma(sum, r, all(N::series[i]));
  const Lanes<T> power =
      reinterpret_cast<Lanes<T>>((reinterpret_cast<Bits>(shifted) + N::exponent_bias) << N::fraction_bits);
  return x < lowest ? zero : sum * power;
}

template <class T>
inline Lanes<T> sigmoid(Lanes<T> x) {
  return T{1} / (T{1} + exp<T>(-x));
}

// tanh for small x, for which 1 - 2 / (e^2x + 1) would lose digits by cancellation: Cephes' tanhf.c and tanh.c.
inline Lanes<float> small_tanh(Lanes<float> x) {
  const Lanes<float> z = x * x;
  Lanes<float> p = all(-5.70498872745e-3F);
  p = fma(p, z, all(2.06390887954e-2F));
  p = fma(p, z, all(-5.37397155531e-2F));
  p = fma(p, z, all(1.33314422036e-1F));
  p = fma(p, z, all(-3.33332819422e-1F));
  return fma(p * z, x, x);
}
inline Lanes<double> small_tanh(Lanes<double> x) {
  const Lanes<double> z = x * x;
  Lanes<double> p = all(-9.64399179425052238628e-1), q = z + 1.12811678491632931402e2;
  p = fma(p, z, all(-9.92877231001918586564e1));
  p = fma(p, z, all(-1.61468768441708447952e3));
  q = fma(q, z, all(2.23548839060100448583e3));
  q = fma(q, z, all(4.84406305325125486048e3));
  return fma(x * z, p / q, x);
}

template <class T>
inline Lanes<T> tanh(Lanes<T> x) {
  const Lanes<T> limit = all(static_cast<T>(0.625)), zero = {};
  const Lanes<T> size = x < zero ? -x : x;
  const Lanes<T> large = T{1} - T{2} / (exp<T>(size + size) + T{1});
  return size < limit ? small_tanh(x) : (x < zero ? -large : large);
}

}  // namespace
}  // namespace emplace::nn
