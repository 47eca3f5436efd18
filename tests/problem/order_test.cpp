#include "problem/order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/problem/tiny.hpp"

namespace emplace::order_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

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

}  // namespace
}  // namespace emplace::order_test
