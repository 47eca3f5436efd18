// Published workloads as PROBLEM, expert splits as PLACEMENT, and the objective `pipeline` on the command line.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/partitioning.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::workload_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Workloads : public ::testing::Test {
 protected:
  void SetUp() override {
    Partitioning chain = chain_of({4, 6, 4});
    chain.accelerators = 2;
    chain.cpus = 1;
    for (PartitionNode& node : chain.nodes) node.cpu = 100;
    write_file(net_, chain.text());
    write_file(split_, R"({"fpgas": [{"nodes": [0, 2]}, {"nodes": [1]}], "cpus": []})");
    write_file(graphs_, R"([{"name": "one", "weights": [1, 2, 3], "preds": [[], [0], [0]]},
                            {"name": "two", "weights": [5], "preds": [[]]}])");
  }
  TemporaryFolder folder_;
  std::string net_ = folder_ / "net.json", split_ = folder_ / "split.json", graphs_ = folder_ / "graphs.json";
};

TEST_F(Workloads, SimulateAnExpertSplitUnderBothObjectives) {
  const auto load = emplace_run({"simulate", net_, split_, "--objective", "pipeline", "--json"});
  ASSERT_EQ(load.exit_code, 0) << load.err;
  const json result = json::parse(load.out);
  // {0, 2}: 4 + 4 + out 1 + in 1; {1}: 6 + 1 + 1.
  EXPECT_DOUBLE_EQ(result["load_s"].get<double>(), 0.010);
  EXPECT_FALSE(result.contains("makespan_ps"));
  EXPECT_FALSE(result.contains("makespan_s"));
  EXPECT_EQ(result["feasible"], true);
  EXPECT_TRUE(result["reason"].is_null());
  EXPECT_DOUBLE_EQ(result["devices"][0]["busy_s"].get<double>(), 0.008);
  EXPECT_DOUBLE_EQ(result["channels"][0]["busy_s"].get<double>(), 0.001);

  const auto overlap = emplace_run({"simulate", net_, split_, "--objective", "pipeline", "--overlap", "--json"});
  EXPECT_DOUBLE_EQ(json::parse(overlap.out)["load_s"].get<double>(), 0.008);
  // One sample: 4, over to the other accelerator in 1, 6, back in 1, 4.
  const auto step = emplace_run({"simulate", net_, split_, "--json"});
  EXPECT_EQ(json::parse(step.out)["makespan_ps"], 16'000'000'000);
  EXPECT_THAT(emplace_run({"simulate", net_, split_, "--objective", "pipeline"}).out,
              AllOf(HasSubstr("load of the busiest device"), HasSubstr("acc:1")));
}

TEST_F(Workloads, PlaceMinimisesTheLoad) {
  const std::string out = folder_ / "placement.json";
  const auto done = emplace_run({"place", "contiguous", net_, "--objective", "pipeline", "--json", "-o", out});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json result = json::parse(done.out);
  EXPECT_DOUBLE_EQ(result["load_s"].get<double>(), 0.011);  // {4, 6} and {4}: 10 + 1
  EXPECT_FALSE(result.contains("makespan_s"));
  EXPECT_LE(result["lower_bound_s"].get<double>(), 0.011);
  EXPECT_GT(result["lower_bound_s"].get<double>(), 0.0065);
  const auto again = emplace_run({"simulate", net_, out, "--objective", "pipeline", "--json"});
  EXPECT_EQ(json::parse(again.out)["load_s"], result["load_s"]);
}

TEST_F(Workloads, TrainMinimisesTheLoadOnWorkersToo) {
  for (const int ranks : {1, 3}) {
    const auto done = emplace_run(
        ranks, {"train", "configs/recipes/quickstart.toml", "problem=" + net_, "objective=pipeline", "grouping=op",
                "groups=3", "evaluations=600", "run=" + (folder_ / ("run" + std::to_string(ranks))), "--json"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const json result = json::parse(done.out);
    EXPECT_DOUBLE_EQ(result["load_s"].get<double>(), 0.010) << ranks;  // the free optimum, {4, 4} and {6}
    EXPECT_FALSE(result.contains("makespan_s"));
  }
}

TEST_F(Workloads, AnInstanceAndItsProcessorsAreChosenInTheName) {
  const auto done = emplace_run({"place", "greedy", graphs_ + "#one?processors=2", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out)["ops"].size(), 3U);
  const auto seen = emplace_run({"inspect", graphs_ + "#two?processors=3", "--json"});
  ASSERT_EQ(seen.exit_code, 0) << seen.err;
  EXPECT_EQ(json::parse(seen.out),
            json::parse(R"({"kind": "problem", "name": "two?processors=3", "devices": 3, "ops": 1,
                                                   "tensors": 0})"));
  EXPECT_EQ(emplace_run({"inspect", net_}).exit_code, 0);
}

TEST_F(Workloads, WhatIsNotChosenIsBadInputThatListsWhatThereIs) {
  const auto refused = [&](const std::string& rest) {
    const auto done = emplace_run({"place", "single", graphs_ + rest, "--json"});
    EXPECT_EQ(done.exit_code, 2) << rest;
    EXPECT_EQ(done.out, "");
    return done.err;
  };
  EXPECT_THAT(refused("?processors=2"), AllOf(HasSubstr("2 instances"), HasSubstr("'one', 'two'")));
  EXPECT_THAT(refused("#tow?processors=2"), HasSubstr("did you mean 'two'?"));
  EXPECT_THAT(refused("#two"), HasSubstr("add ?processors=P"));
  EXPECT_THAT(refused("#two?cores=2"), HasSubstr("unknown option 'cores'"));
}

TEST_F(Workloads, ThePipelineHasNoTraceAndItsCountsNeedIt) {
  const auto trace = emplace_run({"simulate", net_, split_, "--objective", "pipeline", "--trace", folder_ / "t.json"});
  EXPECT_EQ(trace.exit_code, 2);
  EXPECT_THAT(trace.err, HasSubstr("--trace"));
  const auto overlap = emplace_run({"simulate", net_, split_, "--overlap"});
  EXPECT_EQ(overlap.exit_code, 2);
  EXPECT_THAT(overlap.err, HasSubstr("goes with --objective pipeline"));
  const auto wrong = emplace_run({"simulate", net_, split_, "--objective", "pipelin"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'pipeline'?"));
}

TEST_F(Workloads, ReadersAreListed) {
  const auto done = emplace_run({"list", "readers", "--json"});
  for (const char* name : {"dnn-partitioning", "moirai", "sinnen-optimal", "stg", "het-dag"})
    EXPECT_THAT(done.out, HasSubstr(name));
}

}  // namespace
}  // namespace emplace::test::workload_test
