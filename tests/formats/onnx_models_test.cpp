// Counts of real models: outside files and the tables of their README.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <unordered_map>

#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "graph/ops/op_table.hpp"
#include "tests/formats/model_text.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/small_models.hpp"

namespace emplace::formats::onnx_models_test {
namespace {

const std::string folder = test::outside_file("models/");

struct Model {
  const char* file;
  std::size_t nodes, edges;
  std::size_t static_tensors, tensors;
  std::size_t initializers;  // no_count: the table does not say
};
constexpr std::size_t no_count = static_cast<std::size_t>(-1);
void PrintTo(const Model& model, std::ostream* out) { *out << model.file; }

class OnnxModel : public ::testing::TestWithParam<Model> {
 protected:
  void SetUp() override { REQUIRE_OUTSIDE_FILE(folder); }
};

TEST_P(OnnxModel, HasTheCountsOfItsTable) {
  const Model& model = GetParam();
  const Graph graph = read_graph(folder + model.file);
  const GraphStatistics counts = statistics(graph);
  EXPECT_EQ(counts.ops, model.nodes);
  EXPECT_EQ(counts.edges, model.edges);
  EXPECT_EQ(counts.tensors, model.tensors);
  EXPECT_EQ(counts.static_tensors, model.static_tensors);
  if (model.initializers != no_count) {
    EXPECT_EQ(graph.parameters.size(), model.initializers);
  }
}

INSTANTIATE_TEST_SUITE_P(Light, OnnxModel,
                         ::testing::Values(Model{"onnx-light/light_bvlc_alexnet.onnx", 40, 39, 40, 42, 17},
                                           Model{"onnx-light/light_inception_v1.onnx", 237, 263, 237, 238, 118},
                                           Model{"onnx-light/light_resnet50.onnx", 415, 430, 415, 415, 269},
                                           Model{"onnx-light/light_shufflenet.onnx", 446, 461, 446, 446, 281},
                                           Model{"onnx-light/light_squeezenet.onnx", 105, 112, 105, 106, 52},
                                           Model{"onnx-light/light_vgg19.onnx", 82, 81, 82, 84, 39},
                                           Model{"onnx-light/light_zfnet512.onnx", 38, 37, 38, 38, 18}));

INSTANTIATE_TEST_SUITE_P(GraphOnly, OnnxModel,
                         ::testing::Values(Model{"onnx-graph-only/resnet50_tv.onnx", 169, 184, 169, 169, 61},
                                           Model{"onnx-graph-only/inception_v3_tv.onnx", 316, 350, 316, 316, 107},
                                           Model{"onnx-graph-only/googlenet_tv.onnx", 179, 205, 179, 179, 76},
                                           Model{"onnx-graph-only/mobilenet_v3_large_tv.onnx", 206, 244, 206, 206, 83},
                                           Model{"onnx-graph-only/efficientnet_b0_tv.onnx", 298, 371, 298, 298, 105},
                                           Model{"onnx-graph-only/vit_b_16_tv.onnx", 1024, 1231, 1024, 1024, 80},
                                           Model{"onnx-graph-only/bert_base_arch.onnx", 822, 942, 822, 822, 151},
                                           Model{"onnx-graph-only/ppocrv4_det_1x3x640x640.onnx", 672, 719, 672, 672, 0},
                                           Model{"onnx-graph-only/ddddocr_det_yolox.onnx", 279, 382, 279, 279, 176}));

INSTANTIATE_TEST_SUITE_P(
    WithWeights, OnnxModel,
    ::testing::Values(Model{"onnx-with-weights/retinaface_mnet025_512.onnx", 172, 181, 172, 172, 287},
                      Model{"onnx-with-weights/ch_ppocr_mobile_v2.0_cls_infer.onnx", 471, 505, 256, 471, 0},
                      Model{"onnx-with-weights/silero_vad_v5.onnx", 5, 4, 2, 6, no_count},
                      Model{"onnx-with-weights/openwakeword_embedding.onnx", 65, 64, 0, 65, 42}));

TEST(OnnxModels, TheSmallNetworkHasTheCountsOfItsNodesAndWeights) {
  const Graph graph = read_model_text(test::small_network(), "network.onnx");
  const GraphStatistics counts = statistics(graph);
  EXPECT_EQ(counts.ops, test::SmallNetwork::nodes);
  EXPECT_EQ(counts.edges, test::SmallNetwork::edges);
  EXPECT_EQ(counts.tensors, test::SmallNetwork::nodes);
  EXPECT_EQ(counts.static_tensors, test::SmallNetwork::nodes);
  EXPECT_EQ(graph.parameters.size(), test::SmallNetwork::initializers);
}

TEST(OnnxModels, ANetworkInsideAnIfIsOneOpAndAWarningSaysSo) {
  REQUIRE_OUTSIDE_FILE(folder);
  ::testing::internal::CaptureStderr();
  const Graph graph = read_graph(folder + "onnx-with-weights/silero_vad_v5.onnx");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("1 nodes have sub-graphs (If, Loop, Scan), among them"));
  // Its costlier branch is its cost.
  EXPECT_THAT(statistics(graph).uncosted_ops, ::testing::Not(::testing::Contains(::testing::Key("If"))));
}

}  // namespace
}  // namespace emplace::formats::onnx_models_test
