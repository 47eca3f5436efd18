// `emplace inspect` of models, machines and placements, and `emplace machine probe`.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::inspect_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Inspect : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    write_file(folder_ / name, text);
    return folder_ / name;
  }
  static std::string printed(const std::string& source) {
    const Finished done = emplace_run({"inspect", source});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.out;
  }
  static json inspected(const std::string& source) {
    const Finished done = emplace_run({"inspect", source, "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out);
  }
  TemporaryFolder folder_;
};

TEST_F(Inspect, ListsTheInputsOfAModelWithTheirShapes) {
  const std::string model = "zoo:resnet-50?batch=4";
  EXPECT_THAT(printed(model), AllOf(HasSubstr("input"), HasSubstr("f32"), HasSubstr("4x3x224x224")));
  const json inputs = inspected(model)["inputs"];
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_EQ(inputs[0]["type"], "f32");
  EXPECT_EQ(inputs[0]["shape"], json({4, 3, 224, 224}));
}

TEST_F(Inspect, NamesAMachinesChannelsAndTheFiguresOfEachPairOfDevices) {
  // gpu:0 is on a link of 25 GB/s, gpu:1 on one of 6.4: a copy between them takes the slower one and both latencies.
  const std::string text = printed("rtx4090-rtx3060");
  EXPECT_THAT(text, AllOf(HasSubstr("pcie:gpu:0:from-host"), HasSubstr("25 GB/s"), HasSubstr("6.4 GB/s"),
                          HasSubstr("every pair of devices has a route")));
  const json machine = inspected("rtx4090-rtx3060");
  EXPECT_EQ(machine["channels"], 4);
  EXPECT_EQ(machine["channel_names"].size(), 4U);
  EXPECT_EQ(machine["missing_routes"], json::array());
  bool found = false;
  for (const json& pair : machine["pairs"])
    if (pair["from"] == "gpu:0" && pair["to"] == "gpu:1") {
      found = true;
      EXPECT_EQ(pair["bytes_per_s"], 6.4e9);
      EXPECT_EQ(pair["latency_s"], 2e-5);
    }
  EXPECT_TRUE(found);
}

TEST_F(Inspect, SaysWhichPairsOfDevicesHaveNoRoute) {
  const std::string machine = file("m.toml", R"(name = "apart"
extends = "k40x2"
[[topology]]
name = "pcie"
peers = false
)");
  EXPECT_THAT(printed(machine), HasSubstr("no route, so no tensor can go: gpu:0 -> gpu:1, gpu:1 -> gpu:0"));
  EXPECT_EQ(inspected(machine)["missing_routes"].size(), 2U);
}

TEST_F(Inspect, OfALargeMachineHasFewerThan250Lines) {
  const std::string text = printed("cluster-8x8");
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 250);
  EXPECT_THAT(text, AllOf(HasSubstr("more channels"), HasSubstr("every gpu"), Not(HasSubstr("no route"))));
}

TEST_F(Inspect, OfAPlacementChecksItAsEveryOtherCommandDoes) {
  const std::string good = file("p.json", R"({"emplace": "placement/1", "problem": "m", "schedule": "fifo",
      "ops": {"a": "gpu:0", "b": "cpu:0", "c": "gpu:0"}})");
  EXPECT_EQ(inspected(good)["ops_by_device"], json({{"cpu:0", 1}, {"gpu:0", 2}}));
  EXPECT_THAT(printed(good), HasSubstr("2 ops on 'gpu:0'"));
  expect_refused({"inspect", file("version.json", R"({"emplace": "placement/9", "ops": {}})")},
                 HasSubstr("'placement/9'"));
  expect_refused({"inspect", file("twice.json", R"({"emplace": "placement/1", "ops": {"a": "cpu", "a": "gpu"}})")},
                 HasSubstr("given twice"));
  expect_refused({"inspect", file("no-ops.json", R"({"emplace": "placement/1"})")}, HasSubstr("'ops'"));
  // Text that a parser which calls itself for each level would not survive.
  const std::string deep(1'000'000, '[');
  expect_refused({"inspect", file("deep.json", R"({"emplace": "placement/1", "ops": )" + deep)},
                 HasSubstr("nested deeper than 64 levels"));
  expect_refused({"inspect", file("deep2.json", R"({"ops": )" + deep)}, HasSubstr("nested deeper than 64 levels"));
  expect_refused({"inspect", file("deep3.json", deep)}, HasSubstr("nested deeper than 64 levels"));
}

TEST_F(Inspect, TellsAProblemByADigestOfItsContentAndListsItsNames) {
  const std::string problem = file("chain.json", example_problem);
  const auto digest = [](const std::string& of) {
    return json::parse(emplace_run({"inspect", of, "--names", "--json"}).out)["digest"].get<std::string>();
  };
  const std::string chain = digest(problem);
  EXPECT_EQ(chain.size(), 32U);
  for (const char* key : {"digest", "op_names"}) EXPECT_FALSE(inspected(problem).contains(key)) << "without --names";
  EXPECT_THAT(printed(problem), HasSubstr(chain));
  std::string changed = example_problem;
  changed.replace(changed.find("two-device"), 3, "2  ");
  EXPECT_EQ(digest(file("renamed.json", changed)), chain) << "the name is no content";
  changed.replace(changed.find("0.001"), 5, "0.002");
  EXPECT_NE(digest(file("slower.json", changed)), chain);

  const Finished named = emplace_run({"inspect", problem, "--names", "--json"});
  ASSERT_EQ(named.exit_code, 0) << named.err;
  EXPECT_EQ(json::parse(named.out)["device_names"], json({"cpu:0", "gpu:0"}));
  EXPECT_EQ(json::parse(named.out)["op_names"], json({"a", "b"}));
  expect_refused({"inspect", "k40x2", "--names"}, HasSubstr("'k40x2' is a machine"));
}

TEST_F(Inspect, MachineProbeDescribesThisHost) {
  const std::string machine = folder_ / "mine.toml";
  const Finished done = emplace_run({"machine", "probe", "-o", machine, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json result = json::parse(done.out);
  EXPECT_EQ(result["devices"][0], "cpu");
  EXPECT_THAT(read_file(machine), HasSubstr("measured: copies by all cores"));
  EXPECT_EQ(inspected(machine)["name"], "this-host");
  EXPECT_EQ(emplace_run({"cost", "zoo:rnnlm?detail=layer", machine, "-o", folder_ / "p.json"}).exit_code, 0);
  const Finished refused = emplace_run({"machine", "prob"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("there is: probe"));
  EXPECT_EQ(emplace_run({"machine", "probe", "-o", machine, "--name", "no name"}).exit_code, 2);
}

}  // namespace
}  // namespace emplace::test::inspect_test
