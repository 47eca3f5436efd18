// What the readers of published workloads refuse, by file and place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "formats/workload/workload.hpp"
#include "tests/support/partitioning.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::formats::workload_refusals_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

template <class Step>
std::string refusal_of(Step&& step) {
  try {
    step();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string refusal(const std::string& text, const WorkloadRequest& request = {}) {
  return refusal_of([&] { read_problem_text(text, "f", request); });
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

// ---- dnn-partitioning

const std::string partitioning = R"({"maxSizePerFPGA": 10, "maxFPGAs": 1, "maxCPUs": 1, "nodes": [
  {"id": 1, "supportedOnFpga": 1, "cpuLatency": 1, "fpgaLatency": 1, "isBackwardNode": 0, "size": 4, "colorClass": 5},
  {"id": 2, "supportedOnFpga": 1, "cpuLatency": 1, "fpgaLatency": 1, "isBackwardNode": 0},
  {"id": 3, "supportedOnFpga": 1, "cpuLatency": 1, "fpgaLatency": 1, "isBackwardNode": 1}],
  "edges": [{"sourceId": 1, "destId": 2, "cost": 2, "size": 1.5}, {"sourceId": 1, "destId": 3, "cost": 2}]})";

TEST(DnnPartitioningRefuses, BrokenFields) {
  const struct {
    const char *what, *by, *place, *message;
  } rows[] = {
      {R"("colorClass": 5)", R"("colourClass": 5)", "f: nodes[0]: ", "did you mean 'colorClass'"},
      {R"("maxCPUs")", R"("maxCPU")", "f: ", "did you mean 'maxCPUs'"},
      {R"("maxFPGAs": 1)", R"("maxFPGAs": 256)", "f: ['maxFPGAs']: ", "from 0 to 255, got 256"},
      {R"("maxFPGAs": 1)", R"("maxFPGAs": 255)", "f: ", "more than 255 devices"},
      {R"("maxSizePerFPGA": 10)", R"("maxSizePerFPGA": 1.5)", "f: ['maxSizePerFPGA']: ", "whole number"},
      {R"("id": 2)", R"("id": 1)", "f: nodes[1].id: ", "the id 1 is used twice (also by number 0)"},
      {R"("cpuLatency": 1)", R"("cpuLatency": -1)", "f: nodes[0]['cpuLatency']: ", "must not be negative, got -1"},
      {R"("size": 4)", R"("size": -4)", "f: nodes[0].size: ", "from 0 to"},
      {R"("supportedOnFpga": 1)", R"("supportedOnFpga": 2)", "f: nodes[0]['supportedOnFpga']: ", "from 0 to 1"},
      {R"("supportedOnFpga": 1)", R"("supportedOnFpga": "yes")", "f: nodes[0]['supportedOnFpga']: ", "'yes'"},
      {R"("destId": 2)", R"("destId": 9)", "f: edges[0]['destId']: ", "there is no node with the id 9"},
      {R"("destId": 2)", R"("destId": 1)", "f: edges[0]: ", "a cycle"},
      {R"("destId": 3)", R"("destId": 2)", "f: edges[1]: ", "the edge is listed twice"},
      {R"("destId": 3, "cost": 2)", R"("destId": 3, "cost": 2.00001)", "f: edges[1].cost: ", "the same cost"},
      {R"("cost": 2, "size")", R"("cost": -2, "size")", "f: edges[0].cost: ", "must not be negative"},
      {R"("size": 1.5)", R"("size": -1.5)", "f: edges[0].size: ", "must not be negative"},
      {R"("isBackwardNode": 0})", R"("isBackwardNode": 1})", "no error", ""},
      {R"("sourceId": 1, "destId": 2)", R"("sourceId": 3, "destId": 2)",
       "f: edges[0]: ", "from a backward node to a forward"},
      {R"("edges": [)", R"("edges": [{"sourceId": 2, "destId": 1, "cost": 1}, )", "f: ", "the ops form a cycle"},
  };
  ASSERT_EQ(refusal(partitioning), "no error");
  for (const auto& row : rows)
    EXPECT_THAT(refusal(replaced(partitioning, row.what, row.by)), AllOf(StartsWith(row.place), HasSubstr(row.message)))
        << row.by;
}

