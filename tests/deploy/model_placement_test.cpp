#include "deploy/model_placement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files.hpp"
#include "cost/lower.hpp"
#include "deploy/device_map.hpp"
#include "emplace/base/error.hpp"
#include "tests/formats/onnx_builder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::deploy::model_placement_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
constexpr auto placed_ = ModelPlacement::Reason::placed, follows = ModelPlacement::Reason::follows;

class Placed : public ::testing::Test {
 protected:
  // The ops of the graph after the passes, on devices by their names in turn.
  std::string place(const std::string& model, const source::SourceOptions& options,
                    const std::vector<std::string>& devices) {
    const PassResult passed = cost::apply_passes(source::load_graph(model, options.read), options.roofline, model);
    std::string ops;
    for (std::size_t i = 0; i < passed.graph.ops.size(); ++i)
      ops += (i == 0 ? "\"" : ", \"") + passed.graph.ops[i].name + "\": \"" + devices[i % devices.size()] + "\"";
    write_file(folder_ / "p.json", "{\"emplace\": \"placement/1\", \"problem\": \"p\", \"ops\": {" + ops + "}}");
    return folder_ / "p.json";
  }
  std::string write(const onnx::ModelProto& model) {
    write_file(folder_ / "model.onnx", model.SerializeAsString());
    return folder_ / "model.onnx";
  }
  ModelPlacement placed(const std::string& model, const source::SourceOptions& options,
                        const std::vector<std::string>& devices) {
    return read_model_placement(model, options, place(model, options, devices));
  }
  test::TemporaryFolder folder_;
};

// x -> Conv(w, Shape of a Constant folded ...): constant -> reshape of w -> conv -> identity -> relu -> y
onnx::ModelProto model_with_folded_ops() {
  onnx::ModelProto model = formats::empty_model();
  auto& graph = *model.mutable_graph();
  formats::set_type(*graph.add_input(), "x", {2, 4});
  auto& constant = *graph.add_node() = formats::make_node("Constant", "constant", {}, {"shape"});
  *formats::add_attribute(constant, "value", onnx::AttributeProto::TENSOR).mutable_t() =
      formats::make_vector("", {4, 4});
  *graph.add_initializer() = formats::make_tensor("w", {16});
  *graph.add_node() = formats::make_node("Reshape", "reshape", {"w", "shape"}, {"v"});
  *graph.add_node() = formats::make_node("MatMul", "matmul", {"x", "v"}, {"m"});
  *graph.add_node() = formats::make_node("Identity", "identity", {"m"}, {"i"});
  *graph.add_node() = formats::make_node("Relu", "relu", {"i"}, {"y"});
  graph.add_output()->set_name("y");
  return model;
}

TEST_F(Placed, FoldedOpsGoWhereTheirReadersGo) {
  const ModelPlacement result = placed(write(model_with_folded_ops()), {}, {"cpu:0", "gpu:0"});
  ASSERT_EQ(result.passed.graph.ops.size(), 2u);  // matmul, relu
  EXPECT_THAT(result.device_of_op, ElementsAre("cpu:0", "cpu:0", "cpu:0", "gpu:0", "gpu:0"));
  EXPECT_THAT(result.reason_of_op, ElementsAre(follows, follows, placed_, follows, placed_));
  EXPECT_THAT(result.devices(), ElementsAre("cpu:0", "gpu:0"));
  EXPECT_THAT(result.not_in_model(), IsEmpty());
  EXPECT_EQ(result.problem, "p");
}

// v and g, of one module, are multiplied when the model is loaded; their product is read on the second device.
TEST_F(Placed, ArithmeticOnWeightsGoesWhereItsResultIsRead) {
  onnx::ModelProto model = formats::empty_model();
  auto& graph = *model.mutable_graph();
  formats::set_type(*graph.add_input(), "x", {2, 4});
  *graph.add_initializer() = formats::make_tensor("layers.0.weight", {4, 4});
  *graph.add_initializer() = formats::make_tensor("layers.1.v", {4, 4});
  *graph.add_initializer() = formats::make_tensor("layers.1.g", {1, 4});
  *graph.add_node() = formats::make_node("MatMul", "/first/MatMul", {"x", "layers.0.weight"}, {"a"});
  *graph.add_node() = formats::make_node("Mul", "/second/Mul", {"layers.1.v", "layers.1.g"}, {"w"});
  *graph.add_node() = formats::make_node("MatMul", "/second/MatMul", {"a", "w"}, {"y"});
  graph.add_output()->set_name("y");
  const ModelPlacement result = placed(write(model), {}, {"cpu:0", "gpu:0"});
  EXPECT_THAT(result.device_of_op, ElementsAre("cpu:0", "gpu:0", "gpu:0"));
  EXPECT_THAT(result.reason_of_op, ElementsAre(placed_, follows, placed_));
  EXPECT_THAT(device_map(result).device_of_module,
              ElementsAre(::testing::Pair("layers.0", "cpu:0"), ::testing::Pair("layers.1", "gpu:0")));
}

TEST_F(Placed, AMergedOpGivesItsDeviceToAllThatItStandsFor) {
  source::SourceOptions options;
  options.roofline.fuse = true;
  const ModelPlacement result = placed(write(formats::conv_model({1, 3, 8, 8})), options, {"gpu:1"});
  ASSERT_EQ(result.passed.graph.ops.size(), 1u);
  EXPECT_THAT(result.device_of_op, ElementsAre("gpu:1", "gpu:1"));
}

