#include "problem/order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "emplace/problem/placement.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::order_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

TEST(UpwardRank, IsTheLongestPathToTheEndUnderThePlacement) {
  // chain-5, x = 2, placement 0 1 1 1 0: times 4 3 2 3 4, transfers after a and after d.
  // e 4, d 3+2+4 = 9, c 11, b 14, a 4+2+14 = 20, the toy's best step time.
  EXPECT_THAT(upward_ranks(chain_5(2), std::vector<std::uint8_t>{0, 1, 1, 1, 0}),
              ElementsAre(20 * ms, 14 * ms, 11 * ms, 9 * ms, 4 * ms));
}

TEST(UpwardRank, OrderPutsTheLongerBranchFirst) {
  //      b 1
  // a <       > d    c is longer, so it goes before b although its id is larger.
  //      c 5
  const Problem p =
      tiny(plain_devices(1), {{"a", {1}}, {"b", {1}}, {"c", {5}}, {"d", {1}}}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  EXPECT_THAT(upward_rank_order(p, std::vector<std::uint8_t>{0, 0, 0, 0}), ElementsAre(0, 2, 1, 3));
}

TEST(UpwardRank, OrderStaysTopologicalWhereOpsCannotRun) {
  const Problem p = tiny(plain_devices(2), {{"b", {no, 1}}, {"a", {no, 1}}}, {{1, 0}});
  EXPECT_THAT(upward_rank_order(p, std::vector<std::uint8_t>{0, 0}), ElementsAre(1, 0));
}

// a > c, b > d; e is alone.
Problem two_pairs() {
  return tiny(plain_devices(1), {{"a", {1}}, {"b", {1}}, {"c", {1}}, {"d", {1}}, {"e", {1}}}, {{0, 2}, {1, 3}});
}

TEST(LevelOrder, PutsLowerLevelsFirstAndEqualOnesInTopologicalOrder) {
  const Problem p = two_pairs();
  EXPECT_THAT(level_order(p, std::vector<std::uint8_t>{0, 0, 0, 0, 0}), ElementsAreArray(p.topological));
  EXPECT_THAT(level_order(p, std::vector<std::uint8_t>{1, 0, 1, 0, 2}), ElementsAre(1, 3, 0, 2, 4));
  EXPECT_THAT(level_order(p, std::vector<std::uint8_t>{1, 2, 1, 2, 0}), ElementsAre(4, 0, 2, 1, 3));
}

TEST(LevelOrder, LetsAnOpWaitForAProducerOfAHigherLevel) {
  // c has the lowest level, but is not ready before a, whose level is the highest.
  EXPECT_THAT(level_order(two_pairs(), std::vector<std::uint8_t>{3, 1, 0, 2, 2}), ElementsAre(1, 3, 4, 0, 2));
}

TEST(LevelOrder, IsThatOfOneDeviceThatAlwaysTakesTheLowestReadyLevel) {
  EXPECT_TRUE(rc::check("producers first", [] {
    const std::size_t count = *rc::gen::inRange<std::size_t>(1, 30);
    std::vector<TinyOp> ops;
    std::vector<TinyEdge> edges;
    std::vector<std::uint8_t> level;
    for (std::size_t op = 0; op < count; ++op) {
      ops.push_back({"op" + std::to_string(op), {1}});
      level.push_back(*rc::gen::inRange<std::uint8_t>(0, 4));
      for (std::size_t from = 0; from < op; ++from)
        if (*rc::gen::inRange(0, 8) == 0) edges.push_back({from, op});
    }
    const Problem p = tiny(plain_devices(1), ops, edges);
    const Placement placement{std::vector<std::uint8_t>(count, 0), level_order(p, level)};
    check_placement(p, placement);
    std::vector<bool> done(count, false);
    const auto is_ready = [&](std::uint32_t op) {
      return !done[op] &&
             std::ranges::all_of(p.inputs[op], [&](std::uint32_t t) { return done[p.producer[t].index()]; });
    };
    for (const std::uint32_t next : placement.order) {
      for (std::uint32_t other = 0; other < count; ++other)
        if (is_ready(other)) RC_ASSERT(level[next] <= level[other]);
      done[next] = true;
    }
  }));
}

}  // namespace
}  // namespace emplace::order_test
