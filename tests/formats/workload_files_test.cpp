// Small files of each published format, and what they mean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "formats/workload/workload.hpp"
#include "tests/support/partitioning.hpp"

namespace emplace::formats::workload_files_test {
namespace {

using ::testing::ElementsAre;

constexpr Ticks us = 1'000'000;
constexpr Ticks ms = 1000 * us;

std::vector<std::string> device_names(const Problem& problem) {
  std::vector<std::string> names;
  for (const Device& device : problem.devices) names.push_back(device.name);
  return names;
}

Ticks transfer(const Problem& problem, std::size_t tensor, std::size_t from, std::size_t to) {
  return problem.transfer(TensorId{tensor}, DeviceId{from}, DeviceId{to});
}

TEST(DnnPartitioning, IsAccelerators_CpusAndTheirChannels) {
  test::Partitioning file;
  file.nodes = {{.accelerator = 1.5, .cpu = 20, .cost = 0.25, .size = 64, .color = 3},
                {.accelerator = 2, .cpu = 30, .cost = 9},
                {.accelerator = 4, .cpu = 50, .cost = 0, .size = 8, .color = 3, .backward = true}};
  file.edges = {{0, 1}, {0, 2}};
  file.accelerators = 2;
  file.cpus = 2;
  const Problem p = read_problem_text(file.text(), "dir/net.json");
  EXPECT_EQ(p.name, "net");
  EXPECT_THAT(device_names(p), ElementsAre("acc:0", "acc:1", "cpu:0", "cpu:1"));
  EXPECT_EQ(p.devices[1].memory, 1000);
  EXPECT_EQ(p.devices[1].kind, "accelerator");
  EXPECT_EQ(p.devices[2].memory, no_memory_limit);
  EXPECT_EQ(p.devices[2].kind, "cpu");
  EXPECT_THAT(p.op_names, ElementsAre("0", "1", "2"));
  EXPECT_EQ(p.time(OpId{0}, DeviceId{0}), 1500 * us);
  EXPECT_EQ(p.time(OpId{0}, DeviceId{3}), 20 * ms);
  EXPECT_THAT(p.resident, ElementsAre(64, 0, 8));
  EXPECT_EQ(p.group[0], p.group[2]);
  EXPECT_TRUE(p.group[1].is_none());
  EXPECT_THAT(p.backward, ElementsAre(0, 0, 1));
  // One tensor for both consumers: the cost belongs to the node.
  ASSERT_EQ(p.tensor_count(), 1U);
  EXPECT_EQ(p.consumers[0].size(), 2U);
  EXPECT_EQ(p.tensor_bytes[0], 0);
  EXPECT_EQ(transfer(p, 0, 0, 2), 250 * us);
  EXPECT_EQ(transfer(p, 0, 3, 1), 250 * us);
  EXPECT_EQ(transfer(p, 0, 0, 1), 250 * us);
  EXPECT_EQ(transfer(p, 0, 2, 3), 1);  // CPU cores share the host's memory
}

std::vector<std::string> route_names(const Problem& p, std::size_t from, std::size_t to) {
  std::vector<std::string> names;
  for (const std::uint32_t channel : p.route(DeviceId{from}, DeviceId{to})) names.push_back(p.channels[channel].name);
  return names;
}

TEST(DnnPartitioning, AcceleratorToAcceleratorHoldsAnOutAndAnInChannel) {
  test::Partitioning file = test::chain_of({1, 1});
  file.accelerators = 2;
  file.cpus = 1;
  const Problem p = file.problem();
  EXPECT_THAT(route_names(p, 0, 1), ElementsAre("acc:0 out", "acc:1 in"));
  EXPECT_THAT(route_names(p, 1, 2), ElementsAre("acc:1 out"));
  EXPECT_THAT(route_names(p, 2, 1), ElementsAre("acc:1 in"));
  for (const std::uint32_t channel : p.route(DeviceId{0}, DeviceId{1})) EXPECT_TRUE(p.channels[channel].contention);
}

TEST(DnnPartitioning, NodesThatAnAcceleratorCannotRunStayOnTheCpu) {
  const Problem p = read_problem_text(R"({"maxSizePerFPGA": 10.0, "maxFPGAs": 1, "maxCPUs": 1, "edges": [],
      "nodes": [{"id": 7, "name": "x", "layerId": 2, "supportedOnFpga": false, "cpuLatency": 1, "fpgaLatency": 2,
                 "isBackwardNode": 0}]})",
                                      "f.json");
  EXPECT_THAT(p.op_names, ElementsAre("7"));
  EXPECT_FALSE(p.can_run(OpId{0}, DeviceId{0}));
  EXPECT_TRUE(p.can_run(OpId{0}, DeviceId{1}));
  EXPECT_EQ(p.resident[0], 0);
}