TEST(DnnPartitioningRefuses, AFileThatDoesNotRunAnywhere) {
  const std::string no_devices =
      replaced(replaced(partitioning, R"("maxFPGAs": 1)", R"("maxFPGAs": 0)"), R"("maxCPUs": 1)", R"("maxCPUs": 0)");
  EXPECT_THAT(refusal(no_devices), HasSubstr("there are no devices"));
  const std::string cpu_only = replaced(replaced(partitioning, R"("supportedOnFpga": 1)", R"("supportedOnFpga": 0)"),
                                        R"("maxCPUs": 1)", R"("maxCPUs": 0)");
  EXPECT_THAT(refusal(cpu_only), AllOf(StartsWith("f: nodes[0]: "), HasSubstr("no device can run op '1'")));
}

TEST(DnnPartitioningRefuses, InstancesAndProcessors) {
  EXPECT_EQ(refusal(partitioning, {.instance = "x", .processors = {}}), "f: holds one problem, so '#x' is not allowed");
  EXPECT_EQ(refusal(partitioning, {.instance = {}, .processors = 4}),
            "f: has 2 processors, so ?processors=4 is not allowed");
}

TEST(DnnPartitioningRefuses, TablesThatWouldFillTheMemory) {
  // 255 devices x 1M nodes of a 100 MB file would be 2 GB.
  std::string nodes = "1";
  for (int i = 0; i < 600'000; ++i) nodes += ",1";
  const std::string text =
      R"({"maxSizePerFPGA": 10, "maxFPGAs": 255, "maxCPUs": 0, "edges": [], "nodes": [)" + nodes + "]}";
  EXPECT_THAT(refusal(text), HasSubstr("600001 x 255 nodes x devices are more than this program can hold"));
}

// ---- moirai

const std::string moirai = R"({"devices": 2, "memory": [5, 6],
  "tasks": [{"id": 4, "time": [1, 2], "mem": 3}, {"id": 9, "time": [1, 7], "mem": 0}],
  "edges": [{"src": 4, "dst": 9, "comm": [[0, 0.5], [3, 0]]}]})";

TEST(MoiraiRefuses, BrokenFields) {
  const struct {
    const char *what, *by, *place, *message;
  } rows[] = {
      {R"("devices": 2)", R"("devices": 0)", "f: devices: ", "from 1 to 255"},
      {R"("memory": [5, 6])", R"("memory": [5])", "f: memory: ", "must have 2 elements, one for each device, got 1"},
      {R"("memory": [5, 6])", R"("memory": [5, -6])", "f: memory[1]: ", "got -6"},
      {R"("time": [1, 2])", R"("time": [1])", "f: tasks[0].time: ", "must have 2 elements"},
      {R"("time": [1, 2])", R"("time": [1, -2])", "f: tasks[0].time[1]: ", "must not be negative"},
      {R"("id": 9)", R"("id": 4)", "f: tasks[1].id: ", "used twice"},
      {R"("mem": 3)", R"("mem": 3.5)", "f: tasks[0].mem: ", "whole number"},
      {R"("src": 4)", R"("src": 5)", "f: edges[0].src: ", "there is no task with the id 5"},
      {"[[0, 0.5], [3, 0]]", "[[0, 0.5]]", "f: edges[0].comm: ", "must have 2 elements"},
      {"[[0, 0.5], [3, 0]]", "[[0, 0.5], [3]]", "f: edges[0].comm[1]: ", "must have 2 elements"},
      {"[[0, 0.5], [3, 0]]", "[[0, 0.5], [3, 1]]", "f: edges[0].comm[1][1]: ", "to itself must be 0, got 1"},
      {"[[0, 0.5], [3, 0]]", "7", "f: edges[0].comm: ", "must be an array"},
      {R"("comm": [[0, 0.5], [3, 0]])", R"("com": null)", "f: edges[0]: ", "did you mean 'comm'"},
  };
  ASSERT_EQ(refusal(moirai), "no error");
  for (const auto& row : rows)
    EXPECT_THAT(refusal(replaced(moirai, row.what, row.by)), AllOf(StartsWith(row.place), HasSubstr(row.message)))
        << row.by;
}

