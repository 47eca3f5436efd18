// Small models of each format, and every ONNX model among the outside files, become Problems, and what was guessed
// about them is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/files.hpp"
#include "cost/lower.hpp"
#include "emplace/formats/reader.hpp"
#include "emplace/problem/grouping.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::cost::real_models_test {
namespace {

std::vector<std::string> onnx_models() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::outside_file("models")))
    if (entry.path().extension() == ".onnx") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Lowered lowered_model(const std::string& path, bool training) {
  const Graph graph = formats::read_graph(path, {});
  return lower(graph, machine::load_machine("laptop"), {.training = training}, std::filesystem::path(path).filename());
}

// Sum of the op times on one device, in seconds.
double seconds_on(const Problem& p, std::size_t device) {
  Ticks sum = 0;
  for (std::size_t op = 0; op < p.op_count(); ++op) sum += p.time(OpId{op}, DeviceId{device});
  return to_seconds(sum);
}

void expect_longer_as_training_step(const std::string& path) {
  SCOPED_TRACE(path);
  const Lowered inference = lowered_model(path, false);
  const Lowered training = lowered_model(path, true);
  EXPECT_GT(training.problem.op_count(), inference.problem.op_count());
  EXPECT_GT(seconds_on(training.problem, 0), seconds_on(inference.problem, 0));
}

class SmallModel : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    write_file(folder_ / name, content);
    return folder_ / name;
  }
  test::TemporaryFolder folder_;
};

TEST_F(SmallModel, OfEachFormatLowersAsInferenceAndAsTrainingStep) {
  for (const std::string& path : {file("small.onnx", test::small_network()), file("small.xml", test::small_openvino()),
                                  file("small.pbtxt", test::small_graphdef()), file("small.json", test::small_tfjs())})
    expect_longer_as_training_step(path);
}

TEST_F(SmallModel, OfKnownOpsAndSizesNeedsNoGuess) {
  for (const bool training : {false, true})
    EXPECT_THAT(cost_warnings(lowered_model(file("small.onnx", test::small_network()), training)),
                ::testing::IsEmpty());
}

TEST_F(SmallModel, WithAnOpenBatchSaysOfWhichTensorsItKnowsNoSize) {
  EXPECT_THAT(
      cost_warnings(lowered_model(file("open.onnx", test::small_network(0)), false)),
      ::testing::ElementsAre(::testing::StartsWith(std::to_string(test::SmallNetwork::ops + 1) +  // and the image
                                                   " tensors or parameters have no known size and count 0 bytes: ")));
}

// Of the network without its filters, and of the IR with its constant and its Result.
TEST_F(SmallModel, HasChainsBetweenForksAndJoinsAsUnits) {
  const Problem network = lowered_model(file("small.onnx", test::small_network()), false).problem;
  EXPECT_EQ(make_grouping(network, GroupingKind::chain).count(), 7U);
  EXPECT_EQ(make_grouping(network, GroupingKind::single_parent).count(), 3U);
  const Graph ir = formats::read_graph(file("small.xml", test::small_openvino()), {});
  const Problem layers = lower(ir, machine::load_machine("laptop"), {.prune = false, .training = false}, "ir").problem;
  ASSERT_EQ(layers.op_count(), 5U);
  EXPECT_EQ(make_grouping(layers, GroupingKind::chain).count(), 3U);  // x, w, and what follows them
  EXPECT_EQ(make_grouping(layers, GroupingKind::single_parent).count(), 3U);
}

TEST(RealModels, AllLowerAsInferenceAndAsTrainingStep) {
  REQUIRE_OUTSIDE_FILE(test::outside_file("models"));
  EXPECT_EQ(onnx_models().size(), 20U);
  for (const std::string& path : onnx_models()) expect_longer_as_training_step(path);
}

// docs/papers/hsdag.md, section 7.2: every layer of the file is an op.
TEST(RealModels, ChainsOfAnOpenVinoModelAreAsManyUnitsAsHsdagsRulesLeave) {
  REQUIRE_OUTSIDE_FILE(test::outside_file("models"));
  const Graph graph = formats::read_graph(test::outside_file("models/openvino-ir/face-detection-adas-0001.xml"), {});
  const Problem problem =
      lower(graph, machine::load_machine("laptop"), {.prune = false, .training = false}, "face").problem;
  ASSERT_EQ(problem.op_count(), 605U);
  EXPECT_EQ(make_grouping(problem, GroupingKind::chain).count(), 417U);
  EXPECT_EQ(make_grouping(problem, GroupingKind::single_parent).count(), 410U);
}

TEST(RealModels, FullyShapedModelsOfKnownOpsNeedNoGuess) {
  REQUIRE_OUTSIDE_FILE(test::outside_file("models"));
  for (const char* file : {"onnx-light/light_resnet50.onnx", "onnx-graph-only/resnet50_tv.onnx",
                           "onnx-graph-only/inception_v3_tv.onnx", "onnx-graph-only/bert_base_arch.onnx"})
    for (const bool training : {false, true})
      EXPECT_THAT(cost_warnings(lowered_model(test::outside_file("models/") + file, training)), ::testing::IsEmpty())
          << file;
}

TEST(RealModels, ControlFlowAndOpenShapesAreSaid) {
  REQUIRE_OUTSIDE_FILE(test::outside_file("models"));
  // The whole model is one If; its branches are no ops of the graph. The training graph has open shapes.
  EXPECT_THAT(cost_warnings(lowered_model(test::outside_file("models/onnx-with-weights/silero_vad_v5.onnx"), false)),
              ::testing::Contains(::testing::HasSubstr("'If' (1)")));
  EXPECT_THAT(cost_warnings(lowered_model(test::outside_file("models/tf-graphdef/opennmt_seq2seq_train.pbtxt"), false)),
              ::testing::Contains(::testing::HasSubstr("no known size")));
}

}  // namespace
}  // namespace emplace::cost::real_models_test
