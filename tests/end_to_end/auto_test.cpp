// `emplace auto MODEL MACHINE`: a placement, and its verdict in five lines or as JSON.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/growth.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::auto_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string model = "zoo:nmt?layers=2&sequence=4&training=true";

const char* const chain =
    R"({"emplace": "problem/1", "devices": [{"name": "a", "memory_bytes": 99}, {"name": "b", "memory_bytes": 99}],
 "channels": [], "routes": [], "ops": [{"name": "x", "seconds": [0.1, 0.2]}, {"name": "y", "seconds": [0.1, 0.2]}],
 "tensors": [{"from": 0, "to": [1], "bytes": 4}]})";

class Auto : public ::testing::Test {
 protected:
  json result_of(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-o", file_, "--json"});
    const Finished done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("first verdict: "));
    return done.exit_code == 0 ? json::parse(done.out) : json();
  }
  TemporaryFolder folder_;
  const std::string file_ = folder_ / "placement.json";
};

TEST_F(Auto, PlacesAModelFileAndGivesTheStepTimeOfItsPlacement) {
  const std::string onnx = folder_ / "small.onnx", problem = folder_ / "problem.json";
  write_file(onnx, small_network());
  const json result = result_of({"auto", onnx, "k40x2", "--seconds", "2"});
  EXPECT_EQ(result["placement"], file_);
  EXPECT_EQ(result["feasible"], true);
  EXPECT_LE(result["lower_bound_s"], result["step_s"]);
  EXPECT_LE(result["step_s"], result["single_s"]);
  EXPECT_TRUE(result["expert_s"].is_null());
  EXPECT_FALSE(result["limit"].get<std::string>().empty());
  EXPECT_FALSE(result["verdict"].empty());
  ASSERT_EQ(emplace_run({"cost", onnx, "k40x2", "-o", problem}).exit_code, 0);
  const json simulated = json::parse(emplace_run({"simulate", problem, file_, "--json"}).out);
  EXPECT_EQ(simulated["makespan_s"], result["step_s"]);
}

TEST_F(Auto, IsWhatTheProgramDoesWithAModelAndAMachineAlone) {
  const json with = result_of({"auto", model, "k40x2", "--seconds", "1.5"});
  const json without = result_of({model, "k40x2", "--seconds", "1.5"});
  for (const char* key : {"problem", "single_s", "expert_s"}) EXPECT_EQ(with[key], without[key]) << key;
  EXPECT_GT(with["expert_s"], 0) << "the zoo's model has one";
}

TEST_F(Auto, SaysInFiveLinesHowFastWhatLimitsAndWhatNext) {
  const Finished done = emplace_run({"auto", model, "k40x2", "--seconds", "1.5", "-o", file_});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  std::istringstream lines(done.out);
  for (const std::string name : {"step time  ", "compared   ", "bound      ", "limit      ", "next       "}) {
    std::string line;
    std::getline(lines, line);
    EXPECT_THAT(line, ::testing::StartsWith(name));
    EXPECT_GT(line.size(), name.size());
  }
  EXPECT_THAT(done.out, HasSubstr("one device"));
}

TEST_F(Auto, SaysItsFirstVerdictOnThousandsOfOpsLongBeforeItEnds) {
  const std::string heard = folder_ / "heard";
  const double before = cpu_seconds();
  Process process({"sh", "-c", R"(exec "$0" "$@" 2> ")" + heard + '"', EMPLACE_PROGRAM, "auto",
                   "zoo:gnmt?layers=4&sequence=20&training=true", "k40x2", "--seconds", "100", "-o", file_});
  EXPECT_TRUE(
      comes_true([&] { return file_exists(heard) && read_file(heard).find("first verdict: ") != std::string::npos; }));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(std::chrono::seconds(60)).exit_code, 75) << read_file(heard);
  EXPECT_LT(cpu_seconds() - before, 6) << "2 s before it, and what the end takes";
}

TEST_F(Auto, SaysNothingTwiceAboutTheBound) {
  write_file(folder_ / "chain.json", chain);
  const Finished done = emplace_run({"auto", folder_ / "chain.json", "-o", file_});
  EXPECT_THAT(done.out, HasSubstr("\nbound      no placement is faster: this one is optimal\n"));
}

TEST_F(Auto, SearchesForAllOfItsTimeWhereItDoesNotTrain) {
  const json result = result_of({"auto", model, "k40x2", "--seconds", "4"});
  ASSERT_FALSE(result["proved_optimal"]) << "another model is needed";
  EXPECT_GE(result["seconds"], 3.9);
  EXPECT_THAT(result["ended"], ::testing::StartsWith("the time is up"));
  EXPECT_THAT(result["learning"],
              ::testing::ContainsRegex("no training: it needs 15 s at least, and [0-9.]+ s are left"));
}

// Alone x takes 1 s and y 2 ms: a split is 0.2 % faster.
TEST_F(Auto, UsesOneDeviceWhereASplitGainsNextToNothing) {
  write_file(
      folder_ / "two.json",
      R"({"emplace": "problem/1", "devices": [{"name": "a", "memory_bytes": 99}, {"name": "b", "memory_bytes": 99}],
 "channels": [], "routes": [], "tensors": [],
 "ops": [{"name": "x", "seconds": [1, 2]}, {"name": "y", "seconds": [0.002, 0.002]}]})");
  const json result = result_of({"auto", folder_ / "two.json", "--seconds", "2"});
  EXPECT_EQ(result["step_s"], 1.002);
  EXPECT_EQ(result["method"], "single");
  EXPECT_THAT(result["verdict"].get<std::vector<std::string>>(),
              ::testing::Contains(HasSubstr("splitting gains 0.2 %, too little: 1 s by ")));
}

