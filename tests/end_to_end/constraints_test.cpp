// Constraints of users on the command line and in recipes: pinned ops, and a limit on cuts.
#include <gmock/gmock.h>

#include <set>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/end_to_end/systems.hpp"
#include "tests/end_to_end/three_problems.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::constraints_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Six blocks of five ops: a first op, three that read it, and a last that reads these and feeds the next block. One
// tensor crosses between blocks. A device has room for four blocks.
json blocks() {
  json problem = {{"emplace", "problem/1"}, {"name", "blocks"}};
  for (const char* name : {"gpu:0", "gpu:1"})
    problem["devices"].push_back({{"name", name}, {"kind", "gpu"}, {"memory_bytes", 20}});
  problem["channels"] = {{{"name", "there"}, {"latency_s", 1e-4}, {"bytes_per_s", 1e9}},
                         {{"name", "back"}, {"latency_s", 1e-4}, {"bytes_per_s", 1e9}}};
  problem["routes"] = {{{"from", 0}, {"to", 1}, {"channels", {0}}}, {{"from", 1}, {"to", 0}, {"channels", {1}}}};
  for (int op = 0; op < 30; ++op) {
    const int first = op - op % 5;
    problem["ops"].push_back({{"name", "op" + std::to_string(op)}, {"seconds", {1e-3, 1e-3}}, {"resident_bytes", 1}});
    json to = json::array();
    if (op == first) to = {first + 1, first + 2, first + 3};
    if (op > first && op < first + 4) to = {first + 4};
    if (op == first + 4 && op + 1 < 30) to = {op + 1};
    problem["tensors"].push_back({{"from", op}, {"bytes", 0}, {"to", to}});
  }
  return problem;
}

// The tensors of a problem file with a consumer on another device than the producer.
int cuts_of(const json& problem, const json& placement) {
  int cuts = 0;
  const auto device = [&](const json& op) { return placement["ops"][problem["ops"][op.get<std::size_t>()]["name"]]; };
  for (const json& tensor : problem["tensors"])
    for (const json& consumer : tensor["to"])
      if (device(consumer) != device(tensor["from"])) {
        ++cuts;
        break;
      }
  return cuts;
}

class MaxCuts : public ::testing::Test {
 protected:
  MaxCuts() { write_file(problem_, blocks().dump()); }
  [[nodiscard]] int cuts() const { return cuts_of(blocks(), json::parse(read_file(placement_))); }
  TemporaryFolder folder_;
  const std::string problem_ = folder_ / "blocks.json", placement_ = folder_ / "placement.json";
};

TEST_F(MaxCuts, PlaceSplitsAModelThatDoesNotFitOneDeviceWithOneCut) {
  for (const char* ranks : {"1", "3"}) {
    const Finished done = emplace_run(std::stoi(ranks), {"place", "best", problem_, "--max-cuts", "1", "--evaluations",
                                                         "2000", "-o", placement_, "--json"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(json::parse(done.out)["feasible"], true);
    EXPECT_EQ(cuts(), 1);
  }
}

TEST_F(MaxCuts, PlaceSaysHowManyTensorsCrossWhereNothingIsFeasible) {
  const Finished done = emplace_run({"place", "climb", problem_, "--max-cuts", "0", "--evaluations", "300"});
  EXPECT_EQ(done.exit_code, 3) << done.err;
  EXPECT_THAT(done.out, HasSubstr("not feasible: "));
  const Finished many = emplace_run({"place", "round-robin", problem_, "--max-cuts", "2"});
  EXPECT_EQ(many.exit_code, 3) << many.err;
  EXPECT_THAT(many.out, HasSubstr("tensors cross between devices, at most 2 may"));
  expect_refused({"place", "climb", problem_, "--max-cuts", "-1"}, HasSubstr("--max-cuts"));
}

TEST_F(MaxCuts, PlaceKeepsToThemForAPipeline) {
  const Finished done = emplace_run({"place", "best", problem_, "--objective", "pipeline", "--max-cuts", "1",
                                     "--evaluations", "1000", "-o", placement_, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(cuts(), 1);
}

TEST_F(MaxCuts, AutoKeepsToThem) {
  const Finished done =
      emplace_run({"auto", problem_, "--seconds", "2", "--max-cuts", "2", "-o", placement_, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out)["feasible"], true);
  EXPECT_LE(cuts(), 2);
}

TEST_F(MaxCuts, ATrainingKeepsToThem) {
  const std::string run = folder_ / "run";
  const Finished done =
      emplace_run({"train", "configs/recipes/post-published.toml", "problem=" + problem_, "compare=[]", "grouping=even",
                   "groups=2", "max_cuts=1", "evaluations=60", "run=" + run});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_LE(cuts_of(blocks(), json::parse(read_file(run + "/best.placement.json"))), 1);
}

class ConstrainedTraining : public ::testing::TestWithParam<System> {
 protected:
  [[nodiscard]] std::vector<std::string> training(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments =
        GetParam().training({"grouping=chain", "groups=20", "evaluations=120", "run=" + run_});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  [[nodiscard]] std::set<std::string> devices_of(const std::string& prefix) const {
    std::set<std::string> devices;
    const json placement = json::parse(read_file(run_ + "/best.placement.json"));
    for (const auto& [op, device] : placement["ops"].items())
      if (op.starts_with(prefix)) devices.insert(device.get<std::string>());
    return devices;
  }
  TemporaryFolder folder_;
  const std::string run_ = folder_ / "run";
};

TEST_P(ConstrainedTraining, PlacesOnlyWhereItsRecipeAllowsAndGoesOnWithTheSameConstraints) {
  const auto arguments = training({"problem=" + first, "pin=[\"encoder*=gpu:1\"]", "forbid=[\"cpu:0\"]"});
  const Finished done = emplace_run(arguments);
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(devices_of("encoder"), std::set<std::string>{"gpu:1"});
  EXPECT_FALSE(devices_of("").contains("cpu:0"));
  const Finished more = emplace_run({"train", "--resume", run_, "evaluations=240"});
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_EQ(devices_of("encoder"), std::set<std::string>{"gpu:1"});
  expect_refused({"train", "--resume", run_, "evaluations=250", "pin=[\"encoder*=gpu:0\"]"}, HasSubstr("pin"));
}

INSTANTIATE_TEST_SUITE_P(Recipes, ConstrainedTraining, ::testing::ValuesIn(systems()), name_of_system);

TEST(ConstraintsOfSeveralProblems, AreMadeOfThoseInWhichTheyMatchAndMustMatchInOne) {
  const TemporaryFolder folder;
  const auto training = [&](const std::string& pin, const std::string& run) {
    return systems()[2].training({"problems=[\"" + first + "\", \"" + third + "\"]", "grouping=chain", "groups=12",
                                  "updates=1", "pin=[\"" + pin + "\"]", "run=" + (folder / run)});
  };
  const Finished done = emplace_run(training("encoder*=gpu:1", "run"));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json placement = json::parse(read_file(folder / "run/best.0.placement.json"));
  for (const auto& [op, device] : placement["ops"].items()) {
    EXPECT_TRUE(!op.starts_with("encoder") || device == "gpu:1") << op << " on " << device;
  }
  expect_refused(training("no-such-module=gpu:1", "other"),
                 AllOf(HasSubstr("'no-such-module=gpu:1'"), HasSubstr("matches no op or module of any problem")));
  EXPECT_FALSE(file_exists(folder / "other")) << "refused before the run begins";
}

}  // namespace
}  // namespace emplace::test::constraints_test
