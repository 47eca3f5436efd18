// emplace simulate --simulator and emplace list simulators.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::simulator_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Placeto's vector T7: s(40) -> x(50)@0, y(70)@1 -> z(10)@0, 760,000 bytes each; no channels.
constexpr const char* t7 = R"({"emplace": "problem/1", "name": "T7",
  "devices": [{"name": "d0", "memory_bytes": null}, {"name": "d1", "memory_bytes": null}],
  "ops": [{"name": "s", "seconds": [40e-6, 40e-6]}, {"name": "x", "seconds": [50e-6, 50e-6]},
          {"name": "y", "seconds": [70e-6, 70e-6]}, {"name": "z", "seconds": [10e-6, 10e-6]}],
  "tensors": [{"from": 0, "bytes": 760000, "to": [1, 2]}, {"from": 1, "bytes": 760000, "to": [3]},
              {"from": 2, "bytes": 760000, "to": [3]}]})";
constexpr const char* t7_placement = R"({"emplace": "placement/1", "problem": "T7",
  "ops": {"s": "d0", "x": "d0", "y": "d1", "z": "d0"}, "schedule": "in-order", "order": ["s", "x", "y", "z"]})";

class Simulator : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(problem_, t7);
    write_file(placement_, t7_placement);
  }
  Finished simulate(std::vector<std::string> more) {
    more.insert(more.begin(), {"simulate", problem_, placement_});
    return emplace_run(std::move(more));
  }
  TemporaryFolder folder_;
  std::string problem_ = folder_ / "problem.json", placement_ = folder_ / "placement.json";
};

TEST_F(Simulator, PlacetosVectorComesOutOnTheCommandLine) {
  const auto done = simulate({"--simulator", "placeto", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  // The placement's own schedule is not Placeto's.
  EXPECT_THAT(done.err, ::testing::AllOf(HasSubstr("placeto has no schedule in-order"), HasSubstr("placement.json")));
  EXPECT_EQ(json::parse(done.out), json::parse(R"({"makespan_ps": 335000000, "makespan_s": 0.000335, "feasible": true,
    "reason": null, "devices": [
      {"name": "d0", "busy_s": 0.0001, "peak_memory_bytes": 1520000, "overflow_bytes": 0},
      {"name": "d1", "busy_s": 0.00007, "peak_memory_bytes": 760000, "overflow_bytes": 0}], "channels": []})"));
}

TEST_F(Simulator, OptionsComeAfterAQuestionMark) {
  // 40 + 100 + 70 + 100 + 10 without any gap.
  const auto done = simulate({"--simulator", "placeto?gap_us=0&channel_gap_us=0", "--schedule", "fifo", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(json::parse(done.out)["makespan_ps"], 320000000);
}

TEST_F(Simulator, PlainNeedsRoutesAndThePlacementsScheduleIsItsOwn) {
  const auto done = simulate({"--simulator", "plain", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(done.out, simulate({"--json"}).out);
  EXPECT_THAT(json::parse(done.out)["reason"].get<std::string>(), HasSubstr("no route"));
}

TEST_F(Simulator, MistakesAreRefusedByName) {
  const auto unknown = simulate({"--simulator", "placetoo", "--json"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err, ::testing::AllOf(HasSubstr("'placetoo'"), HasSubstr("did you mean 'placeto'")));
  const auto schedule = simulate({"--simulator", "placeto", "--schedule", "priority"});
  EXPECT_EQ(schedule.exit_code, 2);
  EXPECT_THAT(schedule.err, HasSubstr("placeto has no schedule priority"));
  const auto trace = simulate({"--simulator", "giph", "--trace", folder_ / "trace.json"});
  EXPECT_EQ(trace.exit_code, 2);
  EXPECT_THAT(trace.err, HasSubstr("--trace"));
}

TEST_F(Simulator, TheListHasTheirOptions) {
  const auto done = emplace_run({"list", "simulators", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  std::vector<std::string> names;
  for (const json& entry : json::parse(done.out)) {
    names.push_back(entry["name"]);
    if (entry["name"] == "placeto") {
      EXPECT_EQ(entry["options"][0]["name"], "gap_us");
      EXPECT_EQ(entry["options"][0]["default"], "5.7");
    }
  }
  EXPECT_THAT(names, ::testing::IsSupersetOf({"plain", "placeto", "grappler", "baechi", "giph", "doppler", "quickp"}));
}

}  // namespace
}  // namespace emplace::test::simulator_test
