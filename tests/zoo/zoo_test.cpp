// What holds for every model of the zoo, and the specification that names one.
#include "emplace/zoo/zoo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "emplace/base/error.hpp"
#include "emplace/graph/op_table.hpp"

namespace emplace {
namespace {

using testing::HasSubstr;

std::string message_of(const std::string& specification) {
  try {
    (void)build_zoo_model(specification);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ZooEntry& entry : zoo()) all.push_back(entry.name);
  return all;
}

class EveryModel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Zoo, EveryModel, testing::ValuesIn(names()), [](const auto& model) {
  std::string name = model.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(EveryModel, BuildsAValidGraphOfKnownTypesAndSizesWithALayerForEachOp) {
  for (const char* options : {"", "?training=true"}) {
    const Graph graph = build_zoo_model(GetParam() + options);
    graph.validate();
    const GraphStatistics sums = statistics(graph);
    EXPECT_TRUE(sums.uncosted_ops.empty());
    EXPECT_THAT(sums.unknown_tensors, testing::IsEmpty());
    for (const GraphOp& op : graph.ops) EXPECT_NE(op.layer, "") << op.name;
  }
}

TEST_P(EveryModel, TrainsEachTrainableParameterOnceAtAboutThreeTimesTheForwardFlops) {
  const Graph graph = build_zoo_model(GetParam() + "?training=true");
  std::size_t trainable = 0, updates = 0;
  double forward = 0, backward = 0;
  for (const GraphParameter& parameter : graph.parameters) trainable += parameter.trainable ? 1 : 0;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    updates += graph.ops[i].phase == Phase::update ? 1 : 0;
    if (graph.ops[i].phase == Phase::forward) forward += cost_of(graph, OpId{i}).flops;
    if (graph.ops[i].phase == Phase::backward) backward += cost_of(graph, OpId{i}).flops;
  }
  EXPECT_EQ(updates, trainable);
  EXPECT_NEAR(backward / forward, 2.0, 0.1);
}

TEST_P(EveryModel, DescribesItselfAndItsOptions) {
  for (const ZooEntry& entry : zoo()) {
    if (entry.name != GetParam()) continue;
    EXPECT_NE(entry.summary, "");
    EXPECT_NE(entry.reference, "");
    for (const OptionInfo& option : entry.options()) EXPECT_NE(option.help, "") << option.name;
  }
}

TEST(Zoo, ReadsOptionsFromTheSpecification) {
  const Graph graph = build_zoo_model("inception-v3?batch=2&image=139&classes=10");
  EXPECT_EQ(graph.tensors[0].shape, Shape({2, 3, 139, 139}));
  EXPECT_EQ(graph.tensors.back().shape, Shape({2, 10}));
}

TEST(Zoo, NamesTheNearestModelAndOption) {
  EXPECT_THAT(message_of("nmtt"), HasSubstr("zoo:nmtt: unknown model 'nmtt' (did you mean 'nmt'?)"));
  EXPECT_THAT(message_of("nmt?layer=2"), HasSubstr("layers"));
  EXPECT_THAT(message_of("nmt?layer=2"), HasSubstr("zoo:nmt?layer=2"));
}

TEST(Zoo, RefusesOptionsThatAreMalformedRepeatedOrOutOfRange) {
  EXPECT_THAT(message_of("nmt?layers"), HasSubstr("expected key=value after '?', got 'layers'"));
  EXPECT_THAT(message_of("nmt?"), HasSubstr("expected key=value"));
  EXPECT_THAT(message_of("nmt?=3"), HasSubstr("expected key=value"));
  EXPECT_THAT(message_of("nmt?layers=2&layers=3"), HasSubstr("'layers' is given twice"));
  EXPECT_THAT(message_of("nmt?layers=0"), HasSubstr("layers"));
  EXPECT_THAT(message_of("nmt?layers=two"), HasSubstr("layers"));
  EXPECT_THAT(message_of("nmt?training=true&optimizer=adagrad"), HasSubstr("optimizer"));
  EXPECT_THAT(message_of("inception-v3?image=10"), HasSubstr("image"));
  EXPECT_THAT(message_of("inception-v3?batch=99999999999999999999"), HasSubstr("batch"));
}

}  // namespace
}  // namespace emplace
