#include "search/list/favourite_children.hpp"

#include <gtest/gtest.h>

#include <set>

#include "emplace/base/random.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::search::favourite_children_test {
namespace {

using namespace test;

TEST(FavouriteChildren, AreConsumersAndNoTaskIsTheFavouriteOfTwo) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Stream random({.seed = seed});
    std::vector<TinyOp> ops;
    std::vector<TinyEdge> edges;
    for (std::size_t i = 0; i < 12; ++i) {
      ops.push_back({std::to_string(i), {1.0 + random.below(9), 1.0 + random.below(9)}});
      for (std::size_t j = 0; j < i; ++j)
        if (random.below(4) == 0) edges.push_back({j, i});
    }
    const Problem problem = tiny(plain_devices(2), ops, edges, 1 + random.below(5));
    for (const std::size_t most_edges : {std::size_t{0}, std::size_t{1000}}) {
      const Favourites favourites = favourite_children(problem, MeanCosts(problem), most_edges);
      EXPECT_EQ(favourites.relaxed, edges.size() <= most_edges);
      std::set<std::uint32_t> wanted;
      for (std::uint32_t op = 0; op < 12; ++op) {
        const std::uint32_t favourite = favourites.consumer[op];
        if (favourite == 12) continue;
        EXPECT_TRUE(wanted.insert(favourite).second) << favourite;
        EXPECT_TRUE(std::any_of(edges.begin(), edges.end(),
                                [&](const TinyEdge& e) { return e.from == op && e.to == favourite; }));
      }
    }
  }
}

TEST(FavouriteChildren, OfAChainAreItsLinks) {
  const Problem problem = chain_5(2);
  EXPECT_EQ(favourite_children(problem, MeanCosts(problem), 100).consumer, (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace emplace::search::favourite_children_test
