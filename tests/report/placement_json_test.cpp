// The parts of what a page says of one placement.
#include "report/placement_json.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tests/report/found_placements.hpp"

namespace emplace::report::placement_json_test {
namespace {

using nlohmann::json;
using test::found;
using test::page_of;
using test::quick_limits;
using test::three_ops;
using test::tiny;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PlacementJson, HasTheStepAsItRuns) {
  const json page = page_of(three_ops());
  EXPECT_TRUE(page["missing"].is_null());
  EXPECT_EQ(page["time"], 50 * test::ms);
  EXPECT_EQ(page["ops"]["names"], (json{"m/a", "m/b", "c"}));
  EXPECT_EQ(page["ops"]["devices"], (json{0, 0, 1}));
  EXPECT_EQ(page["ops"]["made"], (json{500, 100, 0}));
  const json& timeline = page["timeline"];
  ASSERT_EQ(timeline["lanes"].size(), 3U) << "two devices and the channel that is used";
  EXPECT_EQ(timeline["lanes"][0]["name"], "gpu:0");
  EXPECT_EQ(timeline["lanes"][2]["name"], "0>1");
  EXPECT_EQ(timeline["lanes"][2]["items"], (json{0, 1}));
  EXPECT_EQ(timeline["lanes"][2]["gaps"], (json{10 * test::ms, 10 * test::ms}));
  EXPECT_EQ(timeline["transfers"]["ops"], (json{0, 1}));
  EXPECT_EQ(timeline["transfers"]["bytes"], (json{500, 100}));
  EXPECT_EQ(timeline["path"]["steps"], (json{0, 1, -2, 2})) << "a, b, the tensor of b, c";
  EXPECT_EQ(timeline["path"]["waiting"], 10 * test::ms) << "b waited for a's device";
}

// gpu:0 holds 1000 resident, and of outputs 500 until 20 ms and 100 from 10 ms until 40 ms; gpu:1 the copies from the
// begin of each transfer until c ends.
TEST(PlacementJson, HasMemoryWithItsCapacity) {
  const json page = page_of(three_ops());
  const json& first = page["memory"][0];
  EXPECT_EQ(first["capacity"], 5000);
  EXPECT_EQ(first["peak"], 1600);
  EXPECT_EQ(first["peak_at"], 10 * test::ms);
  EXPECT_EQ(first["times"], (json{0, 10 * test::ms, 20 * test::ms, 40 * test::ms, 50 * test::ms}));
  EXPECT_EQ(first["bytes"], (json{1500, 1600, 1100, 1000, 0}));
  EXPECT_EQ(first["resident"], 1000);
  EXPECT_EQ(first["outputs"], 600);
  EXPECT_TRUE(page["memory"][1]["capacity"].is_null());
  EXPECT_EQ(page["memory"][1]["copies"], 600);
}

TEST(PlacementJson, HasTheGraphByTheRunsUnits) {
  FoundPlacement placement = three_ops();
  placement.units = make_grouping(placement.problem(), GroupingKind::colocation, 2);  // c joins a neighbour
  const json groups = page_of(placement)["groups"];
  EXPECT_EQ(groups["units"], 2);
  ASSERT_EQ(groups["nodes"].size(), 2U);
  std::set<int> ops;
  Bytes inside = 0, between = 0;
  for (const json& node : groups["nodes"]) {
    for (const json& op : node["members"]) ops.insert(op.get<int>());
    for (const json& edge : node["inside"]) inside += edge[2].get<Bytes>();
  }
  for (const json& edge : groups["edges"]) between += edge[2].get<Bytes>();
  EXPECT_THAT(ops, ElementsAre(0, 1, 2));
  EXPECT_EQ(inside, 500) << "a's tensor, though it moves: both ends are in one unit";
  EXPECT_EQ(between, 100) << "b's tensor moves between devices";
  EXPECT_EQ(groups["of_ops"][0], groups["of_ops"][2]) << "c was joined with a, of which it reads most bytes";
  Bytes reads = 0, sends = 0;
  for (const json& node : groups["nodes"]) {
    reads += node["reads"].get<Bytes>();
    sends += node["sends"].get<Bytes>();
  }
  EXPECT_EQ(reads, between);
  EXPECT_EQ(sends, between);
}

// Eight ops in four modules on two devices; only the last module is on gpu:1. Its input moves there.
TEST(PlacementJson, HasTheGraphByModulesWithEdgesBetweenDevicesOnly) {
  std::vector<test::TinyOp> ops;
  std::vector<test::TinyEdge> edges;
  for (const char* module : {"stem", "body/0", "body/1", "head"})
    for (const char* op : {"a", "b"}) ops.push_back({std::string(module) + "/" + op, {10, 10}, "", 0, 100});
  for (std::size_t i = 0; i + 1 < ops.size(); ++i) edges.push_back({i, i + 1});
  const FoundPlacement placement = found(tiny(test::plain_devices(2), ops, edges, 10), {{0, 0, 0, 0, 0, 0, 1, 1}, {}});
  const json groups = page_of(placement, quick_limits())["groups"];
  EXPECT_EQ(groups["by_module"], true);
  std::vector<std::string> names;
  for (const json& node : groups["nodes"]) names.push_back(node["name"]);
  EXPECT_THAT(names, ElementsAre("stem", "body/0", "body/1", "head")) << "from inputs to outputs";
  EXPECT_EQ(groups["edges"], (json{{2, 3, 100}})) << "the only tensor that moves between devices";
  EXPECT_EQ(groups["nodes"][2]["sends"], 100);
  EXPECT_EQ(groups["nodes"][3]["reads"], 100);
}

TEST(PlacementJson, NamesAGroupAfterTheScopeOfMostOfItsOps) {
  FoundPlacement placement = three_ops();
  placement.placement.device = {0, 0, 0};
  placement.units = make_grouping(placement.problem(), GroupingKind::colocation, 1);
  EXPECT_EQ(page_of(placement)["groups"]["nodes"][0]["name"], "m/a…b");
}

TEST(PlacementJson, SaysWhatLimitsTheStepAndWhichMovesHelp) {
  // a and b keep gpu:0 busy for 30 of 50 ms. The chain b, its tensor, c takes 40 ms, and b waits for a.
  const json limits = page_of(three_ops())["limits"];
  EXPECT_EQ(limits["limits"][0]["kind"], "chain");
  EXPECT_EQ(limits["limits"][1]["name"], "gpu:0");
  EXPECT_EQ(limits["moves_possible"], 3);
  EXPECT_EQ(limits["moves_simulated"], 3);
  // b to gpu:1: a's tensor 10-20, b 0-20, c 20-30. a to gpu:1: b 0-20, its tensor 20-30, c 30-40. c to gpu:0: 30-40.
  ASSERT_EQ(limits["moves"].size(), 3U);
  EXPECT_EQ(limits["moves"][0]["name"], "m/b");
  EXPECT_EQ(limits["moves"][0]["to"], 1);
  EXPECT_EQ(limits["moves"][0]["time"], 30 * test::ms);
  EXPECT_EQ(limits["moves"][1]["time"], 40 * test::ms);
}

TEST(PlacementJson, SaysWhyThereIsNoStepAndDrawsTheRest) {
  FoundPlacement placement = three_ops();
  Problem problem = placement.problem();
  problem.op_time[5] = cannot_run;  // c on gpu:1
  placement.loaded =
      std::make_shared<const source::LoadedProblem>(source::LoadedProblem{.problem = problem, .warnings = {}});
  const json page = page_of(placement);
  EXPECT_TRUE(page["timeline"].is_null());
  EXPECT_TRUE(page["memory"].is_null());
  EXPECT_EQ(page["feasible"], false);
  EXPECT_THAT(page["reason"].get<std::string>(), HasSubstr("'c'"));
  EXPECT_EQ(page["groups"]["nodes"].size(), 3U);
}

TEST(PlacementJson, OfAPipelineHasTheLoadOfEachDevice) {
  const json page = page_of(three_ops("objective = \"pipeline\"\n"));
  EXPECT_TRUE(page["timeline"].is_null());
  ASSERT_EQ(page["loads"].size(), 2U);
  EXPECT_EQ(page["loads"][0]["compute"], 30 * test::ms);
  EXPECT_GE(page["time"], 30 * test::ms);
}

}  // namespace
}  // namespace emplace::report::placement_json_test
