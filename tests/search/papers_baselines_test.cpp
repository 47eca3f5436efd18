// cpu-only, auto and expert, worked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "emplace/search/placer.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::search::papers_baselines_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

PlacerResult place(const std::string& method, Problem problem, const std::vector<std::uint8_t>& expert = {}) {
  problem.expert = expert;
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, Schedule::fifo);
  PlacerRequest request;
  request.problem = &problem;
  request.evaluator = evaluator.get();
  return place_with(method, request, ConfigTable("command line"));
}

std::string refusal(const std::string& method, const Problem& problem) {
  try {
    place(method, problem);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(CpuOnly, PutsEverythingOnTheFirstCpuAndWhatItCannotRunOnTheFastest) {
  const Problem p = tiny({{"gpu:0", "gpu"}, {"cpu:0", "cpu"}, {"cpu:1", "cpu"}},
                         {{"a", {1, 9, 9}}, {"b", {1, 9, 1}}, {"c", {5, no, 4}}}, {{0, 1}, {1, 2}}, 1);
  EXPECT_THAT(place("cpu-only", p).placement.device, ElementsAre(1, 1, 2));
}

TEST(CpuOnly, SaysThatThereIsNoCpu) {
  EXPECT_EQ(refusal("cpu-only", chain_5(1)),
            "command line: the placer 'cpu-only' cannot be used: the problem has no device of kind 'cpu'");
}

const std::vector<Device> four_kinds = {{"cpu:0", "cpu"}, {"npu:0", "npu"}, {"igpu:0", "igpu"}, {"gpu:0", "gpu"}};

TEST(Auto, TakesTheDiscreteGpuHoweverSlowItIs) {
  const Problem p = tiny(four_kinds, {{"a", {1, 1, 1, 50}}, {"b", {1, 1, 1, 50}}}, {{0, 1}}, 1);
  EXPECT_THAT(place("auto", p).placement.device, ElementsAre(3, 3));
  EXPECT_EQ(place("auto", p).evaluations, 1u);
}

TEST(Auto, GoesDownTheListToTheFirstDeviceThatRunsEverything) {
  const auto device = [](std::vector<double> b) {
    return place("auto", tiny(four_kinds, {{"a", {1, 1, 1, 1}}, {"b", std::move(b)}}, {{0, 1}}, 1)).placement.device;
  };
  EXPECT_THAT(device({1, 1, 1, no}), ElementsAre(2, 2));
  EXPECT_THAT(device({1, 1, no, no}), ElementsAre(1, 1));
  EXPECT_THAT(device({1, no, no, no}), ElementsAre(0, 0));
}

TEST(Auto, GoesDownTheListWhereTheModelDoesNotFit) {
  const Problem p = tiny({{"cpu:0", "cpu"}, {"gpu:0", "gpu", 9}}, {{"a", {9, 1}, "", 5}, {"b", {9, 1}, "", 5}}, {});
  EXPECT_THAT(place("auto", p).placement.device, ElementsAre(0, 0));
}

TEST(Auto, PlacesOpByOpWhereNoDeviceRunsEverything) {
  // a: the GPU comes first. b and c are one group: only the CPU runs both. d: the NPU.
  const Problem p = tiny({{"cpu:0", "cpu"}, {"npu:0", "npu"}, {"gpu:0", "gpu"}},
                         {{"a", {1, 1, 9}}, {"b", {9, 9, 1}, "g"}, {"c", {9, no, no}, "g"}, {"d", {no, 1, no}}},
                         {{0, 1}, {1, 2}, {2, 3}}, 1);
  EXPECT_THAT(place("auto", p).placement.device, ElementsAre(2, 0, 0, 1));
}

TEST(Expert, PlacesAsToldButKeepsGroupsTogetherAndOpsWhereTheyRun) {
  // b is in the group of a, which comes first; c cannot run on device 0 and is fastest on 2.
  const Problem p =
      tiny(plain_devices(3), {{"a", {1, 1, 1}, "g"}, {"b", {1, 1, 1}, "g"}, {"c", {no, 5, 4}}, {"d", {1, 1, 1}}},
           {{0, 1}, {1, 2}, {2, 3}}, 1);
  EXPECT_THAT(place("expert", p, {1, 0, 0, 2}).placement.device, ElementsAre(1, 1, 2, 2));
}

TEST(Expert, SaysWhichProblemsHaveOneWhereItIsNotKnown) {
  EXPECT_EQ(refusal("expert", chain_5(1)),
            "command line: the placer 'expert' cannot be used: no expert's placement is known of 'tiny'; zoo models "
            "(zoo:NAME@MACHINE) have one, and files of problem/2 may have one");
}

}  // namespace
}  // namespace emplace::search::papers_baselines_test
