// Demands of users: pinned ops, forbidden devices, modules kept together.
#include "problem/constraints.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "emplace/problem/grouping.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::constraints_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Four ops in three modules on three devices; "d" has no module and cannot run on the first device.
Problem modules() {
  ProblemBuilder builder("modules");
  for (Device& device : plain_devices(3)) builder.add_device(std::move(device));
  const auto op = [&](const char* name, const char* module, double first) {
    OpSpec spec;
    spec.name = name;
    spec.seconds = {first, 1, 1};
    spec.module = module;
    builder.add_op(std::move(spec));
  };
  op("a", "encoder/layer.0", 1);
  op("b", "encoder/layer.0/attention", 1);
  op("c", "encoder/layer.1", 1);
  op("d", "", no);
  return builder.build("modules");
}

std::vector<bool> devices_of(const Problem& problem, std::size_t op) {
  std::vector<bool> devices;
  for (std::size_t d = 0; d < problem.device_count(); ++d) devices.push_back(problem.can_run(OpId{op}, DeviceId{d}));
  return devices;
}

Problem constrained(const Constraints& constraints) {
  Problem problem = modules();
  constrain(problem, constraints, "test");
  return problem;
}

TEST(Constraints, PinTheOpsOfAModuleToADevice) {
  const Problem problem = constrained({.pin = {"encoder/layer.0=gpu:1"}});
  EXPECT_THAT(devices_of(problem, 0), ElementsAre(false, true, false));
  EXPECT_THAT(devices_of(problem, 1), ElementsAre(false, true, false));
  EXPECT_THAT(devices_of(problem, 2), ElementsAre(true, true, true));
}

TEST(Constraints, PinOpsByNameWithWildcards) {
  const Problem problem = constrained({.pin = {"[ac]=gpu:2"}});
  EXPECT_THAT(devices_of(problem, 0), ElementsAre(false, false, true));
  EXPECT_THAT(devices_of(problem, 1), ElementsAre(true, true, true));
  EXPECT_THAT(devices_of(problem, 2), ElementsAre(false, false, true));
}

TEST(Constraints, ForbidADeviceForAllOpsOrForAPattern) {
  EXPECT_THAT(devices_of(constrained({.forbid = {"gpu:1"}}), 2), ElementsAre(true, false, true));
  const Problem one = constrained({.forbid = {"encoder/*=gpu:1"}});
  EXPECT_THAT(devices_of(one, 2), ElementsAre(true, false, true));
  EXPECT_THAT(devices_of(one, 3), ElementsAre(false, true, true));
}

TEST(Constraints, KeepTheOpsOfEachMatchingModuleTogether) {
  const Problem problem = constrained({.together = {"encoder/layer.*"}});
  ASSERT_FALSE(problem.group[0].is_none());
  EXPECT_EQ(problem.group[0], problem.group[1]);
  EXPECT_TRUE(problem.group[2].is_none());  // alone in its module
  EXPECT_EQ(make_grouping(problem, GroupingKind::colocation).count(), 3u);
}

TEST(Constraints, KeepOpsTogetherByNameIfNoModuleMatches) {
  const Problem problem = constrained({.together = {"[cd]"}});
  EXPECT_EQ(problem.group[2], problem.group[3]);
  EXPECT_FALSE(problem.group[2].is_none());
}

TEST(Constraints, LeaveAProblemWithoutDemandsAsItIs) { EXPECT_TRUE(same_but_for_the_name(constrained({}), modules())); }

TEST(Constraints, LimitTheNumberOfCuts) {
  EXPECT_EQ(modules().max_cuts, no_cut_limit);
  Problem chain = chain_5(2);
  constrain(chain, {.max_cuts = 2}, "test");
  EXPECT_EQ(chain.max_cuts, 2U);
  EXPECT_FALSE(same_but_for_the_name(chain, chain_5(2)));
  constrain(chain, {.max_cuts = std::numeric_limits<std::uint64_t>::max()}, "test");
  EXPECT_EQ(chain.max_cuts, chain.tensor_count()) << "more than all cannot be cut";
}

TEST(TaskConstraints, AreMadeOfTheProblemsInWhichTheyMatch) {
  TaskConstraints constraints({.pin = {"encoder/layer.0=gpu:1", "op0=gpu:2"}, .together = {"encoder/*"}, .max_cuts = 1},
                              "test");
  Problem first = modules(), second = tiny(plain_devices(3), {{"op0", {1, 1, 1}}, {"op1", {1, 1, 1}}}, {{0, 1}});
  constraints.apply(first);
  EXPECT_THROW(constraints.check_all_matched(), InputError) << "op0 is in the second";
  constraints.apply(second);
  constraints.check_all_matched();
  EXPECT_THAT(devices_of(first, 0), ElementsAre(false, true, false));
  EXPECT_THAT(devices_of(first, 3), ElementsAre(false, true, true));
  EXPECT_THAT(devices_of(second, 0), ElementsAre(false, false, true));
  EXPECT_THAT(devices_of(second, 1), ElementsAre(true, true, true));
  EXPECT_EQ(second.max_cuts, 1U);
}

TEST(TaskConstraints, RefuseADemandThatMatchesInNoProblemAndADeviceThatAMatchingProblemLacks) {
  TaskConstraints wrong({.forbid = {"decoder/*=gpu:1"}}, "r.toml");
  Problem problem = modules();
  wrong.apply(problem);
  EXPECT_THAT([&] { wrong.check_all_matched(); },
              ThrowsMessage<InputError>(HasSubstr("r.toml: 'decoder/*=gpu:1': its pattern matches no op or module")));
  TaskConstraints elsewhere({.pin = {"a=gpu:7"}}, "r.toml");
  EXPECT_THAT([&] { elsewhere.apply(problem); }, ThrowsMessage<InputError>(HasSubstr("unknown device 'gpu:7'")));
}

TEST(Constraints, AreWrittenAsArgumentsOfPlace) {
  EXPECT_EQ(arguments_of({}), "");
  EXPECT_EQ(
      arguments_of({.pin = {"encoder/*=gpu:0", "a=gpu:1"}, .forbid = {"gpu:2"}, .together = {"x"}, .max_cuts = 4}),
      "--pin 'encoder/*=gpu:0' --pin a=gpu:1 --forbid gpu:2 --together x --max-cuts 4");
}

std::string refusal(const Constraints& constraints) {
  try {
    constrained(constraints);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Constraints, RefuseUnknownDevicesAndPatternsThatMatchNothing) {
  EXPECT_THAT(refusal({.pin = {"a=gpu:7"}}), HasSubstr("unknown device 'gpu:7'"));
  EXPECT_THAT(refusal({.pin = {"decoder/*=gpu:1"}}), HasSubstr("no op or module matches 'decoder/*'"));
  EXPECT_THAT(refusal({.pin = {"gpu:1"}}), HasSubstr("PATTERN=DEVICE"));
  EXPECT_THAT(refusal({.together = {"x*"}}), HasSubstr("no op or module matches 'x*'"));
}

TEST(Constraints, RefuseDemandsThatLeaveAnOpOrAGroupWithoutADevice) {
  EXPECT_THAT(refusal({.pin = {"d=gpu:0"}}), HasSubstr("leave no device for op 'd'"));
  EXPECT_THAT(refusal({.pin = {"a=gpu:0", "b=gpu:1"}, .together = {"encoder/layer.0"}}),
              HasSubstr("together with the others of its group"));
}

}  // namespace
}  // namespace emplace::constraints_test
