#include "learn/learning_batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "tests/learn/training.hpp"

namespace emplace::learn::learning_batch_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

TEST(Minibatches, CoverEverySampleOnceInPartsOfEqualSize) {
  EXPECT_TRUE(rc::check("every sample once; sizes differ by one at most", [] {
    const auto samples = *rc::gen::inRange<std::size_t>(1, 200);
    const auto parts = *rc::gen::inRange<std::size_t>(1, 20);
    const StreamKey key{.seed = *rc::gen::arbitrary<std::uint64_t>(), .purpose = Purpose::shuffle};
    std::vector<std::size_t> seen;
    std::size_t least = samples, most = 0;
    const auto lists = minibatches(samples, parts, key);
    for (const auto& list : lists) {
      seen.insert(seen.end(), list.begin(), list.end());
      least = std::min(least, list.size());
      most = std::max(most, list.size());
    }
    RC_ASSERT(lists.size() == std::min(parts, samples));
    RC_ASSERT(least > 0u);
    RC_ASSERT(most - least <= 1u);
    std::ranges::sort(seen);
    for (std::size_t s = 0; s < samples; ++s) RC_ASSERT(seen[s] == s);
  }));
}

TEST(Minibatches, AreShuffledByUpdateAndEpochUnlessThereIsOne) {
  const StreamKey key{.seed = 1, .purpose = Purpose::shuffle, .update = 3, .index = 0};
  EXPECT_EQ(minibatches(20, 4, key), minibatches(20, 4, key));
  EXPECT_NE(minibatches(20, 4, key),
            minibatches(20, 4, {.seed = 1, .purpose = Purpose::shuffle, .update = 3, .index = 1}));
  EXPECT_NE(minibatches(20, 4, key),
            minibatches(20, 4, {.seed = 1, .purpose = Purpose::shuffle, .update = 4, .index = 0}));
  EXPECT_THAT(minibatches(3, 1, key), ElementsAre(ElementsAre(0, 1, 2)));
}

// Three samples of 1, 2 and 1 rounds, with one action and one head a round, numbered.
struct Numbered {
  Numbered() {
    std::uint8_t number = 0;
    for (const std::uint32_t rounds : {1, 2, 1})
      for (std::uint32_t r = 0; r < rounds; ++r, ++number) {
        rollouts.push_back(timed({number}, 1));
        rollouts.back().round = r;
        advantages.value.push_back(number);
      }
    advantages.begins = {0, 1, 3, 4};
  }
  std::vector<policy::Rollout> rollouts;
  AdvantageBatch advantages;
};

std::vector<int> numbers(const LearningBatch& batch) {
  std::vector<int> list;
  for (const policy::Rollout& rollout : batch.rollouts) list.push_back(rollout.actions.front());
  return list;
}

TEST(LearningBatch, LooksIntoTheRolloutsWhereAllAreUsed) {
  Numbered n;
  n.advantages.used = {0, 1, 2};
  const LearningBatch batch = used_samples(n.rollouts, n.advantages);
  EXPECT_EQ(batch.rollouts.data(), n.rollouts.data());
  EXPECT_EQ(batch.samples(), 3u);
}

TEST(LearningBatch, HasOnlyTheUsedSamples) {
  Numbered n;
  n.advantages.used = {1, 2};
  const LearningBatch batch = used_samples(n.rollouts, n.advantages);
  EXPECT_THAT(numbers(batch), ElementsAre(1, 2, 3));
  EXPECT_THAT(batch.advantages, ElementsAre(1, 2, 3));
  EXPECT_THAT(batch.begins, ElementsAre(0, 2, 3));
  n.advantages.used = {};
  EXPECT_EQ(used_samples(n.rollouts, n.advantages).samples(), 0u);
}

TEST(LearningBatch, SelectsSamplesWithTheirOldLogProbabilities) {
  Numbered n;
  n.advantages.used = {0, 1, 2};
  LearningBatch batch = used_samples(n.rollouts, n.advantages);
  // Rollout 0 has no head, 1 two, 2 and 3 one.
  batch.old.begin = {0, 0, 2, 3, 4};
  batch.old.value = {-1, -2, -3, -4};
  batch.old.entropy = {0, 10, 20, 30};
  const LearningBatch part = select(batch, std::vector<std::size_t>{2, 1, 0});
  EXPECT_THAT(numbers(part), ElementsAre(3, 1, 2, 0));
  EXPECT_THAT(part.advantages, ElementsAre(3, 1, 2, 0));
  EXPECT_THAT(part.begins, ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(part.old.begin, ElementsAre(0, 1, 3, 4, 4));
  EXPECT_THAT(part.old.value, ElementsAre(-4, -1, -2, -3));
  EXPECT_THAT(part.old.entropy, ElementsAre(30, 10, 20, 0));
}

}  // namespace
}  // namespace emplace::learn::learning_batch_test
