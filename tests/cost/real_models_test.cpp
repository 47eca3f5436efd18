// Every ONNX model among the outside files becomes a Problem, and what was guessed about it is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cost/lower.hpp"
#include "emplace/formats/reader.hpp"
#include "emplace/problem/grouping.hpp"

namespace emplace::cost::real_models_test {
namespace {

std::vector<std::string> onnx_models() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("../shared/models"))
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

TEST(RealModels, AllLowerAsInferenceAndAsTrainingStep) {
  if (!std::filesystem::exists("../shared/models")) GTEST_SKIP() << "../shared/models is not here";
  for (const std::string& path : onnx_models()) {
    SCOPED_TRACE(path);
    const Lowered inference = lowered_model(path, false);
    const Lowered training = lowered_model(path, true);
    EXPECT_GT(training.problem.op_count(), inference.problem.op_count());
    EXPECT_GT(seconds_on(training.problem, 0), seconds_on(inference.problem, 0));
  }
}

// docs/papers/hsdag.md, section 7.2: every layer of the file is an op.
TEST(RealModels, ChainsOfAnOpenVinoModelAreAsManyUnitsAsHsdagsRulesLeave) {
  if (!std::filesystem::exists("../shared/models")) GTEST_SKIP() << "../shared/models is not here";
  const Graph graph = formats::read_graph("../shared/models/openvino-ir/face-detection-adas-0001.xml", {});
  const Problem problem =
      lower(graph, machine::load_machine("laptop"), {.prune = false, .training = false}, "face").problem;
  ASSERT_EQ(problem.op_count(), 605U);
  EXPECT_EQ(make_grouping(problem, GroupingKind::chain).count(), 417U);
  EXPECT_EQ(make_grouping(problem, GroupingKind::single_parent).count(), 410U);
}

TEST(RealModels, FullyShapedModelsOfKnownOpsNeedNoGuess) {
  if (!std::filesystem::exists("../shared/models")) GTEST_SKIP() << "../shared/models is not here";
  for (const char* file : {"onnx-light/light_resnet50.onnx", "onnx-graph-only/resnet50_tv.onnx",
                           "onnx-graph-only/inception_v3_tv.onnx", "onnx-graph-only/bert_base_arch.onnx"})
    for (const bool training : {false, true})
      EXPECT_THAT(cost_warnings(lowered_model(std::string("../shared/models/") + file, training)), testing::IsEmpty())
          << file;
}

TEST(RealModels, ControlFlowAndOpenShapesAreSaid) {
  if (!std::filesystem::exists("../shared/models")) GTEST_SKIP() << "../shared/models is not here";
  // The whole model is one If; its branches are no ops of the graph.
  EXPECT_THAT(cost_warnings(lowered_model("../shared/models/onnx-with-weights/silero_vad_v5.onnx", false)),
              testing::Contains(testing::HasSubstr("'If' (1)")));
  EXPECT_THAT(cost_warnings(lowered_model("../shared/models/onnx-graph-only/vit_b_16_tv.onnx", false)),
              testing::Contains(testing::StartsWith("38 tensors or parameters have no known size")));
}

}  // namespace
}  // namespace emplace::cost::real_models_test
