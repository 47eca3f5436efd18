// Elementary functions over arrays, four lanes at a time with the compiler's vector extensions (plain loops with a
// clamp in them are not vectorised, because comparisons may trap). Every element's result depends on that element
// alone, not on its position or the instruction set, so the bits stay the same however the work is divided.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace emplace {

namespace detail {

using Lanes = double __attribute__((vector_size(32)));
using LaneBits = std::uint64_t __attribute__((vector_size(32)));

// e^x for x in [-700, 700].
inline Lanes exp_in_range(Lanes x) {
  // x = k ln 2 + r with |r| <= ln 2 / 2: adding 1.5 x 2^52 rounds to whole numbers and leaves k in the low bits.
  constexpr double shifter = 0x1.8p52;
  constexpr double log2_e = 0x1.71547652b82fep0;
  constexpr double ln2_high = 0x1.62e42fee00000p-1;
  constexpr double ln2_low = 0x1.a39ef35793c76p-33;
  const Lanes shifted = x * log2_e + shifter;
  const Lanes k = shifted - shifter;
  const Lanes r = (x - k * ln2_high) - k * ln2_low;
  // Taylor's series to r^13 / 13!; the next term is below 5e-18.
  constexpr double inverse_factorials[] = {
      1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
      1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
  Lanes sum = r * (1.0 / 6227020800) + inverse_factorials[0];
  for (std::size_t i = 1; i < std::size(inverse_factorials); ++i) sum = sum * r + inverse_factorials[i];
  return sum * reinterpret_cast<Lanes>((reinterpret_cast<LaneBits>(shifted) + 1023) << 52);
}

inline Lanes exp_lanes(Lanes x) {
  const Lanes lowest = {-700, -700, -700, -700};
  const Lanes highest = -lowest;
  const Lanes bounded = x < lowest ? lowest : (x > highest ? highest : x);
  const Lanes zero = {};
  return x < lowest ? zero : exp_in_range(bounded);
}

}  // namespace detail

// Replaces every element by its exponential: within 2 units in the last place for elements in [-700, 700], 0 below
// (-infinity too), e^700 above; NaN is not allowed.
inline void exp_all(std::span<double> values) {
  for (std::size_t i = 0; i < values.size(); i += 4) {
    const std::size_t bytes = std::min<std::size_t>(4, values.size() - i) * sizeof(double);
    detail::Lanes lanes = {};
    if (bytes == sizeof lanes) [[likely]] {
      std::memcpy(&lanes, values.data() + i, sizeof lanes);
      lanes = detail::exp_lanes(lanes);
      std::memcpy(values.data() + i, &lanes, sizeof lanes);
    } else {
      std::memcpy(&lanes, values.data() + i, bytes);
      lanes = detail::exp_lanes(lanes);
      std::memcpy(values.data() + i, &lanes, bytes);
    }
  }
}

}  // namespace emplace
