// The --json keys, exit codes and file formats that other programs rely on.
#include <gmock/gmock.h>

#include <algorithm>
#include <tuple>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::contract_test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Contract : public ::testing::Test {
 protected:
  void SetUp() override { write_file(problem_, example_problem); }
  std::string placement(const std::string& text) {
    write_file(folder_ / "placement.json", text);
    return folder_ / "placement.json";
  }
  TemporaryFolder folder_;
  std::string problem_ = folder_ / "problem.json";
};

TEST_F(Contract, SimulateGivesTheDesignPagesExample) {
  const auto done =
      emplace_run({"simulate", problem_, placement(R"({"emplace": "placement/1", "problem": "two-device chain",
                                               "ops": {"a": "gpu:0", "b": "cpu:0"}})"),
                   "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(json::parse(done.out),
            json::parse(R"({"makespan_ps": 11010341333, "makespan_s": 0.011010341333, "feasible": true,
    "reason": null,
    "devices": [{"name": "cpu:0", "busy_s": 0.01, "peak_memory_bytes": 4096, "overflow_bytes": 0},
                {"name": "gpu:0", "busy_s": 0.001, "peak_memory_bytes": 4096, "overflow_bytes": 0}],
    "channels": [{"name": "h2d", "busy_s": 0.0, "bytes": 0}, {"name": "d2h", "busy_s": 1.0341333e-05, "bytes": 4096}]})"));
}

TEST_F(Contract, SimulateOfAnInfeasiblePlacementEndsWithZeroAndAReason) {
  const auto done =
      emplace_run({"simulate", problem_, placement(R"({"emplace": "placement/1", "problem": "two-device chain",
                                               "ops": {"a": "gpu:0", "b": "gpu:0"}})"),
                   "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json result = json::parse(done.out);
  EXPECT_EQ(result["feasible"], false);
  EXPECT_TRUE(result["makespan_ps"].is_null());
  EXPECT_TRUE(result["makespan_s"].is_null());
  EXPECT_THAT(result["reason"].get<std::string>(), ::testing::AllOf(HasSubstr("'b'"), HasSubstr("'gpu:0'")));
  for (const json& device : result["devices"])
    for (const char* key : {"busy_s", "peak_memory_bytes", "overflow_bytes"}) EXPECT_TRUE(device[key].is_null()) << key;
  for (const json& channel : result["channels"])
    for (const char* key : {"busy_s", "bytes"}) EXPECT_TRUE(channel[key].is_null()) << key;
}

TEST_F(Contract, AnotherProblemsNameInAPlacementIsOnlyAWarning) {
  const auto done = emplace_run(
      {"simulate", problem_,
       placement(R"({"emplace": "placement/1", "problem": "other", "ops": {"a": "gpu:0", "b": "cpu:0"}})"), "--json"});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.err, ::testing::AllOf(HasSubstr("warning"), HasSubstr("'other'"), HasSubstr("'two-device chain'")));
  EXPECT_EQ(json::parse(done.out)["makespan_ps"], 11010341333);
}

