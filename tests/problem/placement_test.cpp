#include "emplace/problem/placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::placement_test {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal(const Placement& placement) {
  // a -> b, a -> c.
  const Problem p = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}, {"c", {1, no}}}, {{0, 1}, {0, 2}});
  try {
    check_placement(p, placement, "placement.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CheckPlacement, AcceptsOneKnownDeviceAnOp) {
  EXPECT_EQ(refusal({{0, 1, 0}, {}}), "accepted");
  EXPECT_EQ(refusal({{0, 1, 1}, {}}), "accepted") << "that c cannot run there is for the simulator to say";
}

TEST(CheckPlacement, RefusesMissingOpsAndUnknownDevices) {
  EXPECT_EQ(refusal({{0, 1}, {}}), "placement.json: the placement has 2 ops, the problem has 3");
  EXPECT_EQ(refusal({{0, 2, 0}, {}}), "placement.json: op 'b' is on device 2, but there are 2 devices");
}

TEST(CheckPlacement, RefusesOrdersThatAreNoTopologicalPermutation) {
  EXPECT_EQ(refusal({{0, 0, 0}, {0, 2, 1}}), "accepted");
  EXPECT_THAT(refusal({{0, 0, 0}, {0, 1}}), HasSubstr("the order has 2 ops, the problem has 3"));
  EXPECT_THAT(refusal({{0, 0, 0}, {0, 1, 1}}), HasSubstr("op 'b' stands twice"));
  EXPECT_THAT(refusal({{0, 0, 0}, {0, 1, 3}}), HasSubstr("names op 3"));
  EXPECT_THAT(refusal({{0, 0, 0}, {1, 0, 2}}), HasSubstr("op 'b' before its producer 'a'"));
}

TEST(Names, OfSchedulesAndObjectivesGoBothWays) {
  for (const Schedule schedule : {Schedule::fifo, Schedule::priority, Schedule::in_order})
    EXPECT_EQ(schedule_of(name_of(schedule), ""), schedule);
  for (const Objective objective : {Objective::step, Objective::pipeline})
    EXPECT_EQ(objective_of(name_of(objective), ""), objective);
  EXPECT_EQ(name_of(Schedule::in_order), "in-order");
}

TEST(Names, UnknownOnesAreRefusedWithTheNearest) {
  try {
    schedule_of("inorder", "r.toml:4");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "r.toml:4: unknown schedule 'inorder' (did you mean 'in-order'?)");
  }
  try {
    objective_of("latency-bound", "r.toml:5");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), StartsWith("r.toml:5: unknown objective 'latency-bound'; there are: step, pipeline"));
  }
}

}  // namespace
}  // namespace emplace::placement_test
