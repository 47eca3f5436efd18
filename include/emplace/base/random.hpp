// Keyed random streams: a draw depends on (seed, purpose, update, index) and its position in the stream, never on rank,
// thread or clock. Philox4x32-10 (Salmon et al. 2011) through Random123; the distributions are our own, because those
// of the standard library differ between implementations.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace emplace {

// What a stream is for. The draws of a seed depend on these numbers: add new ones at the end, never renumber.
enum class Purpose : std::uint32_t {
  initialise = 1,
  sample_placement = 2,
  random_placer = 3,
  shuffle = 4,
  test = 5,
  search = 6,
  choose_problem = 7,
  simulator_noise = 8,
  random_grouping = 9,
  sample_grouping = 10,
  grouper_noise = 11,
  placer_noise = 12,
  dropout = 13,
  sample_graph = 14,
  sweep_assignment = 15,
  sweep_strategy = 16,
  draw_machine = 17,
  polish = 18,
  serving_search = 19,
};

struct StreamKey {
  std::uint64_t seed = 0;
  Purpose purpose = Purpose::test;
  std::uint64_t update = 0;
  std::uint32_t index = 0;
};

class Stream {
 public:
  explicit Stream(const StreamKey& key);

  std::uint32_t bits32();
  std::uint64_t bits64() { return (std::uint64_t{bits32()} << 32) | bits32(); }
  // Uniform in [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>(bits64() >> 11) * 0x1.0p-53; }
  // Standard normal (Box, Muller 1958), from two uniform draws.
  double normal();
  // Uniform in {0, ..., count-1}, count > 0, without bias.
  std::uint32_t below(std::uint32_t count);
  // Fills `halves` with the bits of successive bits32() calls, the lower half of each word first, but many at once. It
  // starts at a new block of 128 bits; what is left of the previous block and of its own last block is discarded.
  void fill(std::span<std::uint16_t> halves);

 private:
  void refill();

  std::array<std::uint32_t, 2> key_{};
  std::array<std::uint32_t, 4> counter_{};
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
};

}  // namespace emplace
