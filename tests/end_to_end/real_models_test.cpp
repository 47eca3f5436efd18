// `emplace inspect --json` and `cost` on a model of each format: small ones written here, and every model among the
// outside files with the counts of their README; sizes that are computed in the graph are known too, which are not in
// the README's counts of static tensors (ViT 986, RetinaFace 123).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::real_models_test {
namespace {

const std::string folder = outside_file("models/");

struct Model {
  const char* file;
  std::size_t nodes, edges, static_tensors, tensors, cut_edges = 0;
};
constexpr std::size_t no_count = static_cast<std::size_t>(-1);

const Model models[] = {
    {"onnx-light/light_bvlc_alexnet.onnx", 40, 39, 40, 42},
    {"onnx-light/light_inception_v1.onnx", 237, 263, 237, 238},
    {"onnx-light/light_resnet50.onnx", 415, 430, 415, 415},
    {"onnx-light/light_shufflenet.onnx", 446, 461, 446, 446},
    {"onnx-light/light_squeezenet.onnx", 105, 112, 105, 106},
    {"onnx-light/light_vgg19.onnx", 82, 81, 82, 84},
    {"onnx-light/light_zfnet512.onnx", 38, 37, 38, 38},
    {"onnx-graph-only/resnet50_tv.onnx", 169, 184, 169, 169},
    {"onnx-graph-only/inception_v3_tv.onnx", 316, 350, 316, 316},
    {"onnx-graph-only/googlenet_tv.onnx", 179, 205, 179, 179},
    {"onnx-graph-only/mobilenet_v3_large_tv.onnx", 206, 244, 206, 206},
    {"onnx-graph-only/efficientnet_b0_tv.onnx", 298, 371, 298, 298},
    {"onnx-graph-only/vit_b_16_tv.onnx", 1024, 1231, 1024, 1024},
    {"onnx-graph-only/bert_base_arch.onnx", 822, 942, 822, 822},
    {"onnx-graph-only/ppocrv4_det_1x3x640x640.onnx", 672, 719, 672, 672},
    {"onnx-graph-only/ddddocr_det_yolox.onnx", 279, 382, 279, 279},
    {"onnx-with-weights/retinaface_mnet025_512.onnx", 172, 181, 172, 172},
    {"onnx-with-weights/ch_ppocr_mobile_v2.0_cls_infer.onnx", 471, 505, 256, 471},
    {"onnx-with-weights/silero_vad_v5.onnx", 5, 4, 2, 6},
    {"onnx-with-weights/openwakeword_embedding.onnx", 65, 64, 0, 65},
    {"openvino-ir/roberta_base_cola.xml", 796, 859, 354, 795},
    {"openvino-ir/flan_t5_large_decoder.xml", 2619, 3025, 999, 2522},
    {"openvino-ir/face-detection-adas-0001.xml", 605, 631, 604, 604},
    {"openvino-ir/mobilenetv2.xml", 267, 276, 266, 266},
    {"openvino-ir/person-detection-retail-0013.xml", 274, 312, 274, 274},
    {"tf-graphdef/opennmt_seq2seq_train.pbtxt", 3378, 5105, 2369, 3501, 52},
    {"tf-graphdef/faster_rcnn_resnet50_opencv.pbtxt", 224, 245, no_count, no_count},
    {"tfjs/handtrack_ssd320fpnlite.json", 1185, 1422, no_count, no_count, 6},
};

void expect_counts(const std::string& path, const Model& model) {
  const Finished inspect = emplace_run({"inspect", "--json", path});
  ASSERT_EQ(inspect.exit_code, 0) << inspect.err;
  const nlohmann::json counts = nlohmann::json::parse(inspect.out);
  EXPECT_EQ(counts["kind"], "graph");
  EXPECT_EQ(counts["ops"], model.nodes) << path;
  EXPECT_EQ(counts["edges"], model.edges) << path;
  EXPECT_EQ(counts.value("cut_edges", std::size_t{0}), model.cut_edges) << path;
  if (model.tensors == no_count) return;
  EXPECT_EQ(counts["tensors"], model.tensors) << path;
  EXPECT_EQ(counts["static_tensors"], model.static_tensors) << path;
}

// `unsized`: a part of the message with which `cost` refuses the model; empty if all sizes are known.
void expect_to_become_a_problem(const std::string& path, const std::string& unsized) {
  const TemporaryFolder folder_for_problem;
  const std::string problem = folder_for_problem / "problem.json";
  std::vector<std::string> cost = {"cost", path, "k40x2", "-o", problem};
  if (!unsized.empty()) {
    const Finished refused = emplace_run(cost);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, ::testing::HasSubstr(unsized));
    cost.emplace_back("--allow-unsized");
  }
  const Finished costed = emplace_run(cost);
  ASSERT_EQ(costed.exit_code, 0) << costed.err;
  const Finished place = emplace_run({"place", "single", problem, "--json"});
  ASSERT_EQ(place.exit_code, 0) << place.err;
  EXPECT_GT(nlohmann::json::parse(place.out)["makespan_s"], 0) << path;
  EXPECT_EQ(place.err.find("had no known size") != std::string::npos, !unsized.empty()) << place.err;
}