const std::string moirai = R"({"source": "s", "devices": 2, "memory": [5, 6],
  "tasks": [{"id": 4, "time": [1, 2.5], "mem": 3}, {"id": 9, "time": [0, 7], "mem": 0}, {"id": 2, "time": [1, 1], "mem": 0}],
  "edges": [{"src": 4, "dst": 9, "comm": [[0, 0.5], [3, 0]]}, {"src": 9, "dst": 2, "comm": null}]})";

TEST(Moirai, HasAMatrixOfTransferTimesAnEdge) {
  const Problem p = read_problem_text(moirai, "m.json");
  EXPECT_THAT(device_names(p), ElementsAre("dev:0", "dev:1"));
  EXPECT_EQ(p.devices[1].memory, 6);
  EXPECT_THAT(p.op_names, ElementsAre("4", "9", "2"));
  EXPECT_EQ(p.time(OpId{0}, DeviceId{1}), 2500 * us);
  EXPECT_EQ(p.time(OpId{1}, DeviceId{0}), 1);
  EXPECT_THAT(p.resident, ElementsAre(3, 0, 0));
  EXPECT_EQ(transfer(p, 0, 0, 1), 500 * us);
  EXPECT_EQ(transfer(p, 0, 1, 0), 3 * ms);
  EXPECT_EQ(transfer(p, 1, 0, 1), 1);  // null: no transfer
  for (const Channel& channel : p.channels) EXPECT_FALSE(channel.contention);
}

const std::string sinnen = R"([
  {"name": "one", "processors": 2, "optimal": 9, "solver": "A*", "weights": [4, 5], "edges": [[1, 0, 3]],
   "schedule": [[0, 5], [0, 0]], "recheck": "PROVED"},
  {"name": "two", "processors": 3, "weights": [1], "edges": []}])";

TEST(SinnenOptimal, ReadsTheNamedInstance) {
  const Problem p = read_problem_text(sinnen, "s.json", {.instance = "one", .processors = {}});
  EXPECT_EQ(p.name, "one");
  EXPECT_THAT(device_names(p), ElementsAre("proc:0", "proc:1"));
  EXPECT_EQ(p.time(OpId{1}, DeviceId{1}), 5 * us);
  EXPECT_THAT(p.topological, ElementsAre(1, 0));
  EXPECT_EQ(transfer(p, 0, 0, 1), 3 * us);
  EXPECT_FALSE(p.channels.at(0).contention);
  EXPECT_EQ(read_problem_text(sinnen, "s.json", {.instance = "two", .processors = {}}).device_count(), 3U);
}

const std::string stg = R"([{"name": "50/rand.stg", "weights": [0, 9, 4], "preds": [[], [0], [0, 1]],
  "critical_path": 13, "total_work": 13, "table": {"2": 13, "4": 13}, "check": {"2": {"lb": 13}}}])";

TEST(Stg, TakesItsProcessorsFromTheRequestAndHasNoCommunication) {
  const Problem p = read_problem_text(stg, "g.json", {.instance = {}, .processors = 3});  // its only instance
  EXPECT_EQ(p.name, "50/rand.stg?processors=3");
  EXPECT_EQ(p.device_count(), 3U);
  EXPECT_EQ(p.time(OpId{1}, DeviceId{2}), 9 * us);
  EXPECT_EQ(p.time(OpId{0}, DeviceId{2}), 1);
  ASSERT_EQ(p.tensor_count(), 2U);
  EXPECT_THAT(p.consumers[0], ElementsAre(1, 2));
  EXPECT_EQ(transfer(p, 0, 2, 1), 1);
  EXPECT_EQ(read_problem_text(stg, "g.json", {.instance = "50/rand.stg", .processors = 1}).route_class[0], -1);
}

