#include "emplace/base/random.hpp"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

#include "emplace/base/error.hpp"

namespace emplace {

// Philox has 64 key bits and 128 counter bits: key = seed; counter = (block, index, update, purpose) with the block
// number in its own word. The upper 24 bits of the purpose's word hold the upper bits of updates beyond 2^32.
Stream::Stream(const StreamKey& key)
    : key_{static_cast<std::uint32_t>(key.seed), static_cast<std::uint32_t>(key.seed >> 32)},
      counter_{0, key.index, static_cast<std::uint32_t>(key.update),
               (static_cast<std::uint32_t>(key.update >> 32) << 8) | static_cast<std::uint32_t>(key.purpose)} {
  EMPLACE_CHECK(key.update >> 56 == 0 && static_cast<std::uint32_t>(key.purpose) < 256);
}

double Stream::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // the logarithm's argument is above zero
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

void Stream::refill() {
  const r123::Philox4x32 philox;
  r123::Philox4x32::ctr_type counter;
  r123::Philox4x32::key_type key;
  for (std::size_t i = 0; i < 4; ++i) counter[i] = counter_[i];
  for (std::size_t i = 0; i < 2; ++i) key[i] = key_[i];
  const auto block = philox(counter, key);
  for (std::size_t i = 0; i < 4; ++i) block_[i] = block[i];
  ++counter_[0];
  EMPLACE_CHECK(counter_[0] != 0, "a random stream is used up");
  used_ = 0;
}

std::uint32_t Stream::bits32() {
  if (used_ == 4) refill();
  return block_[used_++];
}

// Lemire 2019, "Fast random integer generation in an interval": rejection makes it exact.
std::uint32_t Stream::below(std::uint32_t count) {
  EMPLACE_CHECK(count > 0);
  std::uint64_t product = std::uint64_t{bits32()} * count;
  if (static_cast<std::uint32_t>(product) < count) {
    const std::uint32_t threshold = -count % count;
    while (static_cast<std::uint32_t>(product) < threshold) product = std::uint64_t{bits32()} * count;
  }
  return static_cast<std::uint32_t>(product >> 32);
}

}  // namespace emplace
