#include "problem/contract.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "emplace/problem/grouping.hpp"
#include "emplace/simulate/engine.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/search/random_step.hpp"

namespace emplace::contract_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

constexpr double any_share = 1, no_share = 1e-9;

Ticks step_time(const Problem& problem, const Placement& placement) {
  return simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement).makespan;
}

// a -> b, c -> d, and the tail d -> e, all on two devices that can run everything.
Problem diamond() {
  return tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {9, 9}}, {"c", {9, 9}}, {"d", {1, 1}}, {"e", {1, 1}}},
              {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}, 1);
}

TEST(Contract, JoinsUpToTheLargestShareOfTheWork) {
  // Of 21 ms, d and e have 2; a branch with a or d would have 10.
  EXPECT_THAT(contract(diamond(), 9.5 / 21).op_of, ElementsAre(0, 1, 2, 3, 3));
  EXPECT_THAT(contract(diamond(), no_share).op_of, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(contract(diamond(), any_share).op_of, ElementsAre(0, 0, 0, 0, 0));
}

TEST(Contract, AddsTimesAndMemoryAndKeepsTensorsBetweenJoinedOps) {
  const Problem problem =
      tiny(plain_devices(2), {{"a", {1, 2}, "", 5, 8}, {"b", {3, 4}, "", 7, 16}, {"c", {50, 50}}, {"d", {50, 50}}},
           {{0, 1}, {1, 2}, {1, 3}}, 1);
  const Contracted small = contract(problem, 0.1);
  EXPECT_THAT(small.op_of, ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(small.leader, ElementsAre(1, 2, 3));
  EXPECT_THAT(small.problem.op_time, ElementsAre(4 * ms, 6 * ms, 50 * ms, 50 * ms, 50 * ms, 50 * ms));
  EXPECT_EQ(small.problem.resident[0], 12);
  EXPECT_THAT(small.problem.tensor_bytes, ElementsAre(16));
  EXPECT_THAT(small.problem.consumers.items, ElementsAre(1, 2));
}

TEST(Contract, LeavesApartWhatOtherDevicesOrOtherGroupsRun) {
  const Problem problem =
      tiny(plain_devices(2), {{"a", {1, no}}, {"b", {1, 1}, "g"}, {"c", {1, 1}, "h"}, {"d", {1, 1}}},
           {{0, 1}, {1, 2}, {2, 3}}, 1);
  const Contracted small = contract(problem, any_share);
  EXPECT_THAT(small.op_of, ElementsAre(0, 1, 2, 2));
  EXPECT_EQ(small.problem.group_names[small.problem.group[2].index()], "h");
}

TEST(Contract, CarriesPlacementsBothWays) {
  const Problem problem = diamond();
  const Contracted small = contract(problem, 9.5 / 21);
  const Placement placement{{1, 0, 1, 0}, {0, 2, 1, 3}};
  const Placement whole = small.expand(problem, placement);
  EXPECT_THAT(whole.device, ElementsAre(1, 0, 1, 0, 0));
  EXPECT_THAT(whole.order, ElementsAre(0, 2, 1, 3, 4));
  EXPECT_EQ(small.contract(whole).device, placement.device);
}

TEST(Contract, KeepsAnOrderWhereJoinedOpsAllowIt) {
  const Problem problem = diamond();
  const Contracted small = contract(problem, 9.5 / 21);
  EXPECT_THAT(small.contract({{0, 0, 0, 0, 0}, {0, 2, 1, 3, 4}}).order, ElementsAre(0, 2, 1, 3));
}

// Each op has an edge to the next two: a round joins few of them, and there are not many rounds.
TEST(Contract, EndsSoonOnALadder) {
  constexpr std::size_t ops = 20'000;
  ProblemBuilder builder("ladder");
  builder.add_device(plain_devices(1).front());
  for (std::size_t i = 0; i < ops; ++i) {
    OpSpec spec;
    spec.name = std::to_string(i);
    spec.seconds = {1e-6};
    builder.add_op(std::move(spec));
  }
  for (std::size_t i = 0; i + 1 < ops; ++i) {
    std::vector<OpId> to = {OpId{i + 1}};
    if (i + 2 < ops) to.emplace_back(i + 2);
    builder.add_tensor(OpId{i}, 1, std::move(to));
  }
  const std::size_t left = contracted_count(builder.build(), any_share);
  EXPECT_LT(left, ops);
  EXPECT_GT(left, ops - 1000) << "64 rounds with at most a few joins each";
}

TEST(Contract, HalvesTheShareWhereTooFewOpsWouldBeLeft) {
  EXPECT_EQ(contract(diamond(), any_share).problem.op_count(), 1U);
  EXPECT_THAT(contract(diamond(), any_share, 0.5).op_of, contract(diamond(), any_share / 2).op_of);
  EXPECT_THAT(contract(diamond(), any_share, 0.7).op_of, ElementsAre(0, 1, 2, 3, 3));
}

TEST(ContractLaw, KeepsCoLocationGroupsTogether) {
  Stream random({.seed = 4});
  int grouped = 0;
  for (int i = 0; i < 300; ++i) {
    const Problem problem = random_step_problem(random, 12, 3);
    if (problem.group_names.empty()) continue;
    const Grouping units = make_grouping(problem, GroupingKind::colocation);
    std::vector<std::uint8_t> device;
    for (std::size_t unit = 0; unit < units.count(); ++unit) {
      std::vector<std::uint8_t> can;
      for (std::uint8_t d = 0; d < problem.device_count(); ++d)
        if (units.allows(unit, d)) can.push_back(d);
      device.push_back(can[random.below(static_cast<std::uint32_t>(can.size()))]);
    }
    const Contracted small = contract(problem, 0.5);
    const Placement smaller = small.contract(units.expand(device));
    std::vector<int> of_group(small.problem.group_names.size(), -1);
    for (std::size_t op = 0; op < small.problem.op_count(); ++op) {
      if (small.problem.group[op].is_none()) continue;
      int& there = of_group[small.problem.group[op].index()];
      EXPECT_TRUE(there == -1 || there == smaller.device[op]) << i;
      there = smaller.device[op];
      ++grouped;
    }
  }
  EXPECT_GT(grouped, 100);
}

// Groups, memory limits, devices that cannot run an op, shared channels, pairs without a route.
TEST(ContractLaw, OfNothingJoinedIsTheProblemItself) {
  Stream random({.seed = 1});
  for (int i = 0; i < 200; ++i) {
    const Problem problem = random_step_problem(random, 12, 4, true);
    EXPECT_TRUE(same_but_for_the_name(contract(problem, no_share).problem, problem)) << i;
  }
}

TEST(ContractLaw, OneDeviceTakesAsLongForBoth) {
  Stream random({.seed = 2});
  int joined = 0;
  for (int i = 0; i < 200; ++i) {
    const Problem problem = random_step_problem(random, 12, 1);
    const Contracted small = contract(problem, 0.5);
    joined += small.problem.op_count() < problem.op_count() ? 1 : 0;
    const auto all = [](const Problem& of) { return Placement{std::vector<std::uint8_t>(of.op_count(), 0), {}}; };
    // An op of no cost takes a tick, and none where it is joined with others.
    const auto free = static_cast<Ticks>(std::ranges::count(problem.zero_cost, 1));
    const Ticks whole = step_time(problem, all(problem)), smaller = step_time(small.problem, all(small.problem));
    EXPECT_LE(smaller, whole) << i;
    EXPECT_GE(smaller, whole - free) << i;
  }
  EXPECT_GT(joined, 50);
}

TEST(ContractLaw, AnOrderOfTheSmallerProblemIsOneOfTheWhole) {
  Stream random({.seed = 3});
  for (int i = 0; i < 200; ++i) {
    const Problem problem = random_step_problem(random, 12, 3);
    const Contracted small = contract(problem, 0.5);
    EXPECT_EQ(contracted_count(problem, 0.5), small.problem.op_count());
    const Placement placement{std::vector<std::uint8_t>(small.problem.op_count(), 0), small.problem.topological};
    EXPECT_NO_THROW(check_placement(problem, small.expand(problem, placement))) << i;
  }
}

}  // namespace
}  // namespace emplace::contract_test
