// HEFT, CPOP, PEFT, m-TOPO and m-ETF on examples worked by hand and on published ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <fstream>

#include "base/files.hpp"
#include "emplace/search/placer.hpp"
#include "formats/workload/workload.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/ten_tasks.hpp"

namespace emplace::search::list_schedulers_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

PlacerResult place(const std::string& method, const Problem& problem, const ConfigTable& options = {},
                   Schedule schedule = Schedule::in_order) {
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, {schedule, Objective::step});
  PlacerRequest request;
  request.problem = &problem;
  request.schedule = schedule;
  request.evaluator = evaluator.get();
  return place_with(method, request, options);
}

double milliseconds(const PlacerResult& result) {
  return static_cast<double>(result.outcome.makespan) / static_cast<double>(ms);
}

// Topcuoglu, Hariri, Wu 2002, figure 2: ten tasks on three processors; every edge has a delay of its own.
Problem ten_tasks() {
  ProblemBuilder builder("ten tasks");
  for (int d = 0; d < 3; ++d) builder.add_device({"p" + std::to_string(d), "cpu", no_memory_limit});
  builder.give_transfer_times(1);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      if (a != b) {
        const auto channel = builder.add_channel({std::to_string(a) + std::to_string(b), 0, 1, false});
        builder.add_route(DeviceId{a}, DeviceId{b}, {channel});
      }
  const double times[10][3] = {{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
                               {13, 16, 9}, {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16}};
  for (int i = 0; i < 10; ++i)
    builder.add_op({.name = "t" + std::to_string(i + 1),
                    .type = "",
                    .seconds = {times[i][0] * 1e-3, times[i][1] * 1e-3, times[i][2] * 1e-3},
                    .colocate = ""});
  const int edges[15][3] = {{1, 2, 18}, {1, 3, 12}, {1, 4, 9},   {1, 5, 11},  {1, 6, 14},
                            {2, 8, 19}, {2, 9, 16}, {3, 7, 23},  {4, 8, 27},  {4, 9, 23},
                            {5, 9, 13}, {6, 8, 15}, {7, 10, 17}, {8, 10, 11}, {9, 10, 13}};
  for (const auto& [from, to, delay] : edges) {
    const double seconds[] = {delay * 1e-3};
    builder.add_tensor(OpId{static_cast<std::size_t>(from - 1)}, 0, {OpId{static_cast<std::size_t>(to - 1)}}, {},
                       seconds);
  }
  return builder.build();
}

TEST(Heft, NeedsTheEightyOfItsPaper) { EXPECT_DOUBLE_EQ(milliseconds(place("heft", ten_tasks())), 80); }
TEST(Cpop, NeedsTheEightySixOfItsPaper) { EXPECT_DOUBLE_EQ(milliseconds(place("cpop", ten_tasks())), 86); }

// Arabnejad and Barbosa 2014, section 5: PEFT beats HEFT on many graphs, not on this one.
TEST(Peft, NeedsEightyFiveOnTheTenTasksOfHeft) { EXPECT_DOUBLE_EQ(milliseconds(place("peft", ten_tasks())), 85); }

// The same graph as a file, in microseconds.
TEST(Heft, NeedsTheEightyOfItsPaperInAFileOfTimesAndDelays) {
  const Problem problem = formats::read_problem_text(test::ten_tasks_file, "Topcuoglu-3-10.txt");
  EXPECT_DOUBLE_EQ(milliseconds(place("heft", problem)), 80e-3);
}

TEST(Heft, FindsThePublishedValuesOfItsReferenceTable) {
  const std::string folder = test::outside_file("workloads/het-dag/");
  REQUIRE_OUTSIDE_FILE(folder + "Kang2-3-10.txt");
  const std::pair<const char*, double> table[] = {
      {"Ahmad-3-9", 27},   {"Eswari-2-11", 65.5}, {"Heteropar-4-12", 150}, {"Ilavarasan-3-10", 80},
      {"Kang2-3-10", 106}, {"Liang-3-10", 80},    {"SampleFig-3-8", 89}};
  for (const auto& [name, units] : table) {  // a unit is a microsecond
    const Problem problem = formats::read_problem_file({folder + name + ".txt", {}});
    EXPECT_DOUBLE_EQ(milliseconds(place("heft", problem)), units * 1e-3) << name;
  }
}

// a(4) -> b(4) on both devices, transfers of 6; c(3) is free. Ranks: a 4 + 6 + 4 = 14, b 4, c 3; so c comes last; it
// does not fit on the device where a and b run without a pause, but into the idle time at the beginning of device 1.
TEST(Heft, PlacesATaskInAnIdleGapBeforeAnAlreadyPlacedTask) {
  // b cannot run on device 0: it starts there at 4 + 6 = 10, and c (rank 3) fills 0 to 3 in front of it. Device 0 would
  // end it at 4 + 3 = 7.
  const Problem problem = tiny(plain_devices(2), {{"a", {4, no}}, {"b", {no, 4}}, {"c", {3, 3}}}, {{0, 1}}, 6);
  const PlacerResult result = place("heft", problem);
  EXPECT_EQ(result.placement.device, (std::vector<std::uint8_t>{0, 1, 1}));
  EXPECT_EQ(result.placement.order, (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_DOUBLE_EQ(milliseconds(result), 14);
}

TEST(Heft, GivesTheFirstDeviceToATaskThatWouldEndEquallyEarlyOnBoth) {
  const Problem problem = tiny(plain_devices(2), {{"a", {5, 5}}}, {});
  EXPECT_EQ(place("heft", problem).placement.device[0], 0);
}

TEST(Heft, NeverPlacesATaskWhereItCannotRun) {
  const Problem problem = tiny(plain_devices(2), {{"a", {1, 9}}, {"b", {no, 9}}}, {{0, 1}}, 2);
  const PlacerResult result = place("heft", problem);
  EXPECT_EQ(result.placement.device, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_DOUBLE_EQ(milliseconds(result), 12);  // 1 + 2 + 9
}

// x(2) is equally fast everywhere; its consumer y runs on device 1 only, behind a transfer of 5. Without lookahead x
// goes to device 0 (a tie): 2 + 5 + 3 = 10; with lookahead to device 1: 2 + 3 = 5.
TEST(Heft, WithLookaheadChoosesTheDeviceWhereTheConsumerEndsFirst) {
  const Problem problem = tiny(plain_devices(2), {{"x", {2, 2}}, {"y", {no, 3}}}, {{0, 1}}, 5);
  EXPECT_DOUBLE_EQ(milliseconds(place("heft", problem)), 10);
  ConfigTable options("command line");
  options.set("lookahead", {true, "command line"});
  EXPECT_DOUBLE_EQ(milliseconds(place("heft", problem, options)), 5);
}

TEST(Heft, LooksAtMemoryOnlyWhereTheScheduleWithoutItDoesNotFit) {
  // Device 0 is faster for both, and holds one of them: the second run avoids the overflow.
  std::vector<Device> devices = {{"fast", "gpu", 10}, {"slow", "gpu", no_memory_limit}};
  const Problem tight = tiny(devices, {{"a", {1, 4}, "", 8}, {"b", {1, 4}, "", 8}}, {{0, 1}}, 1);
  const PlacerResult result = place("heft", tight);
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_EQ(result.evaluations, 2u);
  EXPECT_DOUBLE_EQ(milliseconds(result), 6);  // 1 + 1 + 4

  devices[0].memory = 16;
  const Problem roomy = tiny(devices, {{"a", {1, 4}, "", 8}, {"b", {1, 4}, "", 8}}, {{0, 1}}, 1);
  EXPECT_EQ(place("heft", roomy).evaluations, 1u);
}

TEST(Heft, SendsTheRestOfAGroupWhereItsFirstTaskWent) {
  // a goes to device 0 (1 against 5); b of the same group is faster on device 1.
  const Problem problem = tiny(plain_devices(2), {{"a", {1, 5}, "g"}, {"b", {9, 1}, "g"}}, {{0, 1}}, 1);
  EXPECT_EQ(place("heft", problem).placement.device, (std::vector<std::uint8_t>{0, 0}));
}

// Twenty ops, alternately for one and the other device only, without routes: every step would wait for ever, and times
// must not overflow.
TEST(ListSchedulers, PlaceChainsThatNoRoutesJoin) {
  ProblemBuilder builder("apart");
  for (const char* name : {"a", "b"}) builder.add_device({name, "gpu", no_memory_limit});
  for (std::size_t op = 0; op < 20; ++op)
    builder.add_op({.name = std::to_string(op),
                    .type = "",
                    .seconds = {op % 2 == 0 ? 1 : no, op % 2 == 1 ? 1 : no},
                    .colocate = ""});
  for (std::size_t op = 0; op + 1 < 20; ++op) builder.add_tensor(OpId{op}, 1, {OpId{op + 1}});
  const Problem problem = builder.build();
  for (const char* method : {"heft", "cpop", "peft", "m-topo", "m-etf", "m-sct"})
    EXPECT_EQ(place(method, problem).outcome.why, Infeasible::missing_route) << method;
}

// x and y of one group take 2 + 2 on device 0 and 1 + 9 on device 1. Without the group y would follow x from device 1
// to device 0 and end at 1 + 0.5 + 2, sooner than 4.
TEST(Heft, WithLookaheadKeepsAConsumerOfTheGroupWhereTheOpIs) {
  const Problem problem = tiny(plain_devices(2), {{"x", {2, 1}, "g"}, {"y", {2, 9}, "g"}}, {{0, 1}}, 0.5);
  ConfigTable options("command line");
  options.set("lookahead", {true, "command line"});
  EXPECT_EQ(place("heft", problem, options).placement.device, (std::vector<std::uint8_t>{0, 0}));
}

TEST(Cpop, KeepsTheCriticalPathOnTheDeviceThatRunsAllOfItFastest) {
  // a -> b is critical: 3 + 9 on device 0, 5 + 5 on device 1. c is short and goes where it ends first, to device 0.
  const Problem problem = tiny(plain_devices(2), {{"a", {3, 5}}, {"b", {9, 5}}, {"c", {1, 1}}}, {{0, 1}}, 2);
  EXPECT_EQ(place("cpop", problem).placement.device, (std::vector<std::uint8_t>{1, 1, 0}));
}

TEST(Cpop, PlacesEachTaskOfAPathThatNoDeviceRunsWhollyWhereItEndsFirst) {
  const Problem problem = tiny(plain_devices(2), {{"a", {3, no}}, {"b", {no, 5}}}, {{0, 1}}, 2);
  EXPECT_DOUBLE_EQ(milliseconds(place("cpop", problem)), 10);
}

// Each op holds 4 bytes and its output of 2: 24 in all, 12 per device, plus the largest unit, 6. The first device takes
// three (18), the second one.
TEST(MTopo, FillsOneDeviceAfterTheOtherUpToAnEqualShareOfTheMemory) {
  std::vector<Device> devices = {{"a", "gpu", 100}, {"b", "gpu", 100}};
  const Problem problem = tiny(
      devices, {{"1", {1, 1}, "", 4, 2}, {"2", {1, 1}, "", 4, 2}, {"3", {1, 1}, "", 4, 2}, {"4", {1, 1}, "", 4, 2}},
      {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_EQ(place("m-topo", problem).placement.device, (std::vector<std::uint8_t>{0, 0, 0, 1}));
}

TEST(MTopo, TurnsToOtherDevicesForWhatTheOneBeingFilledCannotRun) {
  std::vector<Device> devices = {{"a", "gpu", 100}, {"b", "gpu", 100}};
  const Problem problem =
      tiny(devices, {{"1", {1, 1}, "", 4}, {"2", {no, 1}, "", 4}, {"3", {1, 1}, "", 4}}, {{0, 1}, {1, 2}});
  EXPECT_EQ(place("m-topo", problem).placement.device, (std::vector<std::uint8_t>{0, 1, 0}));
}

// s(1) then a(10) and b(10), transfers of 3: a follows s at 1, b could start at 4 on device 1 or at 11 on device 0.
TEST(MEtf, TakesThePairOfTaskAndDeviceThatCanStartFirst) {
  const PlacerResult result = place("m-etf", fork_join(3));
  EXPECT_EQ(result.placement.device, (std::vector<std::uint8_t>{0, 0, 1, 1}));
  EXPECT_DOUBLE_EQ(milliseconds(result), 1 + 3 + 10 + 1);  // t waits for b (14), a's output has come by then
}

TEST(MEtf, LeavesADeviceWhoseMemoryIsGone) {
  std::vector<Device> devices = {{"fast", "gpu", 10}, {"slow", "gpu", no_memory_limit}};
  const Problem problem = tiny(devices, {{"a", {1, 4}, "", 8}, {"b", {1, 4}, "", 8}, {"c", {1, 4}, "", 8}}, {}, 1);
  const PlacerResult result = place("m-etf", problem);
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_EQ(result.evaluations, 1u);
  EXPECT_EQ(std::count(result.placement.device.begin(), result.placement.device.end(), 0), 1);
}

// a(3) -> {b(6) -> d(1), c(1)}, transfers of 4: of a's consumers, b has the longer path to the end and is the
// favourite.
TEST(MSct, KeepsADeviceFreeForTheFavouriteConsumer) {
  const Problem problem =
      tiny(plain_devices(2), {{"a", {3, 3}}, {"b", {6, 6}}, {"c", {1, 1}}, {"d", {1, 1}}}, {{0, 1}, {0, 2}, {1, 3}}, 4);
  const PlacerResult result = place("m-sct", problem);
  EXPECT_EQ(result.placement.device[0], result.placement.device[1]) << "b follows a";
  EXPECT_EQ(result.placement.device[1], result.placement.device[3]) << "d follows b";
  EXPECT_DOUBLE_EQ(milliseconds(result), 10);  // 3 + 6 + 1; c fits beside or before d
  EXPECT_EQ(result.note, "");
}

TEST(MSct, SaysWhereTheLinearProgramWouldBeTooLarge) {
  ConfigTable options("command line");
  options.set("most_edges", {std::int64_t{2}, "command line"});
  EXPECT_THAT(place("m-sct", fork_join(3), options).note, HasSubstr("costliest transfers"));
}

// Ops that need more memory than there is: every device is full while ops are still queued for it.
TEST(MEtf, PlacesEverythingWhereNothingFits) {
  std::vector<Device> devices = {{"a", "gpu", 10}, {"b", "gpu", 10}, {"c", "gpu", 10}};
  std::vector<TinyOp> ops;
  for (int i = 0; i < 12; ++i) ops.push_back({std::to_string(i), {1, 2, 3}, i % 4 == 0 ? "g" : "", 7});
  const PlacerResult result = place("m-etf", tiny(devices, ops, {}, 1));
  EXPECT_EQ(result.outcome.why, Infeasible::memory);
  EXPECT_EQ(result.evaluations, 3u) << "no view of memory helps";
}

}  // namespace
}  // namespace emplace::search::list_schedulers_test
