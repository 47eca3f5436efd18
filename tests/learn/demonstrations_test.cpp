// What a teacher shows to the cross-entropy learner.
#include "learn/demonstrations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::demonstrations_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

TEST(EqualDevices, AreNumberedInTheOrderOfTheirUnits) {
  // Devices 0 and 2 are equal; 1 is slower. The last op alone is on 0, the first on 2: they change places.
  const Problem p = tiny(plain_devices(3), {{"a", {1, 2, 1}}, {"b", {1, 2, 1}}, {"c", {1, 2, 1}}}, {{0, 1}, {1, 2}}, 1);
  const policy::PolicyProblem problem(&p, make_grouping(p, GroupingKind::op));
  std::vector<std::uint8_t> device = {2, 1, 0};
  order_equal_devices(problem, device);
  EXPECT_THAT(device, ElementsAre(0, 1, 2));
  device = {2, 1, 2};  // 0 has no op, so it comes last
  order_equal_devices(problem, device);
  EXPECT_THAT(device, ElementsAre(0, 1, 0));
}

TEST(EqualDevices, AreNotThoseThatAnOpTellsApart) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 2}}}, {{0, 1}}, 1);
  const policy::PolicyProblem problem(&p, make_grouping(p, GroupingKind::op));
  std::vector<std::uint8_t> device = {1, 0};
  order_equal_devices(problem, device);
  EXPECT_THAT(device, ElementsAre(1, 0));
}

TEST(Demonstrations, AreTheTeachersPlacementsOfThePolicysUnits) {
  // 4 6 8 6 4 on device 0, 8 3 2 3 8 on 1, transfers of 1: b, c, d on 1 is best, 4 + 1 + 8 + 1 + 4 = 18.
  const Problem p = chain_5(1);
  const std::vector<policy::PolicyProblem> problems = {{&p, make_grouping(p, GroupingKind::op)}};
  Demonstrations shown({.teacher = "climb"}, {problems, 1});
  const auto policy = policy::make_policy("post", {}, problems, 1);
  const policy::Rollout* const rollout = shown.of(0, *policy);
  ASSERT_NE(rollout, nullptr);
  EXPECT_THAT(rollout->actions, ElementsAre(0, 1, 1, 1, 0));
  EXPECT_EQ(to_seconds(rollout->outcome.makespan), 0.018);
  EXPECT_EQ(shown.of(0, *policy), rollout);
}

TEST(Demonstrations, NeedAPolicyThatDecidesADeviceForEachUnit) {
  const Problem p = chain_5(1);
  const std::vector<policy::PolicyProblem> problems = {{&p, make_grouping(p, GroupingKind::op)}};
  Demonstrations shown({.teacher = "climb"}, {problems, 1});
  const auto policy = policy::make_policy("placeto", {}, problems, 1);
  EXPECT_THROW((void)shown.of(0, *policy), InputError);
}

TEST(CrossEntropy, ImitatesItsTeacherFromOneSampleAnUpdate) {
  Training t(chain_5(1), "cross-entropy", table({{"samples_per_update", whole(1)}, {"teacher", text("climb")}}), 1,
             "post");
  t.trainer->step();
  const policy::Rollout best = timed({0, 1, 1, 1, 0}, 18);
  policy::LogProbabilities log;
  t.policy->forward({&best, 1}, log);
  for (const double value : log.value) EXPECT_GT(value, std::log(0.85));  // eps of post is 0.1 for two devices
}

}  // namespace
}  // namespace emplace::learn::demonstrations_test