const std::string het_dag = "#critical\n0.0\n#tasks\r\n0: 4, 6\n1: 15, 22.5 \n\n#edges\n0:  0,  1, 5.25\n#end\n\n";

TEST(HetDag, HasATimeForEachTaskAndProcessor) {
  const Problem p = read_problem_text(het_dag, "dir/h-2-2.txt");
  EXPECT_EQ(p.name, "h-2-2");
  EXPECT_THAT(device_names(p), ElementsAre("proc:0", "proc:1"));
  EXPECT_EQ(p.time(OpId{1}, DeviceId{1}), 22'500'000);
  EXPECT_EQ(transfer(p, 0, 1, 0), 5'250'000);
}

TEST(Workloads, CannotBeWrittenAsProblemJson) {
  for (const std::string& text : {moirai, het_dag, test::chain_of({1, 1}).text()})
    EXPECT_THROW(write_problem_json(read_problem_text(text, "f")), InputError);
}

TEST(Workloads, AreReadByTheFunctionThatReadsProblemJson) {
  const Problem p = read_problem_text(R"(  {"devices": [{"name": "d", "memory_bytes": null}], "tensors": [],
      "ops": [{"name": "maxFPGAs", "seconds": [1]}], "emplace": "problem/1"})",
                                      "p.json");
  EXPECT_THAT(p.op_names, ElementsAre("maxFPGAs"));
}

TEST(TextOutline, HasTheKeysOfTheOutermostObjectOnly) {
  EXPECT_THAT(outline_of(R"( {"a": {"b": 1}, "c\"d" : ["e", {"f": 2}], "g": "h:"} )").keys,
              ElementsAre("a", R"(c\"d)", "g"));
  EXPECT_THAT(outline_of(R"([ {"a": [{"b": 1}], "c": 2}, {"d": 3}])").keys, ElementsAre("a", "c"));
  EXPECT_THAT(outline_of(R"({"emplace": "problem/1", "maxFPGAs": 1})").keys, ElementsAre("emplace"));
  for (const char* text : {"", " ", "[", "{", "{\"", "{\"a", "{\"a\\", "[]", "{}", "[[{\"a\": 1}]]", "#tasks", "]}"})
    EXPECT_TRUE(outline_of(text).keys.empty()) << text;
}

// ---- expert splits

test::Partitioning training_chain() {
  test::Partitioning file = test::chain_of({1, 1, 1, 1});
  file.nodes[2].backward = file.nodes[3].backward = true;
  file.nodes[0].color = file.nodes[3].color = 1;
  file.nodes[1].color = file.nodes[2].color = 2;
  file.accelerators = 2;
  file.cpus = 1;
  return file;
}

TEST(ExpertSplit, PlacesNodesAndBackwardNodesFollowTheirClass) {
  const Problem p = training_chain().problem();
  const auto read = [&](const std::string& text) { return read_placement_text(text, "e.json", p).placement.device; };
  EXPECT_THAT(
      read(R"({"cpus": [{"load": -1, "nodes": [1]}], "fpgas": [{"nodes": []}, {"nodes": [0]}], "maxLoad": -1})"),
      ElementsAre(1, 2, 2, 1));
  // A class that the split itself divides stays as it says.
  EXPECT_THAT(read(R"({"cpus": [], "fpgas": [{"nodes": [0, 1, 2]}, {"nodes": [3]}]})"), ElementsAre(0, 0, 0, 1));
}

TEST(ExpertSplit, IsReadByTheFunctionThatReadsPlacementJson) {
  const Problem p = test::chain_of({1, 1}).problem();
  const PlacementFile file = read_placement_text(
      R"({"emplace": "placement/1", "ops": {"0": "acc:0", "1": "acc:0"}, "schedule": "fifo"})", "p.json", p);
  EXPECT_EQ(file.schedule, Schedule::fifo);
  EXPECT_THAT(file.placement.device, ElementsAre(0, 0));
}

}  // namespace
}  // namespace emplace::formats::workload_files_test
