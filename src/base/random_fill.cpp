#include "base/random_fill.hpp"

#include "base/cpu_levels.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"

namespace emplace {

namespace {

FillBlocks* fastest() {
#if defined(__x86_64__)
  if (cpu_runs_x86_64_v4()) return fill_blocks_avx512;
  if (cpu_runs_x86_64_v3()) return fill_blocks_avx2;
#endif
  return fill_blocks_plain;
}

}  // namespace

void Stream::fill(std::span<std::uint16_t> halves) {
  static FillBlocks* const fill_blocks = fastest();
  used_ = 4;
  const std::size_t blocks = (halves.size() + 7) / 8;
  EMPLACE_CHECK(blocks < std::size_t{~std::uint32_t{0}} - counter_[0], "a random stream is used up");
  fill_blocks(key_.data(), counter_.data(), halves.data(), halves.size());
  counter_[0] += static_cast<std::uint32_t>(blocks);
}

}  // namespace emplace