TEST_F(Contract, ThePlacementsOwnScheduleIsUsedUnlessToldOtherwise) {
  // The worked example, which takes another time under each of the two schedules.
  const std::string page = read_file("docs/simulation.md");
  const auto block = [&](const std::string& name) {
    const std::string fence = "```json " + name + "\n";
    const std::size_t begin = page.find(fence) + fence.size();
    return page.substr(begin, page.find("```", begin) - begin);
  };
  const std::string example = folder_ / "example.json";
  write_file(example, block("worked-example.problem.json"));
  const auto file = placement(block("worked-example.placement.json"));
  const auto time = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"simulate", example, file, "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto done = emplace_run(arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return json::parse(done.out)["makespan_ps"];
  };
  EXPECT_EQ(time({}), 152333333) << "the file says priority";
  EXPECT_EQ(time({"--schedule", "fifo"}), 182333333);
  const auto no_order = placement(R"({"emplace": "placement/1", "problem": "p", "ops": {"a": "cpu:0", "b": "cpu:0"}})");
  const auto refused = emplace_run({"simulate", problem_, no_order, "--schedule", "in-order", "--json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("needs an order"));
}

TEST_F(Contract, PlacePrintsItsObjectAndWritesAPlacementThatSimulatesToTheSameTick) {
  const auto done = emplace_run({"place", "single", problem_, "-o", folder_ / "single.json", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json result = json::parse(done.out);
  for (const char* key : {"method", "makespan_ps", "makespan_s", "feasible", "evaluations", "seconds", "lower_bound_s",
                          "proved_optimal", "schedule", "order", "ops", "single_s", "expert_s", "verdict", "next"})
    EXPECT_TRUE(result.contains(key)) << key;
  EXPECT_EQ(result.size(), 15U);
  EXPECT_EQ(result["method"], "single");
  EXPECT_EQ(result["makespan_ps"], 11010341333) << "gpu:0, with b on the only device that runs it";
  EXPECT_EQ(result["schedule"], "fifo");
  EXPECT_TRUE(result["order"].is_null());
  EXPECT_EQ(result["ops"], (json{{"a", "gpu:0"}, {"b", "cpu:0"}}));
  // The bound: a takes at least 1 ms, b 10 ms on the only device that runs it, which is where a takes 10 ms too; from
  // gpu:0, the 4096 bytes take 10.341333 us. So no placement is faster, and `single` is optimal.
  EXPECT_DOUBLE_EQ(result["lower_bound_s"].get<double>(), 0.011010341333);
  EXPECT_EQ(result["proved_optimal"], true);
  const json again = json::parse(emplace_run({"simulate", problem_, folder_ / "single.json", "--json"}).out);
  EXPECT_EQ(again["makespan_ps"], result["makespan_ps"]);
  EXPECT_EQ(json::parse(read_file(folder_ / "single.json"))["schedule"], "fifo");
}

TEST_F(Contract, PlaceReturnsAnOrderUnderPriorityAndInOrder) {
  for (const char* schedule : {"priority", "in-order"}) {
    const auto done = emplace_run({"place", "greedy", problem_, "--schedule", schedule, "--json"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(json::parse(done.out)["order"], (json{"a", "b"})) << schedule;
  }
}

TEST_F(Contract, NothingFeasibleEndsWithThreeAndStillPrintsTheObject) {
  // Each op needs 8 bytes; the only device has 10.
  write_file(problem_, R"({"emplace": "problem/1", "name": "tight", "devices": [{"name": "d", "memory_bytes": 10}],
    "ops": [{"name": "a", "seconds": [1], "resident_bytes": 8}, {"name": "b", "seconds": [1], "resident_bytes": 8}], "tensors": []})");
  for (const char* method : {"single", "greedy", "random"}) {
    const auto done = emplace_run({"place", method, problem_, "--json"});
    EXPECT_EQ(done.exit_code, 3) << done.err;
    const json result = json::parse(done.out);
    EXPECT_EQ(result["feasible"], false);
    EXPECT_EQ(result["makespan_ps"], 2000000000000);
  }
}

TEST_F(Contract, TrainPrintsTheSameObjectAsPlace) {
  write_file(folder_ / "r.toml",
             "problem = \"" + problem_ + "\"\nevaluations = 40\nrun = \"" + (folder_ / "run") + "\"\n");
  const auto done = emplace_run({"train", folder_ / "r.toml", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json result = json::parse(done.out);
  EXPECT_EQ(result.size(), 15U);
  EXPECT_EQ(result["method"], "post");
  EXPECT_EQ(result["makespan_ps"], 11010341333);
  EXPECT_EQ(result["evaluations"], 40);
  for (const char* file : {"config.toml", "checkpoint.h5", "metrics.csv", "best.placement.json", "log.txt"})
    EXPECT_TRUE(file_exists(folder_ / ("run/" + std::string(file)))) << file;
  const json again =
      json::parse(emplace_run({"simulate", problem_, folder_ / "run/best.placement.json", "--json"}).out);
  EXPECT_EQ(again["makespan_ps"], result["makespan_ps"]);
}

TEST_F(Contract, InspectOfAProblemCountsIt) {
  EXPECT_EQ(json::parse(emplace_run({"inspect", problem_, "--json"}).out),
            json::parse(R"({"kind": "problem", "name": "two-device chain", "devices": 2, "ops": 2, "tensors": 1})"));
}

TEST_F(Contract, InspectOfAGraphHasBothSetsOfFigures) {
  const auto done = emplace_run({"inspect", "zoo:inception-v3", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json result = json::parse(done.out);
  EXPECT_EQ(result["kind"], "graph");
  for (const json* set : {&result, &result["lowered"]})
    for (const char* key :
         {"ops", "edges", "tensors", "parameters", "flops", "bytes", "static_tensors", "uncosted_ops"})
      EXPECT_TRUE(set->contains(key)) << key;
}

TEST_F(Contract, InspectOfAModelOnAMachineCountsTheProblemThatCostMakes) {
  const std::string graph = "zoo:rnnlm?detail=layer", problem = folder_ / "rnnlm.json";
  ASSERT_EQ(emplace_run({"cost", graph, "k40x2", "--training", "-o", problem}).exit_code, 0);
  const auto done = emplace_run({"inspect", graph + "@k40x2", "--training", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out), json::parse(emplace_run({"inspect", problem, "--json"}).out));
}

TEST_F(Contract, CostWritesAProblemThatEveryCommandReads) {
  const auto cost = emplace_run({"cost", "zoo:inception-v3", "laptop", "-o", folder_ / "inception.json"});
  ASSERT_EQ(cost.exit_code, 0) << cost.err;
  const json direct = json::parse(emplace_run({"place", "single", "zoo:inception-v3@laptop", "--json"}).out);
  const json through_file = json::parse(emplace_run({"place", "single", folder_ / "inception.json", "--json"}).out);
  EXPECT_EQ(direct["makespan_ps"], through_file["makespan_ps"]);
  EXPECT_EQ(direct["ops"], through_file["ops"]);
}

TEST_F(Contract, ListShowsEveryKindWithItsKeys) {
  for (const char* kind : {"policies", "learners", "placers", "models", "machines", "readers"}) {
    const auto done = emplace_run({"list", kind, "--json"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const json list = json::parse(done.out);
    ASSERT_FALSE(list.empty()) << kind;
    for (const json& entry : list) {
      for (const char* key : {"name", "summary", "reference", "options"})
        EXPECT_TRUE(entry.contains(key)) << kind << " " << key;
      for (const json& option : entry["options"])
        for (const char* key : {"name", "type", "default", "help"})
          EXPECT_TRUE(option.contains(key)) << kind << " " << key;
    }
    EXPECT_EQ(emplace_run({"list", kind}).exit_code, 0);
  }
}

TEST_F(Contract, ListShowsTheLearnedSystemsWithTheirPapersAndOptions) {
  const json list = json::parse(emplace_run({"list", "policies", "--json"}).out);
  const std::string text = emplace_run({"list", "policies"}).out;
  for (const auto& [name, venue, option] : {std::tuple{"post", "NeurIPS 2018", "eps"},
                                            {"colocrl", "ICML 2017", "hidden"},
                                            {"hierarchical", "ICLR 2018", "groups"},
                                            {"placeto", "NeurIPS 2019", "message_rounds"},
                                            {"gdp", "arXiv 1910.01578", "superposition"},
                                            {"hsdag", "NeurIPS 2024", "parsing_passes"}}) {
    const auto entry = std::ranges::find_if(list, [&](const json& each) { return each["name"] == name; });
    ASSERT_NE(entry, list.end()) << name;
    EXPECT_NE((*entry)["summary"], "") << name;
    EXPECT_THAT((*entry)["reference"].get<std::string>(), HasSubstr(venue)) << name;
    const auto is_option = [&](const json& each) { return each["name"] == option && each["help"] != ""; };
    EXPECT_TRUE(std::ranges::any_of((*entry)["options"], is_option)) << name << " " << option;
    for (const char* shown : {name, venue, option}) EXPECT_THAT(text, HasSubstr(shown));
  }
}

TEST_F(Contract, ListHasNoDefaultWhereADefaultIsNone) {
  const json learners = json::parse(emplace_run({"list", "learners", "--json"}).out);
  for (const json& option : learners[0]["options"])
    if (option["name"] == "learning_rate_end") {
      EXPECT_EQ(option["default"], "");
    }
  EXPECT_THAT(emplace_run({"list", "learners"}).out,
              ::testing::AllOf(HasSubstr("reached linearly. (default none)"), ::testing::Not(HasSubstr("(default -"))));
}

TEST_F(Contract, EveryCommandExplainsItself) {
  EXPECT_THAT(emplace_run({"--help"}).out,
              ::testing::AllOf(HasSubstr("train"), HasSubstr("simulate"), HasSubstr("75")));
  for (const char* name : {"train", "place", "simulate", "cost", "inspect", "list"}) {
    const auto done = emplace_run({name, "--help"});
    EXPECT_EQ(done.exit_code, 0);
    EXPECT_THAT(done.out, HasSubstr("--json")) << name;
  }
}

TEST_F(Contract, EveryCommandShowsAnExampleAndTheExitCodes) {
  for (const char* name : {"auto",    "train",     "sweep",  "place",     "fit",        "bound",   "simulate",
                           "explain", "compare",   "cost",   "calibrate", "machine",    "convert", "export",
                           "inspect", "reproduce", "report", "doctor",    "completion", "manual",  "list"})
    EXPECT_THAT(emplace_run({name, "--help"}).out,
                ::testing::AllOf(HasSubstr(std::string("emplace ") + name + " "), HasSubstr("\nExit codes: ")))
        << name;
}

TEST_F(Contract, TheManualHasTheExitCodesOnce) {
  EXPECT_THAT(emplace_run({"manual"}).out, ::testing::Not(HasSubstr("Exit codes:"))) << "a section has them";
}

}  // namespace
}  // namespace emplace::test::contract_test
