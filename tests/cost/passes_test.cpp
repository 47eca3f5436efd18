// What the passes that merge ops do to a Problem.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cost/lower.hpp"
#include "emplace/base/error.hpp"
#include "tests/cost/small_graphs.hpp"
#include "zoo/zoo.hpp"

namespace emplace::cost::passes_test {
namespace {

constexpr Ticks us = 1'000'000;

RooflineOptions options_of(const std::string& key, ConfigValue value) {
  ConfigTable table("test");
  table.set(key, std::move(value));
  return read_options<RooflineOptions>(table);
}

TEST(LowerWithPasses, AFusedOpIsLaunchedOnceAndKeepsItsIntermediateResult) {
  const Lowered fused = lower(dense_relu(), two_speeds(), options_of("fuse", {true, "test"}), "dense");
  ASSERT_EQ(fused.problem.op_count(), 1U);
  // MatMul and Relu of lower_test.cpp: 12e6 + 30000 FLOPs at 5e11 a second and one launch of 10 us.
  EXPECT_EQ(fused.problem.time(OpId{0}, DeviceId{0}), 24'060'000 + 10 * us);
  EXPECT_THAT(fused.became, ::testing::ElementsAre(OpId{0}, OpId{0}));
  EXPECT_THAT(fused.origin, ::testing::ElementsAre(OpId{0}));
}

TEST(LowerWithPasses, ADeviceRefusesAMergedOpWithATypeInsideThatItRefuses) {
  machine::Machine machine = two_speeds();
  machine.devices[0].unsupported = {"Relu"};
  const Lowered fused = lower(dense_relu(), machine, options_of("fuse", {true, "test"}), "dense");
  EXPECT_FALSE(fused.problem.can_run(OpId{0}, DeviceId{0}));
  EXPECT_TRUE(fused.problem.can_run(OpId{0}, DeviceId{1}));
  EXPECT_THAT(fused.unmatched_unsupported, ::testing::IsEmpty());
}

// What is placed together is still launched one by one: MatMul and Relu of lower_test.cpp take 34 and 12.4 us.
TEST(LowerWithPasses, CoarseningAndContractionLeaveFewerOpsThatTakeTheSumOfTheirTimes) {
  for (const RooflineOptions& options :
       {options_of("coarsen", {std::int64_t{1}, "test"}), options_of("contract", {std::string("chain"), "test"})}) {
    const Problem problem = lower(dense_relu(), two_speeds(), options, "d").problem;
    ASSERT_EQ(problem.op_count(), 1U);
    EXPECT_EQ(problem.time(OpId{0}, DeviceId{0}), 46'400'000);
  }
}

TEST(LowerWithPasses, AFusedSpeedupIsOfTheWorkNotOfTheLaunch) {
  machine::Machine machine = two_speeds();
  machine.devices[0].fused_speedup = {{"matmul", 2}, {"elementwise", 50}};
  const Lowered fused = lower(dense_relu(), machine, options_of("fuse", {true, "test"}), "dense");
  EXPECT_EQ(fused.problem.time(OpId{0}, DeviceId{0}), 12'030'000 + 10 * us);
  const Lowered apart = lower(dense_relu(), machine, options_of("fuse", {false, "test"}), "dense");
  EXPECT_EQ(apart.problem.time(OpId{0}, DeviceId{0}), 34 * us);
}

TEST(LowerWithPasses, CoLocationBecomesGroupsOfTheProblem) {
  const Lowered bound =
      lower(dense_relu(), two_speeds(), options_of("colocate", {std::string("colocrl"), "test"}), "d");
  EXPECT_THAT(bound.problem.group_names, ::testing::SizeIs(1));
}

TEST(LowerWithPasses, AsksForTheNumberOfLayersOfAModelWithoutNames) {
  const RooflineOptions options = options_of("contract", {std::string("layers"), "test"});
  EXPECT_THROW((void)lower(dense_relu(), two_speeds(), options, "d"), InputError);
  EXPECT_THROW((void)options_of("contract", {std::string("chains"), "test"}), InputError);
  EXPECT_THROW((void)options_of("coarsen", {std::int64_t{-1}, "test"}), InputError);
}

// GPT-2's slice of the position embedding depends on no input.
TEST(ApplyPasses, FoldsArithmeticOnWeightsInFilesButNotInTheZooOrInTraining) {
  Graph graph = zoo::build_zoo_model("gpt-2?layers=1", "the test");
  const auto places_slice = [&](const RooflineOptions& options) {
    const Graph placed = apply_passes(graph, options, "g").graph;
    return std::ranges::any_of(placed.ops, [](const GraphOp& op) { return op.name == "embedding/position"; });
  };
  EXPECT_TRUE(places_slice({}));
  graph.places_weight_arithmetic = false;  // as a reader of files leaves it
  EXPECT_FALSE(places_slice({}));
  EXPECT_TRUE(places_slice({.training = true}));
}

}  // namespace
}  // namespace emplace::cost::passes_test