TEST_F(Placed, ATrainingStepsOwnOpsAreListedAndTheModelsOpsGetTheirs) {
  source::SourceOptions options;
  options.roofline.training = true;
  const ModelPlacement result = placed(write(formats::conv_model({1, 3, 8, 8})), options, {"cpu:0", "gpu:0"});
  EXPECT_EQ(result.device_of_op.size(), 2u);
  EXPECT_THAT(result.reason_of_op, ElementsAre(placed_, placed_));
  std::set<std::string> added;
  for (const OpId op : result.not_in_model()) added.insert(result.passed.graph.ops[op.index()].name);
  EXPECT_EQ(added.size() + 2, result.passed.graph.ops.size());
  EXPECT_FALSE(added.contains("conv"));
}

// conv has a weight of its own; the gradients and the update run with it, wherever they were placed.
TEST_F(Placed, InThePlanGradientsAndUpdatesAreWithTheirForwardOps) {
  source::SourceOptions options;
  options.roofline.training = true;
  const ModelPlacement result = placed(write(formats::conv_model({1, 3, 8, 8})), options, {"cpu:0", "gpu:0", "gpu:1"});
  const std::vector<std::string> plan = result.device_in_plan();
  const Graph& graph = result.passed.graph;
  std::size_t moved = 0;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const OpId forward = graph.ops[i].forward_of;
    EXPECT_EQ(plan[i], result.device_of_placed[forward.is_none() ? i : forward.index()]) << graph.ops[i].name;
    moved += plan[i] != result.device_of_placed[i] ? 1 : 0;
  }
  EXPECT_GT(moved, 0u);
}

// x -> MatMul(w) -> MatMul(w): w is placed as an op of its own, Variable, which the model does not have.
TEST_F(Placed, InThePlanASharedWeightAndItsUpdateAreWithItsFirstReader) {
  onnx::ModelProto model = formats::empty_model();
  auto& graph = *model.mutable_graph();
  formats::set_type(*graph.add_input(), "x", {2, 4});
  *graph.add_initializer() = formats::make_tensor("w", {4, 4});
  *graph.add_node() = formats::make_node("MatMul", "first", {"x", "w"}, {"m"});
  *graph.add_node() = formats::make_node("MatMul", "second", {"m", "w"}, {"y"});
  graph.add_output()->set_name("y");
  source::SourceOptions options;
  options.roofline.training = true;
  ModelPlacement result = placed(write(model), options, {"gpu:0"});
  const std::vector<GraphOp>& ops = result.passed.graph.ops;
  for (std::size_t i = 0; i < ops.size(); ++i)
    if (ops[i].name != "first") result.device_of_placed[i] = ops[i].name == "second" ? "cpu:0" : "gpu:1";
  const std::vector<std::string> plan = result.device_in_plan();
  std::size_t of_weight = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].type != "Variable" && ops[i].phase != Phase::update) continue;
    EXPECT_EQ(plan[i], "gpu:0") << ops[i].name;
    ++of_weight;
  }
  EXPECT_EQ(of_weight, 2u);
}

// made -> read, of which a pass made the first: it is neither a shared weight nor a part of a training step.
TEST(ModelPlacement, InThePlanAnOpThatAPassMadeIsWhereItWasPlaced) {
  ModelPlacement placement;
  Graph& graph = placement.passed.graph;
  GraphOp made;
  made.name = "made";
  made.type = "Reshape";
  const OpId first = graph.add_op(std::move(made));
  GraphOp read;
  read.name = "read";
  read.type = "Relu";
  read.inputs = {Operand::of(graph.add_output(first, "made:0", DType::f32, Shape{4}))};
  placement.passed.became = {graph.add_op(std::move(read))};
  placement.device_of_placed = {"cpu:0", "gpu:0"};
  ASSERT_THAT(placement.not_in_model(), ElementsAre(first));
  EXPECT_THAT(placement.device_in_plan(), ElementsAre("cpu:0", "gpu:0"));
  graph.ops[first.index()].type = "Variable";
  EXPECT_THAT(placement.device_in_plan(), ElementsAre("gpu:0", "gpu:0")) << "a shared weight is with its reader";
}

TEST_F(Placed, EveryOpOfAZooModelHasADeviceThroughAllPassesTogether) {
  source::SourceOptions options;
  options.roofline.training = true;
  options.roofline.fuse = true;
  options.roofline.coarsen = 40;
  options.roofline.colocate = "colocrl";
  const ModelPlacement result = placed("zoo:inception-v3?batch=2", options, {"a", "b", "c"});
  for (std::size_t i = 0; i < result.graph.ops.size(); ++i) {
    ASSERT_FALSE(result.device_of_op[i].empty()) << result.graph.ops[i].name;
    if (result.reason_of_op[i] != placed_) continue;
    EXPECT_EQ(result.device_of_op[i], result.device_of_placed[result.passed.became[i].index()]);
  }
}

TEST_F(Placed, APlacementOfAnotherGraphIsRefusedByTheFirstOpThatIsNotThere) {
  source::SourceOptions training;
  training.roofline.training = true;
  const std::string model = write(formats::conv_model({1, 3, 8, 8})), file = place(model, training, {"a"});
  try {
    read_model_placement(model, {}, file);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::AllOf(HasSubstr("the problem has no op"), HasSubstr("--training")));
  }
}

}  // namespace
}  // namespace emplace::deploy::model_placement_test
