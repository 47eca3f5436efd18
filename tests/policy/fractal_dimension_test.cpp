// Fractal dimensions of nodes (docs/papers/hsdag.md, sections 2.2 and 7.3), exact and estimated.
#include "policy/hsdag/fractal_dimension.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "tests/policy/node_graphs.hpp"

namespace emplace::policy::fractal_dimension_test {
namespace {

using namespace test;
using ::testing::Each;
using ::testing::ElementsAre;
// Each node has edges to one or two of the `window` nodes before it.
NodeGraph sparse(std::uint32_t nodes, std::uint32_t window, std::uint64_t seed) {
  Stream random{{.seed = seed}};
  Ends ends;
  for (std::uint32_t node = 1; node < nodes; ++node)
    for (std::uint32_t k = 1 + random.below(20) / 19; k > 0; --k)
      ends.emplace_back(node - 1 - random.below(std::min(node, window)), node);
  return graph_of(nodes, ends);
}
NodeGraph star(std::uint32_t leaves) {
  Ends ends;
  for (std::uint32_t leaf = 1; leaf <= leaves; ++leaf) ends.emplace_back(0, leaf);
  return graph_of(leaves + 1, ends);
}
std::vector<float> sampled(const NodeGraph& graph, const FractalSampling& sampling = {}) {
  return fractal_dimensions(graph, sampling, Stream{{.seed = 1, .purpose = Purpose::sample_graph}});
}

TEST(FractalDimension, IsOneAtTheEndOfAPath) {
  // N(v, r) = r.
  EXPECT_NEAR(fractal_dimensions(path(9)).front(), 1, 1e-6);
  EXPECT_NEAR(fractal_dimensions(path(9)).back(), 1, 1e-6);
}

TEST(FractalDimension, OfAStarsLeafIsTwoAndOfItsCentreZero) {
  // N = 1, 4 at r = 1, 2: log 4 / log 2.
  const auto dimensions = fractal_dimensions(star(4));
  EXPECT_EQ(dimensions.front(), 0);
  EXPECT_THAT(std::vector(dimensions.begin() + 1, dimensions.end()), Each(::testing::FloatNear(2, 1e-6F)));
}

TEST(FractalDimension, CountsReachableNodesAlone) {
  // Two paths of 3 and a node by itself.
  const auto dimensions = fractal_dimensions(graph_of(7, {{0, 1}, {1, 2}, {3, 4}, {4, 5}}));
  EXPECT_EQ(dimensions[6], 0);
  EXPECT_EQ(dimensions[1], 0) << "one radius";
  EXPECT_NEAR(dimensions[0], 1, 1e-6);
  EXPECT_NEAR(dimensions[5], 1, 1e-6);
  EXPECT_THAT(fractal_dimensions(graph_of(1, {})), ElementsAre(0));
  EXPECT_TRUE(fractal_dimensions(graph_of(0, {})).empty());
}

// By Floyd and Warshall's distances and the formula of section 2.2.
std::vector<double> by_formula(const NodeGraph& graph) {
  const double far = std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> d(graph.nodes, std::vector<double>(graph.nodes, far));
  for (std::size_t v = 0; v < graph.nodes; ++v) d[v][v] = 0;
  for (std::size_t e = 0; e < graph.edges(); ++e) d[graph.from[e]][graph.to[e]] = d[graph.to[e]][graph.from[e]] = 1;
  for (std::size_t k = 0; k < graph.nodes; ++k)
    for (std::size_t i = 0; i < graph.nodes; ++i)
      for (std::size_t j = 0; j < graph.nodes; ++j) d[i][j] = std::min(d[i][j], d[i][k] + d[k][j]);
  std::vector<double> result;
  for (std::size_t v = 0; v < graph.nodes; ++v) {
    std::vector<double> log_r, log_n;
    for (double r = 1; r < static_cast<double>(graph.nodes); ++r) {
      if (std::ranges::count(d[v], r) == 0) continue;
      log_r.push_back(std::log(r));
      log_n.push_back(std::log(std::ranges::count_if(d[v], [&](double x) { return x > 0 && x <= r; })));
    }
    double mean_r = 0, mean_n = 0, top = 0, bottom = 0;
    for (std::size_t k = 0; k < log_r.size(); ++k) {
      mean_r += log_r[k] / static_cast<double>(log_r.size());
      mean_n += log_n[k] / static_cast<double>(log_r.size());
    }
    for (std::size_t k = 0; k < log_r.size(); ++k) {
      top += (log_r[k] - mean_r) * (log_n[k] - mean_n);
      bottom += (log_r[k] - mean_r) * (log_r[k] - mean_r);
    }
    result.push_back(log_r.size() < 2 ? 0 : top / bottom);
  }
  return result;
}

TEST(FractalDimension, IsTheDocumentedFormula) {
  EXPECT_TRUE(rc::check("on random graphs", [] {
    const auto nodes = *rc::gen::inRange<std::uint32_t>(1, 40);
    const NodeGraph graph =
        sparse(nodes, *rc::gen::inRange<std::uint32_t>(1, 10), *rc::gen::arbitrary<std::uint64_t>());
    const auto wanted = by_formula(graph);
    const auto got = fractal_dimensions(graph);
    for (std::size_t v = 0; v < nodes; ++v) RC_ASSERT(std::abs(got[v] - wanted[v]) < 1e-5);
    // Small components are searched whole.
    RC_ASSERT(sampled(graph) == got);
  }));
}

TEST(FractalDimension, IsEstimatedCloseToItsValue) {
  struct Case {
    const char* name;
    NodeGraph graph;
  };
  for (const Case& each : {Case{"long", sparse(3000, 5, 1)}, Case{"wide", sparse(3000, 1000, 2)},
                           Case{"path", path(3000)}, Case{"star", star(3000)}}) {
    const auto exact = fractal_dimensions(each.graph), estimate = sampled(each.graph);
    double off = 0, worst = 0, mean = 0, spread = 0;
    const auto count = static_cast<double>(exact.size());
    for (std::size_t v = 0; v < exact.size(); ++v) {
      off += std::abs(estimate[v] - exact[v]) / count;
      worst = std::max(worst, std::abs(static_cast<double>(estimate[v] - exact[v])));
      mean += exact[v] / count;
    }
    for (const float d : exact) spread += (d - mean) * (d - mean) / count;
    EXPECT_LT(off, 0.05 * mean) << each.name << ", spread " << std::sqrt(spread);
    EXPECT_LT(worst, 0.25 * mean) << each.name;
  }
}

TEST(FractalDimension, IsEstimatedAlikeFromTheSameStream) {
  const NodeGraph graph = sparse(6000, 20, 3);
  EXPECT_EQ(sampled(graph), sampled(graph));
  EXPECT_NE(fractal_dimensions(graph, {}, Stream{{.seed = 2}}), sampled(graph));
}

TEST(FractalDimension, OfFiftyThousandNodesIsEstimated) {
  for (const NodeGraph& graph : {sparse(50000, 5, 4), sparse(50000, 50000, 5), star(50000), path(50000)}) {
    const auto estimate = sampled(graph);
    EXPECT_EQ(estimate.size(), graph.nodes);
    EXPECT_TRUE(std::ranges::all_of(estimate, [](float d) { return std::isfinite(d) && d >= 0; }));
  }
}

}  // namespace
}  // namespace emplace::policy::fractal_dimension_test
