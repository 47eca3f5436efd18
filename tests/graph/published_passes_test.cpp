// Merging passes against published or measured counts. Skipped where the files are absent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "emplace/formats/reader.hpp"
#include "formats/workload/workload.hpp"
#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/graph/small_graphs.hpp"
#include "tests/support/outside_files.hpp"

namespace emplace::published_passes_test {
namespace {

const std::string shared = test::outside_file("");

class PublishedPasses : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_OUTSIDE_FILE(shared); }
};

// Kernels that ONNX Runtime ran with all optimisations on, by type; without the layout's ReorderOutput.
std::map<std::string, std::size_t> kernels_of(const std::string& profile) {
  std::ifstream file(shared + "profiles/" + profile);
  std::map<std::string, std::size_t> kernels;
  std::string line, node, type;
  std::getline(file, line);
  while (std::getline(file, node, '\t') && std::getline(file, type, '\t') && std::getline(file, line))
    if (type != "ReorderOutput") ++kernels[type];
  return kernels;
}

TEST_F(PublishedPasses, FusionLeavesTheKernelsThatOnnxRuntimeRuns) {
  for (const char* model : {"resnet50_tv", "inception_v3_tv"}) {
    SCOPED_TRACE(model);
    std::map<std::string, std::size_t> kernels = kernels_of(model + std::string("_opt99_t1.tsv"));
    EXPECT_GT(kernels["Conv"], 50U);
    const Graph graph =
        fuse(prune(formats::read_graph(shared + "models/onnx-graph-only/" + model + ".onnx")).graph).graph;
    std::map<std::string, std::size_t> ops;
    for (const GraphOp& op : graph.ops) ++ops[op.type == "ConvolutionLayer" ? "Conv" : op.type];
    // ONNX Runtime also folds the Pads of Inception's average pools into the pools; that is no element-wise fusion.
    if (ops.contains("Pad")) {
      EXPECT_EQ(ops["Pad"], kernels["AveragePool"]);
    }
    ops.erase("Pad");
    EXPECT_EQ(ops, kernels);
  }
}

TEST_F(PublishedPasses, ChainsOfAnOpenVinoModelContractAsHsdagsRulesDo) {
  // Duan et al. 2024: every Const layer counts.
  const Graph graph = formats::read_graph(shared + "models/openvino-ir/face-detection-adas-0001.xml");
  EXPECT_EQ(graph.ops.size(), 605U);
  EXPECT_EQ(contract_chains(graph, ChainRule::chain).graph.ops.size(), 417U);
  EXPECT_EQ(contract_chains(graph, ChainRule::single_parent).graph.ops.size(), 410U);
}

// The ops and edges of a published problem, without its constraints.
Graph graph_of(const Problem& problem) {
  Graph graph;
  for (const std::string& name : problem.op_names) graph.ops.push_back(test::node(name, "Op", {}));
  for (std::size_t i = 0; i < problem.tensor_count(); ++i) {
    const TensorId id{i};
    graph.tensors.push_back({"t" + std::to_string(i), DType::f32, Shape::scalar(), OpId{}, {}});
    graph.ops[problem.producer[i].index()].outputs.push_back(id);
    for (const std::uint32_t consumer : problem.consumers[i]) graph.ops[consumer].inputs.push_back(Operand::of(id));
  }
  graph.relink();
  return graph;
}

TEST_F(PublishedPasses, ColocRlGroupsOfPublishedGraphsHaveTheirNumbers) {
  struct Row {
    const char* file;
    std::size_t groups;
  };
  // By the rule that an op joins its only consumer; Mirhoseini et al. 2017, on the files of Tarnawski et al. 2020.
  const Row rows[] = {{"LayerGraphs/bert24_inference.json", 5},        {"LayerGraphs/bert24_training.json", 10},
                      {"LayerGraphs/resnet50_inference.json", 18},     {"LayerGraphs/resnet50_training.json", 36},
                      {"OperatorGraphs/bert_l-3_inference.json", 56},  {"OperatorGraphs/bert_l-6_inference.json", 98},
                      {"OperatorGraphs/bert_l-12_inference.json", 182}};
  for (const Row& row : rows) {
    const Graph graph =
        graph_of(formats::read_problem_file({shared + "workloads/dnn-partitioning/throughput-inputs/" + row.file, {}}));
    const Graph bound = colocate(graph, {.recursion = ColocateOptions::Recursion::op}).graph;
    std::set<std::string> groups;
    for (const GraphOp& op : bound.ops) groups.insert(op.colocate.empty() ? "op " + op.name : op.colocate);
    EXPECT_EQ(groups.size(), row.groups) << row.file;
  }
}

}  // namespace
}  // namespace emplace::published_passes_test