TEST_F(Auto, SaysOnceThatOpsAreCostedOneByOne) {
  const auto limit = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"auto", model, "k40x2", "--seconds", "0.5"});
    return result_of(options)["limit"].get<std::string>();
  };
  EXPECT_THAT(limit({}), HasSubstr("ops are costed one by one: --fuse"));
  EXPECT_THAT(limit({"--fuse"}), ::testing::Not(HasSubstr("--fuse")));
}

TEST_F(Auto, SaysWhyNothingFits) {
  write_file(folder_ / "full.json",
             R"({"emplace": "problem/1", "name": "full", "tensors": [], "channels": [], "routes": [],
 "devices": [{"name": "a", "memory_bytes": 30}, {"name": "b", "memory_bytes": 30}],
 "ops": [{"name": "x", "seconds": [1, 1], "resident_bytes": 20}, {"name": "y", "seconds": [1, 1], "resident_bytes": 20},
         {"name": "z", "seconds": [1, 1], "resident_bytes": 20}]})");
  const auto full = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"auto", folder_ / "full.json", "--seconds", "2", "-o", file_});
    const Finished done = emplace_run(more);
    EXPECT_EQ(done.exit_code, 3) << done.err;
    return done.out;
  };
  // 60 B of weights in 60 B of memory, but a device has room for one op of 20 B, not for two.
  EXPECT_THAT(full({}), AllOf(HasSubstr("feasible"), HasSubstr("10 B")));
  write_file(folder_ / "full.json",
             R"({"emplace": "problem/1", "name": "full", "tensors": [], "channels": [], "routes": [],
 "devices": [{"name": "a", "memory_bytes": 10}], "ops": [{"name": "x", "seconds": [1], "resident_bytes": 20}]})");
  EXPECT_THAT(full({}), AllOf(HasSubstr("no placement is feasible: 'x' fits in the memory of no device"),
                              ::testing::Not(HasSubstr("next "))));
  EXPECT_THAT(json::parse(full({"--json"}))["reason"], HasSubstr("'x' fits in the memory of no device"));
}

// The search has no time, and every quick placer puts an op on each device, which no cut allows.
TEST_F(Auto, AlwaysWritesAPlacementAndItsReasonWhereNoFeasibleOneIsFound) {
  const Finished done =
      emplace_run({"auto", "zoo:inception-v3?batch=1@i9-flex170", "--pin", "Conv2d_2a/relu=cpu", "--pin", "pool=gpu",
                   "--max-cuts", "0", "--seconds", "0.0001", "-o", file_, "--json"});
  ASSERT_EQ(done.exit_code, 3) << done.err;
  const json result = json::parse(done.out);
  EXPECT_EQ(result["feasible"], false);
  EXPECT_THAT(result["reason"], HasSubstr("cross between devices, at most 0 may"));
  EXPECT_FALSE(json::parse(read_file(file_))["ops"].empty());
}

TEST_F(Auto, NamesItsFilesApartAndWritesNoReportBesideADevice) {
  const std::string problem = folder_ / "chain.json";
  write_file(problem, chain);
  expect_refused({"auto", problem, "-o", folder_ / "page.html"},
                 AllOf(HasSubstr("page.html"), HasSubstr("wanted .json")));
  const Finished done = emplace_run({"auto", problem, "-o", "/dev/null", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(json::parse(done.out)["report"].is_null());
  EXPECT_FALSE(file_exists("/dev/null.html"));
}

TEST_F(Auto, ProposesNoReportBecauseItWroteOne) {
  write_file(folder_ / "chain.json", chain);
  const json result = result_of({"auto", folder_ / "chain.json"});
  EXPECT_TRUE(result["next"].is_null()) << result["next"];
  EXPECT_TRUE(file_exists(result["report"]));
  EXPECT_THAT(emplace_run({"auto", folder_ / "chain.json", "-o", file_}).out, ::testing::Not(HasSubstr("\nnext ")));
}

TEST_F(Auto, EndsAsSoonAsThePlacementIsOptimal) {
  write_file(folder_ / "chain.json", chain);
  const json result = result_of({"auto", folder_ / "chain.json", "--seconds", "600"});
  EXPECT_EQ(result["step_s"], 0.2);
  EXPECT_EQ(result["proved_optimal"], true);
  EXPECT_LT(result["seconds"], 300);
}

TEST_F(Auto, KeepsTheConstraintsOfItsUser) {
  const json free = result_of({"auto", model, "k40x2", "--seconds", "1.5"});
  const json result = result_of({"auto", model, "k40x2", "--seconds", "1.5", "--pin", "*=gpu:1"});
  const json placement = json::parse(read_file(file_));
  for (const auto& [op, device] : placement["ops"].items()) EXPECT_EQ(device, "gpu:1") << op;
  EXPECT_GE(result["step_s"], free["step_s"]);
}

TEST_F(Auto, RefusesAMachineAfterAProblemAndABudgetOfZero) {
  expect_refused({"auto", "configs/problems/two-branches.json", "k40x2"}, HasSubstr("has its machine already"));
  expect_refused({"auto", model, "k40x2", "--seconds", "0"}, HasSubstr("above zero"));
  expect_refused({"auto", model, "no-such-machine"}, HasSubstr("no-such-machine"));
}

}  // namespace
}  // namespace emplace::test::auto_test
