// What holds for every model of the zoo, and the specification that names one.
#include "zoo/zoo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <map>

#include "cost/lower.hpp"
#include "emplace/simulate/engine.hpp"
#include "graph/ops/op_table.hpp"
#include "tests/zoo/figures.hpp"

namespace emplace::zoo::zoo_test {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ZooEntry& entry : zoo()) all.push_back(entry.name);
  return all;
}

// Language models are only evaluated (language_models_test.cpp).
std::vector<std::string> trained() {
  std::vector<std::string> all;
  for (const ZooEntry& entry : zoo())
    if (entry.trains) all.push_back(entry.name);
  return all;
}

class EveryModel : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Zoo, EveryModel, ::testing::ValuesIn(trained()), [](const auto& model) {
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
    EXPECT_THAT(sums.unknown_tensors, ::testing::IsEmpty());
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

// Sizes that keep every kind of op and make the graph small.
std::string small(const std::string& model) {
  static const std::map<std::string, std::string> more{
      {"rnnlm", "&sequence=3&hidden=16&vocabulary=50"},
      {"nmt", "&sequence=3&hidden=16&vocabulary=50"},
      {"gnmt", "&sequence=3&hidden=16&vocabulary=50&layers=3"},
      {"transformer-xl", "&sequence=6&memory=4&segments=2&hidden=64&layers=2&vocabulary=50"},
      {"amoebanet-d", "&layers=3&filters=16&image=75"},
      {"nasnet-a", "&layers=3&filters=16&image=75"},
      {"wavenet", "&sequence=50&layers=3&hidden=8"},
      {"bert-base", "&layers=2&hidden=64&sequence=16"},
      {"bert-large", "&layers=2&hidden=64&sequence=16"},
      {"gpt-2", "&layers=2&hidden=64&sequence=16"},
      {"vit-b-16", "&layers=2&hidden=64"},
      {"moe-transformer", "&layers=2&hidden=64&sequence=8&vocabulary=50&experts=4"}};
  const auto at = more.find(model);
  return model + "?batch=2" + (at == more.end() ? "" : at->second);
}

constexpr const char* details[] = {"layer", "op", "framework"};

TEST_P(EveryModel, BuildsInferenceAndTrainingAtEachDetailWithoutGuesses) {
  for (const char* detail : details)
    for (const char* training : {"false", "true"}) {
      const std::string name = small(GetParam()) + "&detail=" + detail + "&training=" + training;
      const Graph graph = build_zoo_model(name);
      graph.validate();
      const GraphStatistics sums = statistics(graph);
      EXPECT_THAT(sums.uncosted_ops, ::testing::IsEmpty()) << name;
      EXPECT_THAT(sums.unknown_tensors, ::testing::IsEmpty()) << name;
      for (const GraphOp& op : graph.ops) EXPECT_NE(op.layer, "") << name << " " << op.name;
    }
}

TEST_P(EveryModel, RunsOnTwoK40sAtEachDetailUnderItsExpertPlacement) {
  const machine::Machine machine = machine::load_machine("k40x2");
  const ZooEntry& entry = find_entry(zoo(), GetParam(), "model");
  for (const char* detail : details) {
    const std::string name = small(GetParam()) + "&training=true&detail=" + detail;
    const cost::Lowered lowered = cost::lower(build_zoo_model(name), machine, {}, name);
    const std::vector<std::string> layers = layers_of(lowered.graph);
    const std::vector<std::size_t> expert = entry.expert(layers, 2);
    std::map<std::string, std::uint8_t> device_of;
    std::vector<std::uint8_t> gpus;
    for (std::size_t d = 0; d < lowered.problem.device_count(); ++d)
      if (lowered.problem.devices[d].kind == "gpu") gpus.push_back(static_cast<std::uint8_t>(d));
    for (std::size_t i = 0; i < layers.size(); ++i) device_of[layers[i]] = gpus.at(expert[i]);
    Placement placement;
    for (const GraphOp& op : lowered.graph.ops) placement.device.push_back(device_of.at(op.layer));
    const Outcome outcome = simulate::make_exact_engine(lowered.problem, Schedule::fifo)->evaluate(placement);
    EXPECT_NE(outcome.makespan, Outcome::unknown) << name;
    EXPECT_GT(outcome.makespan, 0) << name;
  }
}

TEST_P(EveryModel, NamesTheSameLayersInTheSameOrderWhateverThePasses) {
  const std::vector<std::string> expected = layers_of(build_zoo_model(small(GetParam()) + "&training=true"));
  for (const char* detail : details) {
    const Graph graph = build_zoo_model(small(GetParam()) + "&training=true&detail=" + detail);
    EXPECT_EQ(layers_of(graph), expected) << detail;
    EXPECT_EQ(layers_of(cost::apply_passes(graph, {}, "the test").graph), expected) << detail;
  }
}

TEST_P(EveryModel, ExpandsItsInferenceGraphOfLayersToATrainingStepToo) {
  const Graph layers = build_zoo_model(small(GetParam()) + "&detail=layer");
  const GraphStatistics sums = statistics(cost::apply_passes(layers, {.training = true}, "the test").graph);
  EXPECT_THAT(sums.uncosted_ops, ::testing::IsEmpty());
  // A layer's backward op has twice the FLOPs of its forward op.
  const double forward = statistics(layers).flops;
  EXPECT_GT(sums.flops, 2.5 * forward);
  EXPECT_LT(sums.flops, 4 * forward);
}

TEST_P(EveryModel, KeepsParametersAndCostsAtLayerDetail) {
  for (const char* training : {"false", "true"}) {
    const std::string name = small(GetParam()) + "&training=" + training;
    const GraphStatistics op = statistics(build_zoo_model(name));
    const GraphStatistics layer = statistics(build_zoo_model(name + "&detail=layer"));
    EXPECT_LT(layer.ops, op.ops) << name;
    EXPECT_EQ(layer.parameters, op.parameters) << name;
    EXPECT_NEAR(layer.flops, op.flops, 1e-9 * op.flops) << name;
    EXPECT_EQ(layer.bytes, op.bytes) << name;
  }
}

TEST_P(EveryModel, KeepsParametersAndAlmostAllCostsAtFrameworkDetail) {
  const std::string name = small(GetParam()) + "&training=true";
  const Graph op = build_zoo_model(name), framework = build_zoo_model(name + "&detail=framework");
  EXPECT_EQ(statistics(framework).parameters, statistics(op).parameters);
  // A new op computes on four numbers; the kernels are those of detail = "op".
  const double added = static_cast<double>(framework.ops.size() - op.ops.size());
  EXPECT_GE(statistics(framework).flops, statistics(op).flops);
  EXPECT_LE(statistics(framework).flops, statistics(op).flops + 64 * added);
  EXPECT_GT(framework.ops.size(), 3 * op.ops.size());
}

TEST_P(EveryModel, DescribesItselfAndItsOptions) {
  for (const ZooEntry& entry : zoo()) {
    if (entry.name != GetParam()) continue;
    EXPECT_NE(entry.summary, "");
    EXPECT_NE(entry.reference, "");
    for (const OptionInfo& option : entry.options()) EXPECT_NE(option.help, "") << option.name;
  }
}

TEST(Zoo, ListsTheModelsOfTheDesign) {
  EXPECT_THAT(names(),
              ::testing::ElementsAre("inception-v3", "resnet-50", "resnet-101", "resnet-152", "rnnlm", "nmt", "gnmt",
                                     "transformer-xl", "amoebanet-d", "nasnet-a", "wavenet", "bert-base", "bert-large",
                                     "gpt-2", "vit-b-16", "moe-transformer", "llama", "mistral", "mixtral", "qwen2",
                                     "qwen3", "gemma2", "gemma3", "deepseek", "gpt-oss"));
}

TEST(Zoo, ReadsOptionsFromTheSpecification) {
  const Graph graph = build_zoo_model("inception-v3?batch=2&image=139&classes=10");
  EXPECT_EQ(graph.tensors[0].shape, Shape({2, 3, 139, 139}));
  EXPECT_EQ(graph.tensors.back().shape, Shape({2, 10}));
}

TEST(Zoo, NamesTheNearestModelAndOption) {
  EXPECT_THAT(refusal_of("nmtt"), HasSubstr("zoo:nmtt: unknown model 'nmtt' (did you mean 'nmt'?)"));
  EXPECT_THAT(refusal_of("nmt?layer=2"), HasSubstr("layers"));
  EXPECT_THAT(refusal_of("nmt?layer=2"), HasSubstr("zoo:nmt?layer=2"));
}

TEST(Zoo, RefusesOptionsThatAreMalformedRepeatedOrOutOfRange) {
  EXPECT_THAT(refusal_of("nmt?layers"), HasSubstr("expected key=value after '?', got 'layers'"));
  EXPECT_THAT(refusal_of("nmt?"), HasSubstr("expected key=value"));
  EXPECT_THAT(refusal_of("nmt?=3"), HasSubstr("expected key=value"));
  EXPECT_THAT(refusal_of("nmt?layers=2&layers=3"), HasSubstr("'layers' is given twice"));
  EXPECT_THAT(refusal_of("nmt?layers=0"), HasSubstr("layers"));
  EXPECT_THAT(refusal_of("nmt?layers=two"), HasSubstr("layers"));
  EXPECT_THAT(refusal_of("rnnlm?layers=64&sequence=5000"), HasSubstr("zoo:rnnlm: the model has more than 500000 ops"));
  EXPECT_THAT(refusal_of("nmt?detail=kernel"), HasSubstr("detail"));
  EXPECT_THAT(refusal_of("gpt-2?size=tiny"), HasSubstr("size"));
  EXPECT_THAT(refusal_of("nmt?training=true&optimizer=adagrad"), HasSubstr("optimizer"));
  EXPECT_THAT(refusal_of("inception-v3?image=10"), HasSubstr("image"));
  EXPECT_THAT(refusal_of("inception-v3?batch=99999999999999999999"), HasSubstr("batch"));
}

}  // namespace
}  // namespace emplace::zoo::zoo_test
