// What every placer of serving problems keeps to.
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "serving/placer.hpp"
#include "tests/serving/clusters.hpp"

namespace emplace::test::serving_placers_test {
namespace {

using serving::place_with;
using serving::Result;

class ServingPlacers : public ::testing::TestWithParam<std::string> {};

TEST_P(ServingPlacers, GiveLayoutsThatNodesCanHoldAndTheirThroughput) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const Cluster cluster = GetParam() == "exact" ? random_cluster(seed, 3, 3) : random_cluster(seed, 7, 6);
    const Result result = place_with(GetParam(), {.cluster = &cluster, .seed = seed, .evaluations = 2000}, {});
    ASSERT_EQ(result.layout.size(), cluster.size());
    for (std::size_t n = 0; n < cluster.size(); ++n) {
      EXPECT_LE(result.layout[n].end, cluster.layers);
      EXPECT_LE(result.layout[n].size(), cluster.most(n));
    }
    EXPECT_EQ(result.throughput, plain_throughput(cluster, result.layout)) << "cluster " << seed;
    if (result.upper_bound) {
      EXPECT_GE(*result.upper_bound, result.throughput);
    }
  }
}

TEST_P(ServingPlacers, GiveTheSameLayoutForTheSameSeedAndEvaluations) {
  const Cluster cluster = GetParam() == "exact" ? random_cluster(5, 3, 3) : random_cluster(5, 12, 8);
  const serving::Request request{.cluster = &cluster, .seed = 3, .evaluations = 5000};
  const Result first = place_with(GetParam(), request, {}), second = place_with(GetParam(), request, {});
  EXPECT_EQ(first.layout, second.layout);
  EXPECT_EQ(first.evaluations, second.evaluations);
}

std::vector<std::string> names() { return entry_names(serving::placers()); }
std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, ServingPlacers, ::testing::ValuesIn(names()), test_name);

TEST(ServingExact, FindsTheBestOfAllLayoutsAndProvesIt) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Cluster cluster = random_cluster(seed, 4, 3);
    const Result result = place_with("exact", {.cluster = &cluster}, {});
    EXPECT_EQ(result.throughput, best_of_all(cluster)) << "cluster " << seed;
    EXPECT_TRUE(result.proved_optimal());
  }
}

TEST(ServingExact, RefusesClustersWithTooManyLayouts) {
  const Cluster cluster = cluster_of(40, std::vector<std::vector<Rate>>(30, {90, 40, 20}));
  EXPECT_THROW(place_with("exact", {.cluster = &cluster}, {}), InputError);
}

TEST(ServingBest, FindsTheBestOfAllLayoutsOfTinyClusters) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Cluster cluster = random_cluster(seed, 4, 4);
    const Result result = place_with("best", {.cluster = &cluster, .evaluations = 20'000}, {});
    EXPECT_EQ(result.throughput, best_of_all(cluster)) << "cluster " << seed;
  }
}

TEST(ServingPlacer, RefusesUnknownMethodsOptionsAndBudgetsOfNothing) {
  const Cluster cluster = random_cluster(0, 4, 4);
  EXPECT_THROW(place_with("stage", {.cluster = &cluster}, {}), InputError);
  EXPECT_THROW(place_with("stages", {.cluster = &cluster, .evaluations = 0}, {}), InputError);
  ConfigTable options("test");
  options.set("mvoes", {std::int64_t{5}, "test"});
  EXPECT_THROW(place_with("stages", {.cluster = &cluster}, options), InputError);
}

}  // namespace
}  // namespace emplace::test::serving_placers_test