TEST(MoiraiRefuses, MatricesThatWouldFillTheMemory) {
  // A null stands for 255 x 255 times.
  std::string memory = "1", edge = "0", edges = "0";
  for (int i = 1; i < 255; ++i) memory += ",1";
  for (int i = 1; i < 3000; ++i) edges += ",0";
  EXPECT_THAT(refusal(R"({"devices": 255, "memory": [)" + memory + R"(], "tasks": [], "edges": [)" + edges + "]}"),
              HasSubstr("3000 x 65025 edges x pairs of devices are more than this program can hold"));
}

// ---- lists of instances

const std::string sinnen = R"([{"name": "first one", "processors": 2, "weights": [4, 5], "edges": [[0, 1, 3]],
  "schedule": [[0, 0], [1, 4]]}, {"name": "second one", "processors": 2, "weights": [4], "edges": []}])";

TEST(Instances, AreListedWhereNoneOrAWrongOneIsNamed) {
  EXPECT_EQ(refusal(sinnen), "f: holds 2 instances, choose one as FILE#NAME: 'first one', 'second one'");
  EXPECT_EQ(refusal(sinnen, {.instance = "fist one", .processors = {}}),
            "f: has no instance 'fist one' (did you mean 'first one'?)");
  EXPECT_EQ(refusal(sinnen, {.instance = "zebra", .processors = {}}),
            "f: has no instance 'zebra'; there are 2: 'first one', 'second one'");
  std::string many = "[";
  for (int i = 0; i < 40; ++i)
    many +=
        fmt::format(R"({}{{"name": "{}", "processors": 1, "weights": [1], "edges": []}})", i == 0 ? "" : ",", 100 + i);
  EXPECT_THAT(refusal(many + "]"),
              AllOf(HasSubstr("holds 40 instances"), HasSubstr("'104' and 35 more"), Not(HasSubstr("105"))));
}

TEST(SinnenRefuses, BrokenFields) {
  const struct {
    const char *what, *by, *place, *message;
  } rows[] = {
      {"second one", "first one", "f: [1]: ", "'first one' is used twice (also by number 0)"},
      {R"("name": "second one", )", "", "f: [1]: ", "the key 'name' is missing"},
      {R"("processors": 2)", R"("processors": 0)", "f: ['first one'].processors: ", "from 1 to 255"},
      {"[4, 5]", "[4, -5]", "f: ['first one'].weights[1]: ", "must not be negative"},
      {"[0, 1, 3]", "[0, 2, 3]", "f: ['first one'].edges[0][1]: ", "from 0 to 1, got 2"},
      {"[0, 1, 3]", "[0, 1]", "f: ['first one'].edges[0]: ", "must have 3 elements, got 2"},
      {"[0, 1, 3]", "[0, 1, -3]", "f: ['first one'].edges[0][2]: ", "must not be negative"},
      {"[0, 1, 3]", "[0, 1, 3], [0, 1, 3]", "f: ['first one'].edges[1]: ", "the edge is listed twice"},
      {"[0, 1, 3]", "[0, 1, 3], [1, 0, 3]", "f: ['first one']: ", "the ops form a cycle"},
      {"[0, 1, 3]", "[0, 0, 3]", "f: ['first one'].edges[0]: ", "a cycle"},
      {"[1, 4]", "[2, 4]", "f: ['first one'].schedule[1][0]: ", "from 0 to 1"},
      {R"("edges")", R"("edge")", "f: ['first one']: ", "did you mean 'edges'"},
  };
  const WorkloadRequest request{.instance = "first one", .processors = {}};
  ASSERT_EQ(refusal(sinnen, request), "no error");
  for (const auto& row : rows)
    EXPECT_THAT(refusal(replaced(sinnen, row.what, row.by), request),
                AllOf(StartsWith(row.place), HasSubstr(row.message)))
        << row.by;
  EXPECT_THAT(refusal(sinnen, {.instance = "first one", .processors = 2}), HasSubstr("?processors=2 is not allowed"));
}

