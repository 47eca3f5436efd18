// Published workloads (outside files) and the tables of their README.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files.hpp"
#include "formats/workload/workload.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/partitioning.hpp"
#include "tests/support/ten_tasks.hpp"

namespace emplace::formats::workload_counts_test {
namespace {

const std::string folder = test::outside_file("workloads/");

class WorkloadCounts : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_OUTSIDE_FILE(folder); }
};

std::size_t devices_of_kind(const Problem& problem, const std::string& kind) {
  return static_cast<std::size_t>(
      std::count_if(problem.devices.begin(), problem.devices.end(), [&](const Device& d) { return d.kind == kind; }));
}

// A chain of four nodes and their backward nodes, the last two of which are in no class.
TEST(SmallWorkloadCounts, OfDnnPartitioning) {
  test::Partitioning file = test::chain_of(std::vector<double>(8, 1));
  for (std::size_t i = 0; i < 8; ++i) {
    file.nodes[i].backward = i >= 4;
    file.nodes[i].color = i < 3 || i > 4 ? static_cast<int>(std::min(i, 7 - i)) : -1;
  }
  file.edges.emplace_back(0, 7);
  file.accelerators = 3;
  file.cpus = 2;
  const Problem p = file.problem();
  EXPECT_EQ(p.op_count(), 8U);
  EXPECT_EQ(std::count(p.backward.begin(), p.backward.end(), 1), 4);
  EXPECT_EQ(p.edge_count(), 8U);
  EXPECT_EQ(p.group_names.size(), 3U);
  EXPECT_EQ(std::count(p.group.begin(), p.group.end(), GroupId{}), 2);
  EXPECT_EQ(devices_of_kind(p, "accelerator"), 3U);
  EXPECT_EQ(devices_of_kind(p, "cpu"), 2U);
  EXPECT_EQ(p.channels.size(), 2U * 3 + 1);
}

TEST(SmallWorkloadCounts, OfHetDag) {
  const Problem p = read_problem_text(test::ten_tasks_file, "Topcuoglu-3-10.txt");
  EXPECT_EQ(p.op_count(), 10U);
  EXPECT_EQ(p.edge_count(), 15U);
  EXPECT_EQ(p.device_count(), 3U);
}

TEST_F(WorkloadCounts, OfDnnPartitioning) {
  const struct {
    const char* file;
    std::size_t nodes, backward, edges, classes, without, k, l;
    Bytes memory;
  } rows[] = {
      {"throughput-inputs/LayerGraphs/bert24_inference", 32, 0, 55, 32, 0, 6, 1, 17185374208},
      {"throughput-inputs/LayerGraphs/bert24_training", 64, 32, 110, 32, 0, 6, 1, 17185374208},
      {"throughput-inputs/LayerGraphs/resnet50_inference", 177, 0, 193, 177, 0, 6, 1, 17185374208},
      {"throughput-inputs/LayerGraphs/resnet50_training", 354, 177, 386, 177, 0, 6, 1, 17185374208},
      {"throughput-inputs/OperatorGraphs/bert_l-3_inference", 235, 0, 250, 117, 11, 3, 1, 17185374208},
      {"throughput-inputs/OperatorGraphs/bert_l-6_inference", 418, 0, 448, 216, 11, 3, 1, 17185374208},
      {"throughput-inputs/OperatorGraphs/bert_l-12_inference", 783, 0, 843, 413, 11, 6, 1, 17185374208},
      {"latency-inputs/LayerGraphs/bert24_inference", 32, 0, 55, 32, 0, 5, 8, 629145600},
      {"latency-inputs/LayerGraphs/resnet50_inference", 177, 0, 193, 177, 0, 14, 8, 2147483648},
      {"latency-inputs/OperatorGraphs/bert_l-3_inference", 235, 0, 250, 117, 11, 4, 8, 629145600},
      {"latency-inputs/OperatorGraphs/bert_l-6_inference", 418, 0, 448, 216, 11, 6, 8, 629145600},
      {"latency-inputs/OperatorGraphs/bert_l-12_inference", 783, 0, 843, 413, 11, 8, 8, 2147483648},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.file);
    const Problem p = read_problem_file({folder + "dnn-partitioning/" + row.file + ".json", {}});
    EXPECT_EQ(p.op_count(), row.nodes);
    EXPECT_EQ(static_cast<std::size_t>(std::count(p.backward.begin(), p.backward.end(), 1)), row.backward);
    EXPECT_EQ(p.edge_count(), row.edges);
    EXPECT_EQ(p.group_names.size(), row.classes);
    EXPECT_EQ(static_cast<std::size_t>(std::count(p.group.begin(), p.group.end(), GroupId{})), row.without);
    EXPECT_EQ(devices_of_kind(p, "accelerator"), row.k);
    EXPECT_EQ(devices_of_kind(p, "cpu"), row.l);
    EXPECT_EQ(p.devices[0].memory, row.memory);
    EXPECT_EQ(p.channels.size(), 2 * row.k + 1);
  }
}

