#include "emplace/base/random.hpp"

#include "base/cpu_levels.hpp"
#include "base/random_fill.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

namespace emplace::random_test {
namespace {

TEST(Random, RepeatsItselfForTheSameKeyAndDiffersForEveryOther) {
  const StreamKey base{.seed = 7, .purpose = Purpose::sample_placement, .update = 3, .index = 5};
  std::set<std::uint64_t> first_draws;
  std::size_t keys = 0;
  for (std::uint64_t seed : {7ULL, 8ULL, 7ULL << 32})
    for (const Purpose purpose : {Purpose::sample_placement, Purpose::shuffle})
      for (std::uint64_t update : {3ULL, 4ULL, 3ULL << 32})
        for (std::uint32_t index : {5U, 6U}) {
          Stream stream({seed, purpose, update, index});
          first_draws.insert(stream.bits64());
          ++keys;
        }
  EXPECT_EQ(first_draws.size(), keys);
  Stream a(base);
  Stream b(base);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(a.bits32(), b.bits32());
}

// Known-answer vector of Random123 for philox4x32-10: counter 0, key 0.
TEST(Random, IsPhilox4x32WithTenRounds) {
  // Purpose 0 and everything else 0 give counter 0 and key 0.
  Stream stream({.seed = 0, .purpose = static_cast<Purpose>(0), .update = 0, .index = 0});
  EXPECT_EQ(stream.bits32(), 0x6627e8d5U);
  EXPECT_EQ(stream.bits32(), 0xe169c58dU);
  EXPECT_EQ(stream.bits32(), 0xbc57ac4cU);
  EXPECT_EQ(stream.bits32(), 0x9b00dbd8U);
}

// Whole blocks of 8 halves; 128 of them are made side by side.
TEST(Random, FillsWithTheBitsOfItsWordsFromWholeBlocks) {
  for (const std::size_t count : {0, 1, 8, 9, 127, 128, 129, 1000}) {
    Stream filled({.seed = 5}), single({.seed = 5});
    filled.bits32();  // the rest of this block is passed over
    for (int i = 0; i < 4; ++i) single.bits32();
    std::vector<std::uint16_t> halves(count);
    filled.fill(halves);
    const std::size_t words = (count + 7) / 8 * 4;
    for (std::size_t word = 0; word < words; ++word) {
      const std::uint32_t wanted = single.bits32();
      if (2 * word < count) {
        ASSERT_EQ(halves[2 * word], wanted & 0xFFFF) << word;
      }
      if (2 * word + 1 < count) {
        ASSERT_EQ(halves[2 * word + 1], wanted >> 16) << word;
      }
    }
    EXPECT_EQ(filled.bits32(), single.bits32()) << count;
  }
}

#if defined(__x86_64__)
TEST(Random, FillsWithTheSameBitsOnEveryInstructionSet) {
  const std::uint32_t key[] = {7, 9}, counter[] = {0xFFFFFFF0U - 40, 1, 2, 3};
  const auto filled = [&](FillBlocks* fill) {
    std::vector<std::uint16_t> halves(8 * 37 + 3);
    fill(key, counter, halves.data(), halves.size());
    return halves;
  };
  if (cpu_runs_x86_64_v3()) {
    EXPECT_EQ(filled(fill_blocks_avx2), filled(fill_blocks_plain));
  }
  if (cpu_runs_x86_64_v4()) {
    EXPECT_EQ(filled(fill_blocks_avx512), filled(fill_blocks_plain));
  }
}
#endif

TEST(Random, UniformStaysBelowOneAndHasMeanOneHalf) {
  Stream stream({.seed = 1});
  constexpr int draws = 100000;
  double sum = 0;
  for (int i = 0; i < draws; ++i) {
    const double u = stream.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / draws, 0.5, 5 * std::sqrt(1.0 / 12 / draws));  // five standard errors
}

TEST(Random, BelowDrawsEveryValueEquallyOften) {
  Stream stream({.seed = 2});
  constexpr int draws = 70000;
  std::array<int, 7> count{};
  for (int i = 0; i < draws; ++i) ++count.at(stream.below(7));
  for (const int c : count) EXPECT_NEAR(c, draws / 7.0, 5 * std::sqrt(draws / 7.0));
  EXPECT_EQ(Stream({.seed = 3}).below(1), 0U);
}

}  // namespace
}  // namespace emplace::random_test
