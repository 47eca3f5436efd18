// The passes on the exported models of the reader tests, against published figures. Skipped where the files are absent.
#include <gtest/gtest.h>

#include <filesystem>

#include "emplace/formats/reader.hpp"
#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/graph/small_graphs.hpp"

namespace emplace::real_models_test {
namespace {

const std::string folder = "../shared/models/";

class RealModels : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  }
};

double forward_flops(const Graph& graph) {
  double flops = 0;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].phase == Phase::forward) flops += cost_of(graph, OpId{i}).flops;
  return flops;
}

TEST_F(RealModels, HaveTheirPublishedParametersAndMultiplyAddsOncePruned) {
  struct Row {
    const char* file;
    double parameters, multiply_adds;  // 0: not stated for this input
  };
  // torchvision's model table; ViT-B/16: Dosovitskiy et al. 2021; VGG-19: Simonyan and Zisserman 2015; AlexNet's 61 M:
  // Krizhevsky et al. 2012; BERT base (110 M with its pooler): Devlin et al. 2019, here with 128 positions.
  const Row rows[] = {
      {"onnx-graph-only/resnet50_tv.onnx", 25.56e6, 4.09e9},
      {"onnx-light/light_resnet50.onnx", 25.56e6, 4.09e9},
      {"onnx-graph-only/inception_v3_tv.onnx", 23.83e6, 5.71e9},
      {"onnx-graph-only/googlenet_tv.onnx", 6.62e6, 1.50e9},
      {"onnx-graph-only/mobilenet_v3_large_tv.onnx", 5.48e6, 0.22e9},
      {"onnx-graph-only/efficientnet_b0_tv.onnx", 5.29e6, 0.39e9},
      {"onnx-graph-only/vit_b_16_tv.onnx", 86.57e6, 17.56e9},
      {"onnx-graph-only/bert_base_arch.onnx", 109.5e6, 0},
      {"onnx-light/light_vgg19.onnx", 143.67e6, 19.63e9},
      {"onnx-light/light_bvlc_alexnet.onnx", 61e6, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.file);
    const Graph graph = prune(formats::read_graph(folder + row.file)).graph;
    graph.validate();
    const GraphStatistics sums = statistics(graph);
    EXPECT_NEAR(static_cast<double>(sums.parameters), row.parameters, 0.02 * row.parameters);
    // Element-wise work counts too, which is up to 4 % of the multiply-adds of the small mobile nets.
    if (row.multiply_adds > 0) {
      EXPECT_NEAR(sums.flops / 2, row.multiply_adds, 0.05 * row.multiply_adds);
    }
    EXPECT_TRUE(sums.uncosted_ops.empty());
  }
}

TEST_F(RealModels, LoseTheirIdentitiesConstantsAndWeightProducersAndKeepTheirWork) {
  std::size_t files = 0;
  for (const char* part : {"onnx-light", "onnx-graph-only", "onnx-with-weights"})
    for (const auto& entry : std::filesystem::directory_iterator(folder + part)) {
      SCOPED_TRACE(entry.path().filename().string());
      ++files;
      const Graph graph = formats::read_graph(entry.path().string());
      const PassResult pruned = prune(graph);
      pruned.graph.validate();
      for (const char* type : {"Identity", "Constant", "ConstantOfShape", "Dropout"})
        EXPECT_TRUE(test::ops_of_type(pruned.graph, type).empty()) << type;
      for (const char* type : {"Conv", "Gemm", "MatMul"})
        EXPECT_EQ(test::ops_of_type(pruned.graph, type).size(), test::ops_of_type(graph, type).size()) << type;
      for (std::size_t i = 0; i < graph.ops.size(); ++i)
        if (const OpId now = pruned.became[i]; !now.is_none()) {
          EXPECT_EQ(cost_of(pruned.graph, now).flops, cost_of(graph, OpId{i}).flops) << graph.ops[i].name;
        }
    }
  EXPECT_EQ(files, 20U);
}

TEST_F(RealModels, TrainAtThreeTimesTheirForwardFlops) {
  for (const char* part : {"onnx-light", "onnx-graph-only", "onnx-with-weights"})
    for (const auto& entry : std::filesystem::directory_iterator(folder + part)) {
      SCOPED_TRACE(entry.path().filename().string());
      const Graph graph = prune(formats::read_graph(entry.path().string())).graph;
      const Graph step = share_parameters(expand_training(graph, {}).graph).graph;
      step.validate();
      for (const auto& [type, count] : statistics(step).uncosted_ops) EXPECT_TRUE(type.starts_with("If")) << type;
      const double forward = forward_flops(step);
      // Files whose sizes depend on the caller have next to no known FLOPs; AlexNet's first layer is 9 % of its work.
      if (forward < 1e8) continue;
      EXPECT_NEAR(statistics(step).flops / forward, 3, 0.25);
    }
}

}  // namespace
}  // namespace emplace::real_models_test
