#include "base/biconnected.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>

namespace emplace::biconnected_test {
namespace {

using ::testing::ElementsAre;
using EdgeList = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

// Whether a path joins the two vertices without the vertex `without`.
bool joined(const EdgeList& edges, std::size_t vertices, std::uint32_t from, std::uint32_t to, std::uint32_t without) {
  std::vector<char> seen(vertices, 0);
  seen[from] = 1;
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [a, b] : edges)
      if (a != without && b != without && seen[a] != seen[b]) seen[a] = seen[b] = 1, grows = true;
  }
  return seen[to] != 0;
}

TEST(Biconnected, ABridgeIsAComponentOfItsOwn) {
  // Two triangles, joined by the edge 2 - 3.
  const EdgeList edges = {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}, {4, 5}, {3, 5}};
  const auto component = biconnected_components(6, edges);
  EXPECT_EQ(component[0], component[1]);
  EXPECT_EQ(component[0], component[2]);
  EXPECT_EQ(component[4], component[5]);
  EXPECT_EQ(component[4], component[6]);
  EXPECT_NE(component[0], component[3]);
  EXPECT_NE(component[4], component[3]);
  EXPECT_NE(component[0], component[4]);
}

TEST(Biconnected, AGraphWithoutEdgesHasNone) { EXPECT_THAT(biconnected_components(3, {}), ElementsAre()); }

TEST(Biconnected, ALongCycleNeedsNoRecursion) {
  constexpr std::uint32_t length = 300'000;
  EdgeList edges;
  for (std::uint32_t v = 0; v < length; ++v) edges.emplace_back(v, (v + 1) % length);
  EXPECT_EQ(biconnected_components(length, edges), std::vector<std::uint32_t>(length, 0));
}

// Two edges with a common vertex are in one component if a path joins their other ends without it; the components are
// what follows from such pairs.
TEST(Biconnected, ComponentsAreWhatNoSingleVertexSeparates) {
  EXPECT_TRUE(rc::check("law", [] {
    const auto vertices = *rc::gen::inRange<std::uint32_t>(1, 9);
    EdgeList edges;
    for (std::uint32_t b = 1; b < vertices; ++b)
      for (std::uint32_t a = 0; a < b; ++a)
        if (*rc::gen::inRange(0, 3) == 0)
          edges.push_back(*rc::gen::arbitrary<bool>() ? std::pair(a, b) : std::pair(b, a));
    std::vector<std::size_t> group(edges.size());
    std::iota(group.begin(), group.end(), 0U);
    const auto merge = [&](std::size_t e, std::size_t f) {
      const std::size_t from = group[f], to = group[e];
      for (std::size_t& each : group)
        if (each == from) each = to;
    };
    for (std::size_t e = 0; e < edges.size(); ++e)
      for (std::size_t f = 0; f < e; ++f)
        for (const std::uint32_t v : {edges[e].first, edges[e].second}) {
          if (v != edges[f].first && v != edges[f].second) continue;
          const std::uint32_t a = edges[e].first + edges[e].second - v, b = edges[f].first + edges[f].second - v;
          if (joined(edges, vertices, a, b, v)) merge(e, f);
        }
    const auto component = biconnected_components(vertices, edges);
    RC_ASSERT(component.size() == edges.size());
    for (std::size_t e = 0; e < edges.size(); ++e)
      for (std::size_t f = 0; f < e; ++f) RC_ASSERT((component[e] == component[f]) == (group[e] == group[f]));
  }));
}

}  // namespace
}  // namespace emplace::biconnected_test
