// Moves of the order: the ops that move along, the moves that are impossible, and those that the critical path
// suggests.
#include "search/local/order_moves.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "emplace/base/random.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/random_order.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::search::order_moves_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Order = std::vector<std::uint32_t>;

// 0 -> 2 -> 4 beside 1 and 3.
Problem chain_of_three() {
  return tiny(plain_devices(1), {{"0", {1}}, {"1", {1}}, {"2", {1}}, {"3", {1}}, {"4", {1}}}, {{0, 2}, {2, 4}});
}

struct OrderMoverOfFive : ::testing::Test {
  OrderMoverOfFive() { mover.reset(order); }

  const Problem problem = chain_of_three();
  OrderMover mover{problem};
  Order order{0, 1, 2, 3, 4};
};

TEST_F(OrderMoverOfFive, TakesWhatTheOpDependsOnAlongToTheFront) {
  ASSERT_TRUE(mover.make(order, {.op = 4, .past = 1}));
  EXPECT_THAT(order, ElementsAre(0, 2, 4, 1, 3)) << "2 stands between them and 4 needs it";
  mover.take_back(order);
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4));
}

TEST_F(OrderMoverOfFive, TakesWhatDependsOnTheOpAlongToTheBack) {
  ASSERT_TRUE(mover.make(order, {.op = 0, .past = 3}));
  EXPECT_THAT(order, ElementsAre(1, 3, 0, 2, 4));
}

TEST_F(OrderMoverOfFive, RefusesToPassWhatTheOpDependsOn) {
  EXPECT_FALSE(mover.make(order, {.op = 4, .past = 0}));
  EXPECT_FALSE(mover.make(order, {.op = 0, .past = 4}));
  EXPECT_FALSE(mover.make(order, {.op = 1, .past = 1}));
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4));
}

// Whether b depends on a, found by a search along the edges, without an order.
bool leads_to(const Problem& problem, std::uint32_t a, std::uint32_t b) {
  if (a == b) return true;
  for (const std::uint32_t tensor : problem.outputs[a])
    for (const std::uint32_t consumer : problem.consumers[tensor])
      if (leads_to(problem, consumer, b)) return true;
  return false;
}

TEST(OrderMover, MakesExactlyTheMovesThatNoPathForbids) {
  EXPECT_TRUE(rc::check("random graphs", [](const test::RandomProblem& genes) {
    const Problem problem = problem_of(genes);
    Stream random({.seed = *rc::gen::arbitrary<std::uint64_t>()});
    Order order = test::random_order(problem, random);
    OrderMover mover(problem);
    mover.reset(order);
    const auto ops = static_cast<std::uint32_t>(problem.op_count());
    for (int i = 0; i < 20; ++i) {
      const OrderMove move{random.below(ops), random.below(ops)};
      const Order before = order;
      const bool was_behind = mover.position(move.op) > mover.position(move.past);
      const bool made = mover.make(order, move);
      RC_ASSERT(made == !(leads_to(problem, move.op, move.past) || leads_to(problem, move.past, move.op)));
      if (!made) {
        RC_ASSERT(order == before);
        continue;
      }
      check_placement(problem, {std::vector<std::uint8_t>(ops, 0), order});
      for (std::uint32_t at = 0; at < ops; ++at) RC_ASSERT(mover.position(order[at]) == at);
      RC_ASSERT((mover.position(move.op) < mover.position(move.past)) == was_behind);
      if (random.below(2) != 0) continue;
      mover.take_back(order);
      RC_ASSERT(order == before);
    }
  }));
}

CriticalChoices choices_of(const Problem& problem, const Placement& placement) {
  simulate::Timeline timeline;
  simulate::make_exact_engine(problem, Schedule::in_order)
      ->evaluate(placement, {.usage = nullptr, .timeline = &timeline});
  return critical_choices(problem, placement, Schedule::in_order, timeline);
}

TEST(CriticalChoices, MoveOpsOfABlockToItsBeginningAndItsEnd) {
  // Device 0 runs s, a, b, c one after the other; d on device 1 waits for c, and gets nothing from s. Path: s [0, 1) a
  // [1, 3) b [3, 6) c [6, 10), transfer, d. The step begins with the block, so moving an op before s gains nothing; c
  // is the last op of the block, and d waits for it.
  const Problem problem = tiny(
      plain_devices(2), {{"s", {1, no}}, {"a", {2, no}}, {"b", {3, no}}, {"c", {4, no}}, {"d", {no, 5}}}, {{3, 4}}, 1);
  const CriticalChoices choices = choices_of(problem, {{0, 0, 0, 0, 1}, {0, 1, 2, 3, 4}});
  EXPECT_THAT(choices.ops, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(choices.moves, ElementsAre(OrderMove{0, 3}, OrderMove{1, 3}, OrderMove{2, 3}));
}

TEST(CriticalChoices, AreNoMovesWhereOneDeviceIsNeverIdle) {
  const Problem problem = tiny(plain_devices(1), {{"a", {2}}, {"b", {3}}}, {});
  EXPECT_THAT(choices_of(problem, {{0, 0}, {0, 1}}).moves, IsEmpty());
}

TEST(CriticalChoices, LetTheProducerOfAWaitingTransferPass) {
  // a [0, 1) and b [1, 2) on device 0 send over a channel that takes 5 ms: a's tensor in [1, 6), b's, requested at 2,
  // in [6, 11). d takes 9 ms from 11 on, c 1 ms from 6 on.
  const Problem problem =
      tiny(plain_devices(2), {{"a", {1, no}}, {"b", {1, no}}, {"c", {no, 1}}, {"d", {no, 9}}}, {{0, 2}, {1, 3}}, 5);
  EXPECT_THAT(choices_of(problem, {{0, 0, 1, 1}, {0, 1, 2, 3}}).moves, ElementsAre(OrderMove{1, 0}));
}

}  // namespace
}  // namespace emplace::search::order_moves_test
