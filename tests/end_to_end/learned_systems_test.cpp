// Every learned system on unusual problems: one op, too many groups, other devices, several problems.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "experiment/run/checkpoint.hpp"
#include "tests/end_to_end/bits.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/end_to_end/systems.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::learned_systems_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class LearnedSystems : public ::testing::TestWithParam<System> {
 protected:
  // One op: 2 s on d0, 1 s on d1.
  std::string one_op() const {
    write_file(folder_ / "one.json", R"({"emplace": "problem/1", "name": "one", "tensors": [],
      "devices": [{"name": "d0", "memory_bytes": null}, {"name": "d1", "memory_bytes": null}],
      "ops": [{"name": "a", "type": "MatMul", "seconds": [2, 1]}]})");
    return folder_ / "one.json";
  }
  // Ops a, b, ... of one second on each of two devices, with tensors {"from": ..., "to": [...], "bytes": ...}.
  std::string of_ops(const std::vector<std::string>& ops, const std::string& tensors) const {
    std::string list;
    for (const std::string& op : ops) list += (list.empty() ? "" : ", ") + op;
    write_file(folder_ / "graph.json", R"({"emplace": "problem/1", "name": "graph", "tensors": [)" + tensors + R"(],
      "devices": [{"name": "d0", "memory_bytes": null}, {"name": "d1", "memory_bytes": null}],
      "channels": [{"name": "bus", "latency_s": 1e-6, "bytes_per_s": 1e9}],
      "routes": [{"from": 0, "to": 1, "channels": [0]}, {"from": 1, "to": 0, "channels": [0]}], "ops": [)" +
                                           list + "]}");
    return folder_ / "graph.json";
  }
  [[nodiscard]] std::vector<std::string> training(const std::string& run, const std::vector<std::string>& more) const {
    auto arguments = GetParam().training({"run=" + (folder_ / run), "grouping=chain", "evaluations=80"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  TemporaryFolder folder_;
};

TEST_P(LearnedSystems, TrainOnAGraphOfOneOpAndPlaceIt) {
  const auto trained = emplace_run(training("run", {"problem=" + one_op(), "groups=1", "--json"}));
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(json::parse(trained.out)["ops"]["a"], "d1");
  const auto placed = emplace_run({"place", "--policy", folder_ / "run", one_op(), "--evaluations", "20", "--json"});
  ASSERT_EQ(placed.exit_code, 0) << placed.err;
  EXPECT_EQ(json::parse(placed.out)["method"], GetParam().name);
  EXPECT_EQ(json::parse(placed.out)["makespan_s"], 1.0);
}

TEST_P(LearnedSystems, TrainOnUnitsThatFormACycle) {
  const std::string ends = R"("type": "Add", "seconds": [1, 4], "colocate": "ends"})";
  const std::string cyclic = of_ops(
      {R"({"name": "a", )" + ends, R"({"name": "b", "type": "Mul", "seconds": [5, 1]})", R"({"name": "c", )" + ends},
      R"({"from": 0, "bytes": 1, "to": [1]}, {"from": 1, "bytes": 1, "to": [2]})");
  const auto done = emplace_run(training("run", {"problem=" + cyclic, "grouping=colocation", "groups=2", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json placed = json::parse(done.out)["ops"];
  EXPECT_EQ(placed["a"], "d0");
  EXPECT_EQ(placed["c"], "d0");
  EXPECT_EQ(placed["b"], std::string(GetParam().name) == "hsdag" ? "d0" : "d1") << "parsing makes one cluster of two";
}

TEST_P(LearnedSystems, TrainOnOpsWithoutEdgesAndOnTensorsWithoutBytes) {
  const auto op = [](const std::string& name) {
    return R"({"name": ")" + name + R"(", "type": "Add", "seconds": [1, 1]})";
  };
  const std::pair<const char*, double> graphs[] = {
      {"", 2}, {R"({"from": 0, "bytes": 0, "to": [1, 2]}, {"from": 1, "bytes": 0, "to": [3]})", 3}};
  for (const auto& [tensors, least] : graphs) {
    const std::string problem = of_ops({op("a"), op("b"), op("c"), op("d")}, tensors);
    const auto done = emplace_run(training("run", {"problem=" + problem, "grouping=op", "groups=4", "--json"}));
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(json::parse(done.out)["makespan_s"].get<double>(), AllOf(::testing::Ge(least), ::testing::Lt(4)))
        << "better than one device";
    std::filesystem::remove_all(folder_ / "run");
  }
}

TEST_P(LearnedSystems, AreRefusedAnOpThatReadsItself) {
  const std::string looped =
      of_ops({R"({"name": "a", "type": "Add", "seconds": [1, 1]})"}, R"({"from": 0, "bytes": 1, "to": [0]})");
  expect_refused(training("run", {"problem=" + looped}), AllOf(HasSubstr("graph.json"), HasSubstr("'a'")));
  EXPECT_FALSE(file_exists(folder_ / "run"));
}

TEST_P(LearnedSystems, TakeAsManyGroupsAsThereAreOps) {
  const auto done = emplace_run(training("run", {"problem=" + one_op(), "groups=3", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out)["feasible"], true);
}

TEST_P(LearnedSystems, AreRefusedToPlaceForOtherDevicesThanTheyWereTrainedFor) {
  const auto done = emplace_run(training("run", {"problem=" + small_training + "@k40x2", "groups=8", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  expect_refused({"place", "--policy", folder_ / "run", small_training + "@k40x4"},
                 AllOf(HasSubstr("trained for 3 devices"), HasSubstr("has 5")));
  expect_refused({"place", "--policy", folder_ / "run", small_training + "@laptop"},
                 AllOf(HasSubstr("trained for 3 devices"), HasSubstr("has 2")));
  // Ops of other types are not the error here, and there is no warning about them.
  expect_refused({"place", "--policy", folder_ / "run", one_op()},
                 AllOf(HasSubstr("trained for 3 devices"), HasSubstr("'one' has 2")));
}

TEST_P(LearnedSystems, WithANetworkAreRefusedProblemsOfDifferentDeviceCounts) {
  const auto arguments = training(
      "run", {"problems=[\"" + small_training + "@k40x2\", \"" + small_training + "@k40x4\"]", "groups=8", "--json"});
  if (std::string(GetParam().name) == "post") {  // a table for each problem
    const auto done = emplace_run(arguments);
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(json::parse(done.out).size(), 2U);
    return;
  }
  expect_refused(arguments, AllOf(HasSubstr("policy " + std::string(GetParam().name)), HasSubstr("@k40x2' has 3"),
                                  HasSubstr("@k40x4' has 5")));
}

INSTANTIATE_TEST_SUITE_P(Recipes, LearnedSystems, ::testing::ValuesIn(systems()), name_of_system);

class Hierarchical : public LearnedSystems {};
TEST_P(Hierarchical, TakesAsManyGroupsAsThereAreUnitsAndKeepsTheirNumber) {
  const auto done = emplace_run(training("run", {"problem=" + one_op(), "hierarchical.groups=3", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(read_file(folder_ / "run/config.toml"), HasSubstr("groups = 1"));
}
INSTANTIATE_TEST_SUITE_P(Recipes, Hierarchical, ::testing::Values(systems()[2]), name_of_system);

class Colocrl : public LearnedSystems {};
TEST_P(Colocrl, IsRefusedProblemsOfDifferentNumbersOfUnits) {
  const std::string other = "zoo:nmt?layers=2&sequence=5&training=true@k40x2";
  expect_refused(training("run", {"problems=[\"" + small_training + "@k40x2\", \"" + other + "\"]"}),
                 AllOf(HasSubstr("policy colocrl"), HasSubstr("all problems need the same number of units"),
                       HasSubstr("sequence=4&training=true@k40x2' has "), HasSubstr("' has ")));
  const auto done = emplace_run(training("run", {"problem=" + small_training + "@k40x2", "groups=8", "--json"}));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  expect_refused(training("next", {"problem=" + small_training + "@k40x2", "groups=9", "--init", folder_ / "run"}),
                 AllOf(HasSubstr("policy/"), HasSubstr("of other problems")));
}
TEST_P(Colocrl, IsRefusedTypesOfOpsThatAreNotSorted) {
  for (const char* types : {R"(op_types=["Relu", "MatMul"])", R"(op_types=["MatMul", "MatMul"])"})
    expect_refused(training("run", {"problem=" + small_training + "@k40x2", types}),
                   HasSubstr("op_types must be sorted"));
}
TEST_P(Colocrl, PlacesItsOwnProblemAndGoesOnFromItsParameters) {
  const std::string problem = small_training + "@k40x2", run = folder_ / "run", file = folder_ / "placement.json";
  const auto train = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.end(), {"problem=" + problem, "groups=12", "greedy_every=1", "seed=2", "--json"});
    const auto done = emplace_run(training(name, more));
    EXPECT_EQ(done.exit_code, 0) << done.err;
    // The step time of the likeliest placement before the first update.
    return get<double>(experiment::load_newest_checkpoint(folder_ / name).arrays, "history/greedy_step_time").front();
  };
  const double untrained = train("run", {"evaluations=900", "reinforce.learning_rate=0.01"});
  const auto placed = emplace_run({"place", "--policy", run, problem, "--json", "-o", file});
  ASSERT_EQ(placed.exit_code, 0) << placed.err;
  EXPECT_EQ(placed.err, "") << "nothing is new";
  const json likeliest = json::parse(placed.out);
  EXPECT_EQ(likeliest["method"], "colocrl");
  EXPECT_EQ(likeliest["evaluations"], 1);
  const auto simulated = emplace_run({"simulate", problem, file, "--json"});
  EXPECT_EQ(json::parse(simulated.out)["makespan_ps"], likeliest["makespan_ps"]);
  EXPECT_NE(likeliest["makespan_s"], untrained);
  // With the parameters of the first run the second begins where that one ended.
  EXPECT_EQ(train("next", {"updates=1", "--init", run}), likeliest["makespan_s"]);
}

// Policies use nothing but the problem: the problem file that `cost` writes gives the same training as the model
// itself.
TEST_P(LearnedSystems, LearnTheSameFromAModelAndFromTheProblemThatCostWritesOfIt) {
  const std::string file = folder_ / "problem.json";
  const auto cost = emplace_run({"cost", small_training, "k40x2", "-o", file});
  ASSERT_EQ(cost.exit_code, 0) << cost.err;
  for (const auto& [run, problem] : {std::pair("model", small_training + "@k40x2"), std::pair("file", file)}) {
    const auto trained = emplace_run(training(run, {"problem=" + problem, "groups=12"}));
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  EXPECT_EQ(metrics_without_clocks(folder_ / "file"), metrics_without_clocks(folder_ / "model"));
  const auto of_file = without_clocks(folder_ / "file"), of_model = without_clocks(folder_ / "model");
  for (const auto& [name, digest] : of_model) {
    if (name.starts_with("policy/")) {
      EXPECT_EQ(of_file.at(name), digest) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Recipes, Colocrl, ::testing::Values(systems()[1]), name_of_system);

}  // namespace
}  // namespace emplace::test::learned_systems_test
