// The throughput of layouts.
#include "serving/flow.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/serving/clusters.hpp"

namespace emplace::test::flow_test {
namespace {

using serving::FlowDetails;
using serving::FlowEvaluator;

TEST(Flow, OfAChainIsThatOfItsSlowestNode) {
  // 2 layers each: 40, 25 and 30 tokens/s.
  const Cluster cluster = cluster_of(6, {{90, 40}, {60, 25}, {70, 30}});
  EXPECT_EQ(FlowEvaluator(cluster).throughput({{0, 2}, {2, 4}, {4, 6}}), 25 * token);
}

TEST(Flow, OfNodesWithTheSameLayersAddsUp) {
  // n0 (40) feeds n1 and n2 (25 + 30 = 55).
  const Cluster cluster = cluster_of(4, {{90, 40}, {60, 25}, {70, 30}});
  FlowDetails details;
  EXPECT_EQ(FlowEvaluator(cluster).throughput({{0, 2}, {2, 4}, {2, 4}}, &details), 40 * token);
  EXPECT_EQ(details.node[0], 40 * token);
  EXPECT_EQ(details.node[1] + details.node[2], 40 * token);
  ASSERT_EQ(details.links.size(), 5U);  // source to n0, n0 to n1 and to n2, and these to the sink
}

TEST(Flow, IsLimitedByLinks) {
  // Each link passes 10 tokens/s.
  Cluster cluster = cluster_of(4, {{90, 40}, {60, 25}, {70, 30}}, 10 * token);
  EXPECT_EQ(FlowEvaluator(cluster).throughput({{0, 2}, {2, 4}, {2, 4}}), 20 * token);
  cluster.from_source[0] = 7 * token;
  EXPECT_EQ(FlowEvaluator(cluster).throughput({{0, 2}, {2, 4}, {2, 4}}), 7 * token);
  cluster.to_sink = {0, 0, 3 * token};
  EXPECT_EQ(FlowEvaluator(cluster).throughput({{0, 2}, {2, 4}, {2, 4}}), 3 * token);
}

TEST(Flow, DoesNotPassThroughAPartOfAnInterval) {
  // n1 begins in the middle of n0's layers.
  const Cluster cluster = cluster_of(4, {{90, 40}, {60, 25, 9}});
  EXPECT_EQ(FlowEvaluator(cluster).throughput({{0, 2}, {1, 4}}), 0);
  EXPECT_EQ(FlowEvaluator(cluster).throughput({{0, 1}, {1, 4}}), 9 * token);
}

TEST(Flow, OfAnEmptyLayoutIsZero) {
  const Cluster cluster = cluster_of(2, {{90, 40}});
  EXPECT_EQ(FlowEvaluator(cluster).throughput({{}}), 0);
}

TEST(Flow, EqualsThatOfAnIndependentProgramOnRandomLayouts) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Cluster cluster = random_cluster(seed, 8, 5);
    FlowEvaluator flow(cluster);
    for (std::uint64_t each = 0; each < 20; ++each) {
      const Layout layout = random_layout(cluster, 100 * seed + each);
      const Rate expected = plain_throughput(cluster, layout);
      ASSERT_EQ(flow.throughput(layout), expected) << "cluster " << seed << ", layout " << each;
      EXPECT_TRUE(flow.reaches(layout, expected));
      EXPECT_FALSE(flow.reaches(layout, expected + 1));
    }
  }
}

TEST(Flow, IsConservedAtEveryNode) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Cluster cluster = random_cluster(seed, 8, 4);
    const Layout layout = random_layout(cluster, seed);
    FlowDetails details;
    const Rate total = FlowEvaluator(cluster).throughput(layout, &details);
    std::vector<Rate> in(cluster.size(), 0), out(cluster.size(), 0);
    Rate left = 0;
    for (const serving::LinkFlow& link : details.links) {
      EXPECT_LE(link.flow, link.rate);
      (link.from == serving::no_node ? left : out[link.from]) += link.flow;
      if (link.to != serving::no_node) in[link.to] += link.flow;
    }
    EXPECT_EQ(left, total);
    EXPECT_EQ(in, details.node);
    EXPECT_EQ(out, details.node);
  }
}

}  // namespace
}  // namespace emplace::test::flow_test
