#include "fit/chain.hpp"

#include <gtest/gtest.h>

#include "tests/fit/small_chains.hpp"

namespace emplace::fit {
namespace {

using enum UnitKind;

// Device 0 is fast and small, device 1 slow and large; a hop takes 2.
Chain layer_with_experts() {
  Chain chain = chain_from({{input, -1, 1, {1, 1}},
                            {attention, 0, 4, {3, 9}},
                            {feed_forward, 0, 2, {5, 15}},
                            {experts, 0, 20, {4, 12}},
                            {output, -1, 3, {2, 6}}},
                           {10, 100}, 2);
  chain.beside[2 * 2 + 0] = 3;  // of the 5 on device 0, 3 need not wait for the experts
  return chain;
}

TEST(LanguageChain, TakesTheTimesOfUnitsAndHops) {
  // All on device 1: 1 + 9 + 15 + 12 + 6.
  EXPECT_EQ(latency(layer_with_experts(), {1, 1, 1, 1, 1}), 43);
  // Input on 1, the rest on 0: 1, hop 2, 3 + 5 + 4 + 2.
  EXPECT_EQ(latency(layer_with_experts(), {1, 0, 0, 0, 0}), 17);
}

TEST(LanguageChain, LetsWhatNeedsNoExpertsRunBesideThem) {
  // Experts on 1: tokens go there (2), 12, and back (2): 16, in which the 3 beside them pass. 5 - 3 + 16 = 18.
  EXPECT_EQ(layer_with_experts().node_time(2, 0, 1), 18);
  EXPECT_EQ(latency(layer_with_experts(), {1, 0, 0, 1, 0}), 1 + 2 + 3 + 18 + 2);
}

TEST(LanguageChain, CannotPassWhereARouteIsMissing) {
  Chain chain = layer_with_experts();
  chain.to[(4 * 2 + 0) * 2 + 1] = cannot_run;
  EXPECT_EQ(latency(chain, {0, 0, 0, 0, 1}), cannot_run);
  EXPECT_NE(latency(chain, {0, 0, 0, 0, 0}), cannot_run);
}

TEST(LanguageChain, LoadsDevicesWithTheirUnitsAndTransfersButNotHosts) {
  // Device 0: 3 + 5 + 2, one hop in, one to the experts and one back; device 1 is a host: 1 + 12.
  EXPECT_EQ(loads(layer_with_experts(), {1, 0, 0, 1, 0}, {0, 1}), (std::vector<Ticks>{10 + 2 + 2 + 2, 13}));
}

TEST(LanguageChain, MergesUnitsThatStayTogether) {
  const Merged merged = merge(layer_with_experts(), {0, 1, 1, 1, 2});
  ASSERT_EQ(merged.chain.size(), 3U);
  EXPECT_EQ(merged.chain.units[1].bytes(), 26);
  EXPECT_EQ(merged.chain.time_on(1, 1), 9 + 15 + 12);
  EXPECT_EQ(merged.chain.hop(1, 0, 1), 2);
  EXPECT_EQ(merged.expand({1, 0, 1}), (Assignment{1, 0, 0, 0, 1}));
  EXPECT_EQ(latency(merged.chain, {1, 0, 1}), latency(layer_with_experts(), {1, 0, 0, 0, 1}));
}

TEST(LanguageChain, KnowsWhichAssignmentsAreInOrder) {
  const Chain chain = layer_with_experts();
  Space space = free_space(chain);
  space.ordered = {0, 1, 0, 0, 1};
  EXPECT_TRUE(contains(chain, space, {1, 0}, {0, 1, 0, 1, 0}));
  EXPECT_FALSE(contains(chain, space, {1, 0}, {0, 0, 0, 1, 1}));
  space.allowed[3 * 2 + 1] = 0;
  EXPECT_FALSE(contains(chain, space, {1, 0}, {0, 1, 0, 1, 0}));
}

}  // namespace
}  // namespace emplace::fit