const std::string stg =
    R"([{"name": "r1", "weights": [1, 9, 4], "preds": [[], [0], [0, 1]], "table": {"2": 13, "4": 13}}])";

TEST(StgRefuses, BrokenFieldsAndOpenProcessors) {
  EXPECT_EQ(refusal(stg),
            "f: ['r1']: does not state the number of processors: add ?processors=P (there are published "
            "makespans for '2', '4')");
  const WorkloadRequest request{.instance = {}, .processors = 2};
  ASSERT_EQ(refusal(stg, request), "no error");
  EXPECT_THAT(refusal(replaced(stg, "[[], [0], [0, 1]]", "[[], [0]]"), request),
              HasSubstr("one list for each of the 3 tasks"));
  EXPECT_THAT(refusal(replaced(stg, "[0, 1]", "[0, 1, 0]"), request),
              HasSubstr("f: ['r1'].preds[2][2]: the predecessor 0"));
  EXPECT_THAT(refusal(replaced(stg, "[0, 1]", "[0, 3]"), request),
              HasSubstr("f: ['r1'].preds[2][1]: must be from 0 to 2"));
  EXPECT_THAT(refusal(replaced(stg, "[[], [0]", "[[1], [0]"), request),
              HasSubstr("the ops form a cycle: '1' -> '0' -> '1'"));
  EXPECT_THAT(refusal("[]", request), HasSubstr("is no task graph"));
}

// ---- het-dag

const std::string het_dag = "#critical\n0.0\n#tasks\n0: 4, 6\n1: 15, 22.5\n#edges\n0: 0, 1, 5\n#end\n";

TEST(HetDagRefuses, BrokenLines) {
  const struct {
    const char *what, *by, *place, *message;
  } rows[] = {
      {"#tasks", "#task", "f:3: ", "unknown heading '#task' (did you mean '#tasks'?)"},
      {"#edges", "#end", "f:6: ", "#end is in the wrong place"},
      {"#edges\n0: 0, 1, 5\n", "", "f:6: ", "#end is in the wrong place"},
      {"1: 15", "2: 15", "f:5: ", "wanted a line that begins with '1:', got '2: 15, 22.5'"},
      {"15, 22.5", "15", "f:5: ", "the task has 1 times, those before have 2"},
      {"22.5", "nan", "f:5: ", "wanted a number of zero or more, got 'nan'"},
      {"22.5", "-1", "f:5: ", "got '-1'"},
      {"22.5", "", "f:5: ", "got ''"},
      {"0, 1, 5", "0, 1", "f:7: ", "an edge is 'e: u, v, delay'"},
      {"0, 1, 5", "0, 2, 5", "f:7: ", "wanted a task from 0 to 1, got '2'"},
      {"0, 1, 5", "0, 0, 5", "f:7: ", "a cycle"},
      {"0, 1, 5\n", "0, 1, 5\n1: 0, 1, 5\n", "f:8: ", "the edge is listed twice"},
      {"0, 1, 5\n", "0, 1, 5\n1: 1, 0, 5\n", "f: ", "the ops form a cycle"},
      {"#end\n", "", "f: ", "ends without #end"},
      {"#end\n", "#end\nmore\n", "f:9: ", "nothing may follow #end, got 'more'"},
      {"0: 4, 6\n1: 15, 22.5\n", "", "f:5: ", "wanted a task from 0 to -1"},
  };
  ASSERT_EQ(refusal(het_dag), "no error");
  for (const auto& row : rows)
    EXPECT_THAT(refusal(replaced(het_dag, row.what, row.by)), AllOf(StartsWith(row.place), HasSubstr(row.message)))
        << row.by;
}

