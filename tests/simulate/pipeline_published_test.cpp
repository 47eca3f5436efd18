// Published loads of dnn-partitioning (docs/papers/tarnawski.md, section 5), in ms, to 1e-5.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "formats/workload/workload.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/partitioning.hpp"

namespace emplace::simulate::pipeline_published_test {
namespace {

const std::string folder = test::outside_file("workloads/dnn-partitioning/");

class PublishedLoads : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_OUTSIDE_FILE(folder); }
  static Problem throughput(const std::string& name) {
    return formats::read_problem_file({folder + "throughput-inputs/" + name + ".json", {}});
  }
};

Outcome load(const Problem& problem, const std::vector<std::uint8_t>& device, const PipelineOptions& options = {}) {
  return make_pipeline_engine(problem, options)->evaluate({device, {}});
}
double in_ms(const Outcome& outcome) { return static_cast<double>(outcome.makespan) * 1e-9; }

// A chain of 4, 6 and 4 ms with transfers of 1 ms and 600 bytes per node, on two accelerators.
struct SmallSplit {
  explicit SmallSplit(Bytes memory) : problem(chain(memory).problem()) {}
  static test::Partitioning chain(Bytes memory) {
    test::Partitioning chain = test::chain_of({4, 6, 4});
    for (test::PartitionNode& node : chain.nodes) node.size = 600;
    chain.accelerators = 2;
    chain.memory = memory;
    return chain;
  }
  Problem problem;
  Placement placement =
      formats::read_expert_split(R"({"cpus": [], "fpgas": [{"nodes": [0]}, {"nodes": [1, 2]}]})", "e.json", problem);
};

TEST(SmallLoads, OfAnExpertSplitAndOfOneAccelerator) {
  const SmallSplit split(1200);
  Usage usage;
  const Outcome outcome =
      make_pipeline_engine(split.problem)->evaluate(split.placement, {.usage = &usage, .timeline = nullptr});
  EXPECT_TRUE(outcome.feasible());
  EXPECT_EQ(in_ms(outcome), 11);  // 1 + 6 + 4; the other: 4 + 1
  EXPECT_EQ(usage.device_peak, (std::vector<Bytes>{600, 1200}));
  EXPECT_TRUE(devices_form_a_sequence(split.problem, split.placement.device));
  EXPECT_EQ(in_ms(load(split.problem, {0, 0, 0})), 14);
  EXPECT_EQ(load(split.problem, {0, 0, 0}).why, Infeasible::memory);
  EXPECT_EQ(SmallSplit(1199).problem.devices[1].memory, 1199);
  EXPECT_EQ(load(SmallSplit(1199).problem, split.placement.device).why, Infeasible::memory);
}

TEST_F(PublishedLoads, OfExpertSplits) {
  const struct {
    const char *instance, *split;
    double load;
  } rows[] = {
      {"LayerGraphs/bert24_inference", "bert24_inference_expert", 20.083953125},
      {"LayerGraphs/bert24_training", "bert24_training_expert", 49.40490625},
      {"LayerGraphs/resnet50_inference", "resnet50_inference_expert", 43.9182578},
      {"LayerGraphs/resnet50_training", "resnet50_inference_expert", 112.1075156},  // backward nodes follow
  };
  for (const auto& row : rows) {
    const Problem problem = throughput(row.instance);
    const std::string file = folder + "human-experts/" + row.split + ".json";
    const Placement placement = formats::read_placement_text(read_file(file), file, problem).placement;
    const Outcome outcome = load(problem, placement.device);
    EXPECT_TRUE(outcome.feasible()) << row.instance;
    EXPECT_NEAR(in_ms(outcome), row.load, 1e-5) << row.instance;
    EXPECT_TRUE(devices_form_a_sequence(problem, placement.device)) << row.instance;
  }
}

TEST_F(PublishedLoads, OfOneAccelerator) {
  const struct {
    const char* instance;
    double load;
    bool fits;
  } rows[] = {
      {"LayerGraphs/bert24_inference", 92.406, true},
      {"LayerGraphs/bert24_training", 217.813, true},
      {"LayerGraphs/resnet50_inference", 201.45, false},
      {"LayerGraphs/resnet50_training", 462.381, false},
      {"OperatorGraphs/bert_l-3_inference", 49.35256895, true},
      {"OperatorGraphs/bert_l-6_inference", 77.46150896, true},
      {"OperatorGraphs/bert_l-12_inference", 642.77996196, true},
  };
  for (const auto& row : rows) {
    const Problem problem = throughput(row.instance);
    const Outcome outcome = load(problem, std::vector<std::uint8_t>(problem.op_count(), 0));
    EXPECT_NEAR(in_ms(outcome), row.load, 1e-5) << row.instance;
    EXPECT_EQ(outcome.why, row.fits ? Infeasible::no : Infeasible::memory) << row.instance;
  }
}

TEST_F(PublishedLoads, TheExpertSplitOfResNet50FillsItsMemoryInTraining) {
  // "that split takes 88.5 % of the memory" (workloads/README.md)
  const Problem problem = throughput("LayerGraphs/resnet50_training");
  const std::string file = folder + "human-experts/resnet50_inference_expert.json";
  const Placement placement = formats::read_expert_split(read_file(file), file, problem);
  Usage usage;
  make_pipeline_engine(problem)->evaluate(placement, {.usage = &usage, .timeline = nullptr});
  const double most = static_cast<double>(*std::max_element(usage.device_peak.begin(), usage.device_peak.end()));
  EXPECT_NEAR(most / static_cast<double>(problem.devices[0].memory), 0.885, 0.0005);
}

TEST_F(PublishedLoads, SeparatePhasesNeverCostLessThanTheirSum) {
  const Problem problem = throughput("LayerGraphs/bert24_training");
  const std::string file = folder + "human-experts/bert24_training_expert.json";
  const std::vector<std::uint8_t> device = formats::read_expert_split(read_file(file), file, problem).device;
  const Ticks sum = load(problem, device).makespan;
  EXPECT_GE(load(problem, device, {.separate_phases = true}).makespan, sum);
  EXPECT_LE(load(problem, device, {.overlap = true}).makespan, sum);
}

}  // namespace
}  // namespace emplace::simulate::pipeline_published_test
