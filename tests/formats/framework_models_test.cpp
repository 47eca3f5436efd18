// Counts of real OpenVINO, TensorFlow and TensorFlow.js models: outside files and the tables of their README.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "emplace/formats/reader.hpp"
#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/support/outside_files.hpp"

namespace emplace::formats::framework_models_test {
namespace {

const std::string folder = test::outside_file("models/");

struct Model {
  const char* file;
  std::size_t nodes, edges;
  std::size_t static_tensors, tensors;  // no_count: the table does not say
  std::size_t constants, cut_edges = 0;
};
constexpr std::size_t no_count = static_cast<std::size_t>(-1);
void PrintTo(const Model& model, std::ostream* out) { *out << model.file; }

class FrameworkModel : public ::testing::TestWithParam<Model> {
 protected:
  void SetUp() override { REQUIRE_OUTSIDE_FILE(folder); }
};

TEST_P(FrameworkModel, HasTheCountsOfItsTable) {
  const Model& model = GetParam();
  const Graph graph = read_graph(folder + model.file);
  const GraphStatistics counts = statistics(graph);
  EXPECT_EQ(counts.ops, model.nodes);
  EXPECT_EQ(counts.edges, model.edges);
  EXPECT_EQ(counts.cut_edges, model.cut_edges);
  EXPECT_EQ(graph.edge_count(), model.edges - model.cut_edges);
  if (model.tensors != no_count) {
    EXPECT_EQ(counts.tensors, model.tensors);
    EXPECT_EQ(counts.static_tensors, model.static_tensors);
  }
  const auto is_constant = [](const GraphOp& op) { return op.type == "Constant"; };
  EXPECT_EQ(std::count_if(graph.ops.begin(), graph.ops.end(), is_constant), model.constants);
}

INSTANTIATE_TEST_SUITE_P(OpenVino, FrameworkModel,
                         ::testing::Values(Model{"openvino-ir/roberta_base_cola.xml", 796, 859, 354, 795, 352},
                                           Model{"openvino-ir/flan_t5_large_decoder.xml", 2619, 3025, 999, 2522, 983},
                                           Model{"openvino-ir/face-detection-adas-0001.xml", 605, 631, 604, 604, 213},
                                           Model{"openvino-ir/mobilenetv2.xml", 267, 276, 266, 266, 109},
                                           Model{"openvino-ir/person-detection-retail-0013.xml", 274, 312, 274, 274,
                                                 1}));

INSTANTIATE_TEST_SUITE_P(
    TensorFlow, FrameworkModel,
    ::testing::Values(Model{"tf-graphdef/opennmt_seq2seq_train.pbtxt", 3378, 5105, 2369, 3501, 740, 52},
                      Model{"tf-graphdef/faster_rcnn_resnet50_opencv.pbtxt", 224, 245, no_count, no_count, 11},
                      Model{"tfjs/handtrack_ssd320fpnlite.json", 1185, 1422, no_count, no_count, 619, 6}));

// In brackets in the table: without constants and without the edges that start at one.
TEST(FrameworkModels, ConstantsOfOpenVinoStartTheEdgesThatTheTableLeavesOut) {
  REQUIRE_OUTSIDE_FILE(folder);
  struct Row {
    const char* file;
    std::size_t nodes, edges;
  };
  for (const Row& row : {Row{"roberta_base_cola", 444, 506}, Row{"flan_t5_large_decoder", 1636, 2031},
                         Row{"face-detection-adas-0001", 392, 418}, Row{"mobilenetv2", 158, 167},
                         Row{"person-detection-retail-0013", 273, 311}}) {
    const Graph graph = read_graph(folder + "openvino-ir/" + row.file + ".xml");
    std::size_t nodes = 0, edges = 0;
    for (const GraphOp& op : graph.ops) {
      nodes += op.type != "Constant";
      for (const Operand& input : op.inputs)
        edges += input.is_tensor() && graph.ops[graph.tensors[input.index].producer.index()].type != "Constant";
    }
    EXPECT_EQ(nodes, row.nodes) << row.file;
    EXPECT_EQ(edges, row.edges) << row.file;
  }
}

// Backward takes the products of forward twice: for the data and for the weights.
TEST(FrameworkModels, AnOpenVinoModelTrainsAtThriceItsForwardCost) {
  REQUIRE_OUTSIDE_FILE(folder);
  const Graph forward = prune(read_graph(folder + "openvino-ir/mobilenetv2.xml")).graph;
  const GraphStatistics step = statistics(expand_training(forward, {}).graph);
  EXPECT_TRUE(step.uncosted_ops.empty());
  EXPECT_NEAR(step.flops / statistics(forward).flops, 3, 0.25);
}

}  // namespace
}  // namespace emplace::formats::framework_models_test
