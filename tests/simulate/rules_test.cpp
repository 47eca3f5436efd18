// Rules R1-R6, one by one, worked by hand on both engines. Times are ticks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "tests/simulate/toy.hpp"

namespace emplace::simulate::rules_test {
namespace {

using test::Answer;
using test::simulate;
using test::Toy;
using Times = std::vector<Ticks>;
using Transfer = Timeline::Transfer;

Transfer transfer(std::size_t tensor, std::size_t from, std::size_t to, Ticks requested, Ticks start, Ticks end) {
  return {TensorId{tensor}, DeviceId{from}, DeviceId{to}, requested, start, end};
}

TEST(R1, FifoStartsReadyOpsByReadyTimeAndThenById) {
  // All on one device. op0 waits for op3, op1 for op2; op2, op3, op4 are ready at 0 and go by id: 0-2, 2-4, 4-6.
  // op1 is ready at 2 and op0 at 4, so op1 goes first although its id is larger: 6-7, then op0 7-8.
  Toy toy(1);
  const OpId op0 = toy.op({1}), op1 = toy.op({1}), op2 = toy.op({2}), op3 = toy.op({2});
  toy.op({2});
  toy.tensor(op3, 0, {op0});
  toy.tensor(op2, 0, {op1});
  const Answer answer = simulate(toy.build(), {{0, 0, 0, 0, 0}, {}});
  EXPECT_EQ(answer.timeline.op_start, (Times{7, 6, 0, 2, 4}));
  EXPECT_EQ(answer.outcome.makespan, 8);
}

TEST(R1, PriorityTakesTheEarliestInTheOrderAmongTheReadyOnes) {
  // op3 needs op0. Order 0 3 2 1: op0 0-2; at 2 op3 becomes ready, is first in the order and goes 2-4; op2 4-6, op1
  // 6-8. Order 2 1 0 3: op2, op1, op0, op3. Fifo: op1 and op2 were ready before op3.
  Toy toy(1);
  const OpId op0 = toy.op({2});
  toy.op({2});
  toy.op({2});
  const OpId op3 = toy.op({2});
  toy.tensor(op0, 0, {op3});
  const Problem problem = toy.build();
  const std::vector<std::uint8_t> device{0, 0, 0, 0};
  EXPECT_EQ(simulate(problem, {device, {0, 3, 2, 1}}, Schedule::priority).timeline.op_start, (Times{0, 6, 4, 2}));
  EXPECT_EQ(simulate(problem, {device, {2, 1, 0, 3}}, Schedule::priority).timeline.op_start, (Times{4, 2, 0, 6}));
  EXPECT_EQ(simulate(problem, {device, {}}).timeline.op_start, (Times{0, 2, 4, 6}));
}

TEST(R1, InOrderWaitsWhereTheNextOpIsNotReadyAndPriorityDoesNot) {
  // op2 0-5 on device 1, its tensor arrives at 6 on device 0, where op1 (2) needs it and op0 (3) needs nothing.
  // In order 2 1 0, device 0 waits: op1 6-8, op0 8-11. Priority runs op0 meanwhile: 0-3.
  Toy toy(2);
  toy.route(1, 0, {toy.channel(1, 1)});
  toy.op({3, 3});
  const OpId op1 = toy.op({2, 2}), op2 = toy.op({5, 5});
  toy.tensor(op2, 0, {op1});
  const Problem problem = toy.build();
  const Placement placement{{0, 0, 1}, {2, 1, 0}};
  EXPECT_EQ(simulate(problem, placement, Schedule::in_order).timeline.op_start, (Times{8, 6, 0}));
  EXPECT_EQ(simulate(problem, placement, Schedule::priority).timeline.op_start, (Times{0, 6, 0}));
}

TEST(R1, PriorityAndInOrderWithoutAnOrderAreRefused) {
  Toy toy(1);
  toy.op({1});
  const Problem problem = toy.build();
  for (const Schedule schedule : {Schedule::priority, Schedule::in_order})
    for (const auto& engine : {make_reference_engine(problem, schedule), make_exact_engine(problem, schedule)}) {
      try {
        engine->evaluate({{0}, {}});
        ADD_FAILURE() << "evaluated without an order";
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr(std::string(name_of(schedule))));
        EXPECT_THAT(error.what(), ::testing::HasSubstr("order"));
      }
    }
}

TEST(R2, ATensorIsSentOnceToEachOtherDeviceWithAConsumer) {
  // op0 0-2 on device 0; 3 bytes take 1 + 3 = 4: once to device 1 (op1, op2) and once to device 2 (op3), both 2-6.
  // op4 on device 0 needs no transfer.
  Toy toy(3);
  toy.route(0, 1, {toy.channel(1, 1)});
  toy.route(0, 2, {toy.channel(1, 1)});
  std::vector<OpId> ops;
  for (const Ticks time : {2, 1, 1, 1, 1}) ops.push_back(toy.op({time, time, time}));
  toy.tensor(ops[0], 3, {ops[1], ops[2], ops[3], ops[4]});
  const Answer answer = simulate(toy.build(), {{0, 1, 1, 2, 0}, {}});
  EXPECT_EQ(answer.timeline.transfers, (std::vector{transfer(0, 0, 1, 2, 2, 6), transfer(0, 0, 2, 2, 2, 6)}));
  EXPECT_EQ(answer.timeline.op_start, (Times{0, 6, 7, 6, 2}));
  EXPECT_EQ(answer.usage.channel_bytes, (std::vector<Bytes>{3, 3}));
}

TEST(R3, OneChannelServesTensorsByIdAndThenDestination) {
  // One channel for all that leaves device 0, a tick per byte. op0 ends at 2 with tensor 0 (2 bytes, for devices 2 and
  // 1) and tensor 1 (1 byte, for device 1): tensor 0 to device 1 2-4, to device 2 4-6, tensor 1 6-7.
  Toy toy(3);
  const ChannelId egress = toy.channel(0, 1);
  toy.route(0, 1, {egress});
  toy.route(0, 2, {egress});
  const OpId op0 = toy.op({2, 2, 2}), op1 = toy.op({1, 1, 1}), op2 = toy.op({1, 1, 1}), op3 = toy.op({1, 1, 1});
  toy.tensor(op0, 2, {op1, op2});
  toy.tensor(op0, 1, {op3});
  const Answer answer = simulate(toy.build(), {{0, 2, 1, 1}, {}});
  EXPECT_EQ(answer.timeline.transfers,
            (std::vector{transfer(0, 0, 1, 2, 2, 4), transfer(0, 0, 2, 2, 4, 6), transfer(1, 0, 1, 2, 6, 7)}));
}

TEST(R3, ABusServesRequestsByTimeAndThenByTensorWhoeverSends) {
  // op2 on device 2 ends at 1; op0 on device 0 and op1 on device 1 both end at 3. Tensor 0 belongs to op1, tensor 1 to
  // op0, tensor 2 to op2; 2 ticks each. Tensor 2 is requested first: 1-3. At 3 tensor 0 goes before tensor 1: 3-5, 5-7.
  Toy toy(3);
  const ChannelId bus = toy.channel(0, 1);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      if (i != j) toy.route(i, j, {bus});
  const OpId op0 = toy.op({3, 3, 3}), op1 = toy.op({3, 3, 3}), op2 = toy.op({1, 1, 1}), op3 = toy.op({1, 1, 1});
  toy.tensor(op1, 2, {op3});
  toy.tensor(op0, 2, {op3});
  toy.tensor(op2, 2, {op3});
  // op3 on device 2 takes tensors 0 and 1; tensor 2 is there already. Then with op3 on device 0.
  const Problem problem = toy.build();
  EXPECT_EQ(simulate(problem, {{0, 1, 2, 2}, {}}).timeline.transfers,
            (std::vector{transfer(0, 1, 2, 3, 3, 5), transfer(1, 0, 2, 3, 5, 7)}));
  const Answer answer = simulate(problem, {{1, 1, 2, 0}, {}});
  // op0 0-3 and op1 3-6 on device 1: tensor 2 1-3, tensor 1 3-5, tensor 0 6-8.
  EXPECT_EQ(answer.timeline.transfers,
            (std::vector{transfer(2, 2, 0, 1, 1, 3), transfer(1, 1, 0, 3, 3, 5), transfer(0, 1, 0, 6, 6, 8)}));
}

TEST(R3, ATransferOverTwoChannelsBlocksTheLinesOfBoth) {
  // Routes 0->1 over A, 0->2 over A and B, 1->2 over B. Tensor 0 holds A 1-5. Tensor 1, requested at 3, waits for A
  // until 5 and is first in B's line, so tensor 2, requested at 4, waits behind it although B is free: 5-6, then 6-7.
  Toy toy(3);
  const ChannelId a = toy.channel(0, 1), b = toy.channel(0, 1);
  toy.route(0, 1, {a});
  toy.route(0, 2, {a, b});
  toy.route(1, 2, {b});
  const OpId op0 = toy.op({1, 1, 1}), op1 = toy.op({2, 2, 2}), op2 = toy.op({4, 4, 4});
  const OpId op3 = toy.op({1, 1, 1}), op4 = toy.op({1, 1, 1}), op5 = toy.op({1, 1, 1});
  toy.tensor(op0, 4, {op3});
  toy.tensor(op1, 1, {op4});
  toy.tensor(op2, 1, {op5});
  const Answer answer = simulate(toy.build(), {{0, 0, 1, 1, 2, 2}, {}});
  EXPECT_EQ(answer.timeline.transfers,
            (std::vector{transfer(0, 0, 1, 1, 1, 5), transfer(1, 0, 2, 3, 5, 6), transfer(2, 1, 2, 4, 6, 7)}));
  EXPECT_EQ(answer.usage.channel_busy, (Times{5, 2}));
  EXPECT_EQ(answer.usage.channel_bytes, (std::vector<Bytes>{5, 2}));
}

TEST(R3, ARouteAddsLatenciesAndTakesTheSmallestBandwidth) {
  // Latencies 2 + 3, 5 bytes at 4 ticks per byte: 25.
  Toy toy(2);
  toy.route(0, 1, {toy.channel(2, 1), toy.channel(3, 4)});
  const OpId op0 = toy.op({1, 1}), op1 = toy.op({1, 1});
  toy.tensor(op0, 5, {op1});
  EXPECT_EQ(simulate(toy.build(), {{0, 1}, {}}).timeline.op_start, (Times{0, 26}));
}

TEST(R3, AChannelWithoutContentionMakesNobodyWait) {
  // Two tensors of 4 ticks at 1: both 1-5. With a channel with contention on the route, one after the other.
  for (const bool contention : {false, true}) {
    Toy toy(2);
    toy.route(0, 1, {toy.channel(0, 1, false), toy.channel(0, 1, contention)});
    const OpId op0 = toy.op({1, 1}), op1 = toy.op({1, 1}), op2 = toy.op({1, 1});
    toy.tensor(op0, 4, {op1});
    toy.tensor(op0, 4, {op2});
    const Answer answer = simulate(toy.build(), {{0, 1, 1}, {}});
    EXPECT_EQ(answer.timeline.transfers[1], contention ? transfer(1, 0, 1, 1, 5, 9) : transfer(1, 0, 1, 1, 1, 5));
    EXPECT_EQ(answer.usage.channel_busy, (Times{8, 8}));
  }
}

TEST(R3, AnEmptyTensorStillTakesATick) {
  Toy toy(2);
  toy.route(0, 1, {toy.channel(0, 1)});
  const OpId op0 = toy.op({1, 1}), op1 = toy.op({1, 1});
  toy.tensor(op0, 0, {op1});
  EXPECT_EQ(simulate(toy.build(), {{0, 1}, {}}).outcome.makespan, 3);
}

TEST(R4, WhatEndsAtAnInstantIsHandledBeforeAnythingStarts) {
  // op1 runs 0-4 on device 0; op3 0-3 on device 1, its tensor arrives at 4. At 4 the device is free, op2 has been ready
  // since 0 and op0 is ready now: in the order 3 1 0 2 op0 goes first.
  Toy toy(2);
  toy.route(1, 0, {toy.channel(0, 1)});
  const OpId op0 = toy.op({1, 1});
  toy.op({4, 4});
  toy.op({1, 1});
  const OpId op3 = toy.op({3, 3});
  toy.tensor(op3, 1, {op0});
  const Answer answer = simulate(toy.build(), {{0, 0, 0, 1}, {3, 1, 0, 2}}, Schedule::priority);
  EXPECT_EQ(answer.timeline.op_start, (Times{4, 0, 5, 0}));
}

TEST(R5, BuffersLiveFromTheirStartToTheirLastUse) {
  // op0 0-2 on device 0 (resident 10, scratch 3) makes 5 bytes for op1 (device 0) and op2 (device 1); the copy travels
  // 2-7. op1 2-7 (resident 1, scratch 2) -> op3 7-8 on device 0, which makes 9 bytes without consumers. Device 0: 11
  // resident; at 0 + 3 + 5 = 19; at 2 - 3 + 2 = 18; at 7 first - 2 (scratch) - 5 (op1 and the send end), then + 9 = 20,
  // the peak. Device 1: 7 resident, + 5 at 2, op2 at 7 with scratch 1: 13.
  Toy toy(2);
  toy.route(0, 1, {toy.channel(0, 1)});
  const OpId op0 = toy.op({2, 2}, 10, 3), op1 = toy.op({5, 5}, 1, 2), op2 = toy.op({1, 1}, 7, 1), op3 = toy.op({1, 1});
  toy.tensor(op0, 5, {op1, op2});
  toy.tensor(op1, 0, {op3});
  toy.tensor(op3, 9, {});
  const Answer answer = simulate(toy.build(), {{0, 0, 1, 0}, {}});
  EXPECT_EQ(answer.timeline.op_start, (Times{0, 2, 7, 7}));
  EXPECT_EQ(answer.usage.device_peak, (std::vector<Bytes>{20, 13}));
}

TEST(R5, ACopyIsAllocatedWhenItsTransferStartsNotWhenItIsAskedFor) {
  // Two tensors of 4 bytes for device 1, sent 1-5 and 5-9; op1 uses the first 5-6, op2 the second from 9. The second
  // copy is allocated at 5 while the first lives until 6: 8. Had op1 taken no time they would not overlap.
  Toy toy(2);
  toy.route(0, 1, {toy.channel(0, 1)});
  const OpId op0 = toy.op({1, 1}), op1 = toy.op({1, 1}), op2 = toy.op({1, 1});
  toy.tensor(op0, 4, {op1});
  toy.tensor(op0, 4, {op2});
  const Answer answer = simulate(toy.build(), {{0, 1, 1}, {}});
  EXPECT_EQ(answer.usage.device_peak, (std::vector<Bytes>{8, 8}));
  // Under one sender for three tensors the third copy (9-13) never meets the first: still 8, although all are requested
  // at 1.
  Toy three(2);
  three.route(0, 1, {three.channel(0, 1)});
  const OpId from = three.op({1, 1});
  for (int i = 0; i < 3; ++i) three.tensor(from, 4, {three.op({1, 1})});
  EXPECT_EQ(simulate(three.build(), {{0, 1, 1, 1}, {}}).usage.device_peak, (std::vector<Bytes>{12, 8}));
}

// op0 cannot run on device 1; op1 -> op2 (4 bytes) are one group; there is no route from device 1 to device 0.
Problem troubled() {
  Toy toy(2);
  toy.route(0, 1, {toy.channel(0, 1)});
  toy.op({5, -1});
  const OpId op1 = toy.op({5, 5}, 0, 0, "g"), op2 = toy.op({5, 5}, 0, 0, "g");
  toy.tensor(op1, 4, {op2});
  return toy.build();
}

TEST(R6, TheFirstTroubleInTheOrderOfTheRuleIsReported) {
  Problem problem = troubled();
  problem.devices[0].memory = problem.devices[1].memory = 1;
  // op0 on device 1, and also a missing route, a split group and too little memory: the op.
  Answer answer = simulate(problem, {{1, 1, 0}, {}});
  EXPECT_EQ(answer.outcome, (Outcome{Outcome::unknown, 0, Infeasible::unsupported_op, 1, 0}));
  EXPECT_EQ(answer.usage, Usage{});
  EXPECT_EQ(answer.timeline, Timeline{});
  // Then the route: tensor 0 to device 0.
  answer = simulate(problem, {{0, 1, 0}, {}});
  EXPECT_EQ(answer.outcome, (Outcome{Outcome::unknown, 0, Infeasible::missing_route, 0, 0}));
  EXPECT_EQ(answer.usage, Usage{});
  // Then the group, with times and with the overflow: 4 bytes on both devices, 1 allowed; op0 0-5, op1 5-10 on device
  // 0, 4 ticks on the way, op2 14-19.
  answer = simulate(problem, {{0, 0, 1}, {}});
  EXPECT_EQ(answer.outcome, (Outcome{19, 6, Infeasible::split_group, 0, 0}));
  EXPECT_EQ(answer.usage.device_peak, (std::vector<Bytes>{4, 4}));
  // Then memory: 4 bytes on device 1.
  answer = simulate(problem, {{0, 1, 1}, {}});
  EXPECT_EQ(answer.outcome, (Outcome{10, 3, Infeasible::memory, 1, 0}));
  // No reason: a peak equal to the memory is allowed.
  problem.devices[1].memory = 4;
  answer = simulate(problem, {{0, 1, 1}, {}});
  EXPECT_EQ(answer.outcome, (Outcome{10, 0, Infeasible::no, 0, 0}));
}

// op0 sends tensor 0 to op1 and op2, and tensor 1 of no bytes to op1. Both are cut; tensor 0 counts once, to however
// many devices it is sent, and tensor 2, which nothing reads, is not cut.
TEST(R6, ATensorIsCutOnceWhereverItsConsumersAreAndCutsComeBeforeMemory) {
  Toy toy(3);
  for (std::size_t from = 0; from < 3; ++from)
    for (std::size_t to = 0; to < 3; ++to)
      if (from != to) toy.route(from, to, {toy.channel(1, 1)});
  const OpId op0 = toy.op({1, 1, 1}), op1 = toy.op({1, 1, 1}), op2 = toy.op({1, 1, 1});
  toy.tensor(op0, 4, {op1, op2});
  toy.tensor(op0, 0, {op1});
  toy.tensor(op2, 9, {});
  Problem problem = toy.build();
  problem.max_cuts = 2;
  EXPECT_TRUE(simulate(problem, {{0, 1, 2}, {}}).outcome.feasible());
  problem.max_cuts = 1;
  const Outcome cut = simulate(problem, {{0, 1, 2}, {}}).outcome;
  EXPECT_EQ(cut.why, Infeasible::too_many_cuts);
  EXPECT_EQ(cut.subject, 2U);
  EXPECT_TRUE(cut.timed());
  EXPECT_TRUE(simulate(problem, {{0, 0, 1}, {}}).outcome.feasible()) << "tensor 0 alone";
  problem.devices[2].memory = 12;  // 4 bytes of the copy and 9 of the output
  EXPECT_EQ(simulate(problem, {{0, 1, 2}, {}}).outcome, (Outcome{cut.makespan, 1, Infeasible::too_many_cuts, 0, 2}));
  problem.max_cuts = 0;
  EXPECT_TRUE(simulate(problem, {{1, 1, 1}, {}}).outcome.feasible());
}

TEST(R6, TheSmallestTensorAndThenTheSmallestDeviceWithoutARouteIsNamed) {
  Toy toy(3);
  const OpId op0 = toy.op({1, 1, 1}), op1 = toy.op({1, 1, 1}), op2 = toy.op({1, 1, 1});
  toy.tensor(op0, 0, {});
  toy.tensor(op0, 0, {op2, op1});
  toy.tensor(op0, 0, {op1});
  const Problem problem = toy.build();
  EXPECT_EQ(simulate(problem, {{0, 1, 2}, {}}).outcome,
            (Outcome{Outcome::unknown, 0, Infeasible::missing_route, 1, 1}));
  // Routes that the placement does not need may be missing.
  EXPECT_TRUE(simulate(problem, {{2, 2, 2}, {}}).outcome.feasible());
}

}  // namespace
}  // namespace emplace::simulate::rules_test
