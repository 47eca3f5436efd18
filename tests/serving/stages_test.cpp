// Layouts in stages.
#include "serving/stages.hpp"

#include <gtest/gtest.h>

#include "serving/flow.hpp"
#include "tests/serving/clusters.hpp"

namespace emplace::test::stages_test {
namespace {

using serving::Stage;
using serving::Stages;

Stages stages(const Cluster& cluster, const std::vector<std::vector<serving::NodeIndex>>& nodes) {
  Stages all;
  for (const auto& each : nodes) {
    all.emplace_back().nodes = each;
    all.back().update(cluster);
  }
  return all;
}

TEST(Stages, PassTheSumOfTheirNodes) {
  const Cluster cluster = cluster_of(8, {{90, 40, 20}, {60, 25}});
  const Stage both = stages(cluster, {{0, 1}})[0];
  EXPECT_EQ(both.most(), 2U);  // what both can hold
  EXPECT_EQ(both.rate(1), 150 * token);
  EXPECT_EQ(both.rate(2), 65 * token);
  EXPECT_EQ(both.length(65 * token), 2U);
  EXPECT_EQ(both.length(66 * token), 1U);
  EXPECT_EQ(both.length(151 * token), 0U);
}

TEST(Stages, GetAsManyLayersAsTheRateOfAllAllows) {
  // At 30 tokens/s: 3 + 2 layers; at 31: 2 + 2, which are too few.
  const Cluster cluster = cluster_of(5, {{90, 60, 30}, {60, 40, 29}});
  const Stages two = stages(cluster, {{0}, {1}});
  EXPECT_EQ(rate_of(two, 5), 30 * token);
  EXPECT_EQ(layout_of(cluster, two), (Layout{{0, 3}, {3, 5}}));
  EXPECT_EQ(rate_of(two, 7), 0);
}

TEST(Stages, LeaveOutLayersThatWouldBeTooMany) {
  // Three equal nodes pass 40 tokens/s with two layers each, one layer more than the model has.
  const Cluster cluster = cluster_of(5, {{60, 40}, {60, 40}, {60, 40}});
  const Layout layout = layout_of(cluster, stages(cluster, {{0}, {1}, {2}}));
  EXPECT_EQ(serving::FlowEvaluator(cluster).throughput(layout), 40 * token);
}

TEST(Stages, AreExactWhereSpeedsRiseWithLayers) {
  // Two layers are slower than three (50 against 55), so with 3 + 1 layers the chain passes 55, with 2 + 2 only 50.
  const Cluster cluster = cluster_of(4, {{90, 50, 55}, {70, 52}});
  const Layout layout = layout_of(cluster, stages(cluster, {{0}, {1}}));
  EXPECT_EQ(layout, (Layout{{0, 3}, {3, 4}}));
  EXPECT_EQ(serving::FlowEvaluator(cluster).throughput(layout), 55 * token);
}

TEST(Stages, OfALayoutAreThoseThatItWasMadeOf) {
  const Cluster cluster = cluster_of(4, {{90, 50}, {70, 52}, {70, 52}, {1}});
  const Layout layout{{2, 4}, {0, 2}, {0, 2}, {}};
  const Stages found = stages_of(cluster, layout);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].nodes, (std::vector<serving::NodeIndex>{1, 2}));
  EXPECT_EQ(found[1].nodes, (std::vector<serving::NodeIndex>{0}));
}

TEST(Stages, KnowWhetherLinksMayBind) {
  EXPECT_FALSE(links_may_bind(cluster_of(2, {{90}, {60}}, 60 * token)));
  EXPECT_TRUE(links_may_bind(cluster_of(2, {{90}, {60}}, 59 * token)));
}

}  // namespace
}  // namespace emplace::test::stages_test