// ---- expert splits

TEST(ExpertSplitRefuses, BrokenLists) {
  test::Partitioning file = test::chain_of({1, 1, 1});
  file.nodes[0].color = file.nodes[1].color = 1;
  file.accelerators = 2;
  const Problem p = file.problem();
  const auto refused = [&](const std::string& text) { return refusal_of([&] { read_placement_text(text, "e", p); }); };
  EXPECT_EQ(refused(R"({"cpus": [], "fpgas": [{"nodes": [0, 2]}]})"), "no error");
  EXPECT_EQ(refused(R"({"cpus": [], "fpgas": [{"nodes": [0]}]})"),
            "e: node '2' has no device, and no node of its class is listed");
  EXPECT_EQ(refused(R"({"cpus": [], "fpgas": [{"nodes": [0, 2, 0]}]})"),
            "e: fpgas[0].nodes[2]: node 0 is listed twice");
  EXPECT_EQ(refused(R"({"cpus": [], "fpgas": [{"nodes": [0, 7]}]})"),
            "e: fpgas[0].nodes[1]: the problem has no node 7");
  EXPECT_EQ(refused(R"({"cpus": [{"nodes": [2]}], "fpgas": [{"nodes": [0]}]})"),
            "e: cpus[0].nodes: the problem has no device 'cpu:0' for these nodes");
  EXPECT_THAT(refused(R"({"cpus": [], "fpgas": [{"node": [0]}]})"), HasSubstr("did you mean 'nodes'"));
  EXPECT_THAT(refused(R"({"fpgas": []})"), HasSubstr("the key 'cpus' is missing"));
}

// ---- addresses

TEST(ProblemAddress, EndsTheFilesNameWhereAFileStands) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "a#b.json";
  write_file(file, "x");
  const auto parse = [&](const std::string& rest) { return parse_problem_address(file + rest).value(); };
  EXPECT_EQ(parse("").file, file);
  EXPECT_FALSE(parse("").request.instance.has_value());
  EXPECT_EQ(parse("#50/rand.stg?processors=4").file, file);
  EXPECT_EQ(parse("#50/rand.stg?processors=4").request.instance, "50/rand.stg");
  EXPECT_EQ(parse("#50/rand.stg?processors=4").request.processors, 4);
  EXPECT_EQ(parse("?processors=2").request.processors, 2);
  EXPECT_FALSE(parse("?processors=2").request.instance.has_value());
  EXPECT_FALSE(parse_problem_address(folder / "missing.json#x").has_value());
  EXPECT_FALSE(parse_problem_address("zoo:model?batch=2").has_value());
  for (const char* rest : {"?processors=0", "?processors=256", "?processors=two", "?processors=", "?processors"})
    EXPECT_THAT(refusal_of([&] { parse(rest); }), HasSubstr("must be a whole number from 1 to 255")) << rest;
  EXPECT_THAT(refusal_of([&] { parse("?cpus=2"); }), HasSubstr("unknown option 'cpus'; there is: processors"));
  EXPECT_THAT(refusal_of([&] { parse("?processors=2&processors=3"); }), HasSubstr("is given twice"));
}

TEST(ProblemJson, HasNeitherInstancesNorProcessors) {
  const std::string text = R"({"emplace": "problem/1", "devices": [{"name": "d", "memory_bytes": null}], "tensors": [],
      "ops": [{"name": "a", "seconds": [1]}]})";
  EXPECT_THAT(refusal(text, {.instance = "x", .processors = {}}), HasSubstr("'#x' is not allowed"));
  EXPECT_THAT(refusal(text, {.instance = {}, .processors = 2}), HasSubstr("?processors=2 is not allowed"));
}

}  // namespace
}  // namespace emplace::formats::workload_refusals_test
