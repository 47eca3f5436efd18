// Upper bounds of the throughput.
#include "serving/bound.hpp"

#include <gtest/gtest.h>

#include "serving/cover.hpp"
#include "tests/serving/clusters.hpp"

namespace emplace::test::serving_bound_test {
namespace {

using serving::upper_bound;

TEST(UpperBound, OfEqualNodesInAChainIsExact) {
  // Three nodes with two layers each: 6 layers at 40 tokens/s.
  const Cluster cluster = cluster_of(6, {{100, 40, 10}, {100, 40, 10}, {100, 40, 10}});
  EXPECT_EQ(upper_bound(cluster, 0, {}).rate, 40 * token);
}

TEST(UpperBound, IsZeroWhereTheNodesCannotHoldTheModel) {
  EXPECT_EQ(upper_bound(cluster_of(5, {{100, 40}, {100, 40}}), 0, {}).rate, 0);
}

TEST(UpperBound, CountsWholeNodesInALayer) {
  // One layer; with nodes of 30 tokens/s, 50 need two of them. Two layers on three nodes: one layer has one node alone.
  const Cluster cluster = cluster_of(2, {{30}, {30}, {30}});
  // Capacity alone allows 3 x 30 / 2 = 45.
  EXPECT_EQ(upper_bound(cluster, 0, {}).rate, 30 * token);
}

TEST(UpperBound, SeesThatFlowMustCrossSlowLinks) {
  // Two nodes in a chain of 60, joined by a link of 10: the only layouts with all layers use that link.
  const Cluster cluster = cluster_of(4, {{90, 60}, {90, 60}}, 10 * token);
  EXPECT_EQ(upper_bound(cluster, 0, {}).rate, 10 * token);
}

TEST(UpperBound, IsNoLargerThanWhatTheEndsPass) {
  Cluster cluster = cluster_of(4, {{90, 60}, {90, 60}});
  cluster.from_source = {7 * token, 8 * token};
  EXPECT_LE(upper_bound(cluster, 0, {}).rate, 15 * token);
}

TEST(UpperBound, IsNeverBelowTheBestOfAllLayouts) {
  std::size_t tight = 0;
  constexpr std::size_t clusters = 120;
  for (std::uint64_t seed = 0; seed < clusters; ++seed) {
    const Cluster cluster = random_cluster(seed, 4, 4);
    const Rate best = best_of_all(cluster);
    const Rate bound = upper_bound(cluster, 0, {}).rate;
    ASSERT_GE(bound, best) << "cluster " << seed;
    // It does not depend on what is known, but for where it may end.
    EXPECT_EQ(upper_bound(cluster, best, {}).rate, bound) << "cluster " << seed;
    tight += bound == best ? 1 : 0;
  }
  EXPECT_GT(tight, clusters / 3);
}

TEST(Cover, FindsTheCheapestSetThatReachesARate) {
  // For 50 tokens/s: two of the first type cost 2 x 12 / 2 = 12, one of the second 13, two layers of it are no use.
  const std::vector<serving::NodeType> types{{{60 * token, 30 * token}, 4}, {{50 * token}, 1}};
  std::vector<serving::CoverItem> items = serving::cover_items(types, 50 * token);
  ASSERT_EQ(items.size(), 3U);
  for (serving::CoverItem& item : items) item.price = (item.type == 0 ? 12 : 13) / item.layers;
  const serving::Cover cover(items, types, 50 * token);
  EXPECT_EQ(cover.cheapest().at_least, 12);
  // With two nodes at least: the same two, or one of 60 beside another.
  EXPECT_EQ(cover.cheapest(2).at_least, 12);
}

}  // namespace
}  // namespace emplace::test::serving_bound_test