const std::pair<Model, std::string> small_models[] = {
    {{"small.onnx", SmallNetwork::nodes, SmallNetwork::edges, SmallNetwork::nodes, SmallNetwork::nodes},
     small_network()},
    {{"small.xml", 5, 4, 4, 4}, small_openvino()},
    {{"small.pbtxt", 9, 10, 10, 11, 1}, small_graphdef()},
    {{"small.json", 4, 3, 4, 4}, small_tfjs()},
};

TEST(SmallModels, InspectGivesTheirCounts) {
  const TemporaryFolder written;
  for (const auto& [model, content] : small_models) {
    write_file(written / model.file, content);
    expect_counts(written / model.file, model);
  }
}

TEST(SmallModels, InspectGivesParametersAndMultiplyAddsOnceFilterProducersAreFolded) {
  const TemporaryFolder written;
  write_file(written / "small.onnx", small_network());
  const auto lowered = nlohmann::json::parse(emplace_run({"inspect", "--json", written / "small.onnx"}).out)["lowered"];
  EXPECT_EQ(lowered["ops"], SmallNetwork::ops);
  EXPECT_EQ(lowered["parameters"], SmallNetwork::parameters);
  // Activations, pools and biases are within 5 % of the multiply-adds.
  EXPECT_NEAR(lowered["flops"].get<double>() / (2 * SmallNetwork::multiply_adds), 1, 0.05);
}

TEST(SmallModels, OfEveryFormatBecomeProblems) {
  const TemporaryFolder written;
  for (const auto& [model, content] : small_models) {
    write_file(written / model.file, content);
    expect_to_become_a_problem(written / model.file, model.static_tensors == model.tensors ? "" : "1 of 8 ops (12 %)");
  }
}

TEST(RealModels, InspectGivesTheCountsOfTheTables) {
  REQUIRE_OUTSIDE_FILE(folder);
  for (const Model& model : models) expect_counts(folder + model.file, model);
}

TEST(RealModels, EveryFormatBecomesAProblem) {
  REQUIRE_OUTSIDE_FILE(folder);
  const std::pair<const char*, const char*> files[] = {
      {"onnx-graph-only/resnet50_tv.onnx", ""},
      {"openvino-ir/mobilenetv2.xml", ""},
      {"openvino-ir/person-detection-retail-0013.xml", ""},
      {"tf-graphdef/opennmt_seq2seq_train.pbtxt", "1426 of 2428 ops (59 %)"},
      {"tf-graphdef/faster_rcnn_resnet50_opencv.pbtxt", "213 of 213 ops (100 %)"},
      {"tfjs/handtrack_ssd320fpnlite.json", "534 of 568 ops (94 %)"}};
  for (const auto& [file, unsized] : files) expect_to_become_a_problem(folder + file, unsized);
}

}  // namespace
}  // namespace emplace::test::real_models_test