TEST_F(WorkloadCounts, OfMoirai) {
  const Problem net = read_problem_file({folder + "moirai/GoogLeNet.json", {}});
  EXPECT_EQ(net.op_count(), 141U);
  EXPECT_EQ(net.edge_count(), 167U);
  EXPECT_EQ(net.device_count(), 4U);
  const Problem example = read_problem_file({folder + "moirai/example-1.json", {}});
  EXPECT_EQ(example.op_count(), 14U);
  EXPECT_EQ(example.edge_count(), 19U);
  EXPECT_EQ(example.device_count(), 3U);
  Bytes needed = 0, memory = 0;
  for (const Bytes bytes : example.resident) needed += bytes;
  for (const Device& device : example.devices) memory += device.memory;
  EXPECT_EQ(needed, 44);
  EXPECT_EQ(memory, 44);
  // Best single device: 2.336 ms and 65 ms (costs of 0 last 1 ps).
  const auto best_single = [](const Problem& p) {
    Ticks best = total_limit;
    for (std::size_t d = 0; d < p.device_count(); ++d) {
      Ticks sum = 0;
      for (std::size_t op = 0; op < p.op_count(); ++op) sum += p.time(OpId{op}, DeviceId{d});
      best = std::min(best, sum);
    }
    return static_cast<double>(best) * 1e-9;
  };
  EXPECT_NEAR(best_single(net), 2.336, 1e-6);
  EXPECT_NEAR(best_single(example), 65, 1e-6);
}

TEST_F(WorkloadCounts, OfSinnenOptimal) {
  const std::string file = folder + "sinnen-optimal/sinnen-optimal-10-tasks.json";
  const std::string text = read_file(file);
  std::size_t edges = 0, not_topological = 0;
  std::map<std::size_t, int> by_processors;
  for (const auto& instance : nlohmann::json::parse(text)) {
    const Problem p =
        read_problem_text(text, file, {.instance = instance["name"].get<std::string>(), .processors = {}});
    EXPECT_EQ(p.op_count(), 10U);
    edges += p.edge_count();
    ++by_processors[p.device_count()];
    bool backwards = false;
    for (std::size_t t = 0; t < p.tensor_count(); ++t) backwards |= p.producer[t].value > p.consumers[t][0];
    not_topological += backwards ? 1 : 0;
  }
  EXPECT_EQ(edges, 3604U);
  EXPECT_EQ(not_topological, 64U);
  EXPECT_EQ(by_processors, (std::map<std::size_t, int>{{2, 69}, {4, 69}, {8, 69}, {16, 69}}));
}

TEST_F(WorkloadCounts, OfStg) {
  const std::string file = folder + "stg/stg-50.json";
  const std::string text = read_file(file);
  std::size_t edges = 0, graphs = 0;
  for (const auto& instance : nlohmann::json::parse(text)) {
    const Problem p = read_problem_text(text, file, {.instance = instance["name"].get<std::string>(), .processors = 2});
    EXPECT_EQ(p.op_count(), 52U);
    EXPECT_EQ(p.device_count(), 2U);
    edges += p.edge_count();
    ++graphs;
    // Weights of 0 last a tick, and so does nothing else.
    Ticks work = 0;
    for (std::size_t op = 0; op < p.op_count(); ++op) work += p.time(OpId{op}, DeviceId{0});
    EXPECT_EQ(work / 1'000'000, instance["total_work"].get<Ticks>());
    EXPECT_EQ(work % 1'000'000, 2);
  }
  EXPECT_EQ(graphs, 180U);
  EXPECT_EQ(edges, 61853U);
}

TEST_F(WorkloadCounts, OfHetDag) {
  const struct {
    const char* file;
    std::size_t tasks, edges, processors;
  } rows[] = {{"Ahmad-3-9", 9, 12, 3},        {"Eswari-2-11", 11, 17, 2}, {"Heteropar-4-12", 12, 13, 4},
              {"Ilavarasan-3-10", 10, 15, 3}, {"Kang2-3-10", 10, 15, 3},  {"Liang-3-10", 10, 15, 3},
              {"SampleFig-3-8", 8, 11, 3}};
  for (const auto& row : rows) {
    const Problem p = read_problem_file({folder + "het-dag/" + row.file + ".txt", {}});
    EXPECT_EQ(p.op_count(), row.tasks) << row.file;
    EXPECT_EQ(p.edge_count(), row.edges) << row.file;
    EXPECT_EQ(p.device_count(), row.processors) << row.file;
  }
}

}  // namespace
}  // namespace emplace::formats::workload_counts_test
