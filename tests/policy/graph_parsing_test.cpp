// Parsing graphs into clusters (docs/papers/hsdag.md, sections 2.4, 7.4 and 7.5).
#include "policy/hsdag/graph_parsing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <queue>
#include <set>

#include "emplace/base/random.hpp"
#include "tests/policy/node_graphs.hpp"

namespace emplace::policy::graph_parsing_test {
namespace {

using namespace test;
using ::testing::DoubleEq;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Clusters parsed(const NodeGraph& graph, const std::vector<double>& scores) {
  Clusters clusters;
  parse<double>(graph, scores, clusters);
  return clusters;
}

TEST(NodeGraph, HasEachEdgeOnceAndNoLoops) {
  const NodeGraph graph = graph_of(4, {{3, 1}, {1, 3}, {2, 2}, {0, 1}, {1, 0}});
  EXPECT_THAT(graph.from, ElementsAre(0, 1));
  EXPECT_THAT(graph.to, ElementsAre(1, 3));
  EXPECT_THAT(graph.neighbours.items, ElementsAre(0, 1, 0, 1, 3, 2, 1, 3));
}

TEST(NodeGraph, WeighsNeighboursByDegrees) {
  // Two joined nodes: 1 / sqrt(2 x 2). An isolated one: 1.
  EXPECT_THAT(graph_of(2, {{0, 1}}).weights, Each(DoubleEq(0.5)));
  EXPECT_THAT(graph_of(1, {}).weights, ElementsAre(1));
  // A path of three: degrees with the loop 2, 3, 2.
  EXPECT_THAT(path(3).weights,
              ElementsAre(DoubleEq(0.5), DoubleEq(1 / std::sqrt(6.0)), DoubleEq(1 / std::sqrt(6.0)), DoubleEq(1.0 / 3),
                          DoubleEq(1 / std::sqrt(6.0)), DoubleEq(1 / std::sqrt(6.0)), DoubleEq(0.5)));
}

// w of section 2.3.
std::vector<double> weights_of(const Clusters& clusters, const std::vector<double>& scores) {
  std::vector<double> weights;
  for (std::size_t c = 0; c < clusters.count(); ++c) {
    weights.push_back(clusters.alone[c]);
    for (const std::uint32_t edge : clusters.inner[c]) weights.back() += 2 * scores[edge];
  }
  return weights;
}

TEST(Parse, FollowsTheBestEdgesOfAPath) {
  const std::vector<double> pairs = {.9, .1, .8, .2, .7};
  EXPECT_THAT(parsed(path(6), pairs).of_node, ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(weights_of(parsed(path(6), pairs), pairs), ElementsAre(DoubleEq(1.8), DoubleEq(1.6), DoubleEq(1.4)));
  EXPECT_THAT(parsed(path(6), {.5, .6, .7, .8, .9}).of_node, Each(0)) << "each prefers the next";
  EXPECT_THAT(parsed(path(6), {.3, .9, .2, .9, .3}).of_node, ElementsAre(0, 0, 0, 1, 1, 1));
  EXPECT_THAT(parsed(path(6), {.5, .5, .5, .5, .5}).of_node, Each(0)) << "of equals the first";
}

TEST(Parse, LeavesNodesWithoutEdgesAlone) {
  const NodeGraph graph = graph_of(4, {{1, 3}});
  const Clusters clusters = parsed(graph, {.4});
  EXPECT_THAT(clusters.of_node, ElementsAre(0, 1, 2, 1));
  EXPECT_THAT(clusters.alone, ElementsAre(1, 0, 1));
  EXPECT_THAT(weights_of(clusters, {.4}), ElementsAre(1, DoubleEq(.8), 1));
  NodeGraph coarser;
  coarsen(graph, clusters, coarser);
  EXPECT_EQ(coarser.nodes, 3U);
  EXPECT_THAT(coarser.from, IsEmpty());
}

NodeGraph random_graph(std::size_t nodes, std::size_t edges, std::uint64_t seed) {
  Stream random{{.seed = seed}};
  Ends ends;
  while (ends.size() < edges)
    ends.emplace_back(random.below(static_cast<std::uint32_t>(nodes)), random.below(static_cast<std::uint32_t>(nodes)));
  return graph_of(nodes, ends);
}

// The released code's procedure: a set grows from the best remaining edge until no node outside has its best edge into
// the set, and no node inside has its best edge out of it.
std::vector<std::uint32_t> grown(const NodeGraph& graph, const std::vector<double>& scores) {
  std::vector<std::int64_t> best(graph.nodes, -1);
  for (std::size_t e = 0; e < graph.edges(); ++e)
    for (const std::uint32_t node : {graph.from[e], graph.to[e]})
      if (best[node] < 0 || scores[e] > scores[static_cast<std::size_t>(best[node])])
        best[node] = static_cast<std::int64_t>(e);
  std::vector<std::uint32_t> set(graph.nodes, ~0U);
  std::uint32_t count = 0;
  for (std::uint32_t first = 0; first < graph.nodes; ++first) {
    if (set[first] != ~0U) continue;
    set[first] = count;
    for (bool more = true; more;) {
      more = false;
      for (std::uint32_t node = 0; node < graph.nodes; ++node) {
        if (best[node] < 0) continue;
        const std::uint32_t a = graph.from[static_cast<std::size_t>(best[node])];
        const std::uint32_t b = graph.to[static_cast<std::size_t>(best[node])];
        if ((set[a] == count) == (set[b] == count)) continue;
        set[a] = set[b] = count;
        more = true;
      }
    }
    ++count;
  }
  return set;
}

TEST(Parse, LawsHoldOnRandomGraphs) {
  EXPECT_TRUE(rc::check("clusters are connected, in order, of two nodes at least, and those of the released code", [] {
    const auto nodes = *rc::gen::inRange<std::size_t>(1, 40);
    const auto edges = *rc::gen::inRange<std::size_t>(0, 80);
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const NodeGraph graph = random_graph(nodes, edges, seed);
    Stream random{{.seed = seed, .index = 1}};
    std::vector<double> scores(graph.edges());
    for (double& score : scores) score = random.below(8);
    const Clusters clusters = parsed(graph, scores);
    RC_ASSERT(clusters.of_node == grown(graph, scores));
    std::vector<std::uint32_t> component;
    components_within(graph, clusters.of_node, component);
    RC_ASSERT(component == clusters.of_node);
    std::size_t members = 0, inner = 0;
    for (std::size_t c = 0; c < clusters.count(); ++c) {
      members += clusters.members[c].size();
      inner += clusters.inner[c].size();
      const bool alone = clusters.members[c].size() == 1;
      RC_ASSERT(alone == (clusters.alone[c] == 1));
      RC_ASSERT(!alone || graph.neighbours[clusters.members[c].front()].size() == 1);
      for (const std::uint32_t node : clusters.members[c]) RC_ASSERT(clusters.of_node[node] == c);
      for (const std::uint32_t e : clusters.inner[c])
        RC_ASSERT(clusters.of_node[graph.from[e]] == c && clusters.of_node[graph.to[e]] == c);
    }
    RC_ASSERT(members == nodes);
    NodeGraph coarser;
    coarsen(graph, clusters, coarser);
    std::set<std::pair<std::uint32_t, std::uint32_t>> between;
    for (std::size_t e = 0; e < graph.edges(); ++e) {
      const auto a = clusters.of_node[graph.from[e]], b = clusters.of_node[graph.to[e]];
      if (a != b) between.emplace(std::min(a, b), std::max(a, b));
    }
    RC_ASSERT(coarser.edges() == between.size() && coarser.nodes == clusters.count());
    RC_ASSERT(inner <= graph.edges());
  }));
}

TEST(Parse, LeavesAQuarterToAThirdOfARandomSparseGraph) {
  for (const std::size_t nodes : {246, 500, 1000}) {
    double shrunk = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      // A connected graph with 1.05 edges for each node: each node has an edge to an earlier one.
      Stream random{{.seed = seed}};
      Ends ends;
      for (std::uint32_t node = 1; node < nodes; ++node)
        ends.emplace_back(node - 1 - random.below(std::min(node, 8U)), node);
      for (std::size_t more = nodes / 20; more > 0; --more) {
        const std::uint32_t a = random.below(static_cast<std::uint32_t>(nodes - 8));
        ends.emplace_back(a, a + 1 + random.below(7));
      }
      const NodeGraph graph = graph_of(nodes, ends);
      std::vector<double> scores(graph.edges());
      for (double& score : scores) score = random.uniform();
      shrunk += static_cast<double>(nodes) / static_cast<double>(parsed(graph, scores).count()) / 20;
    }
    EXPECT_GT(shrunk, 3.2) << nodes;
    EXPECT_LT(shrunk, 3.8) << nodes;
  }
}

}  // namespace
}  // namespace emplace::policy::graph_parsing_test
