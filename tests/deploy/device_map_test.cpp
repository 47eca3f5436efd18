#include "deploy/device_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"

namespace emplace::deploy::device_map_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

// A chain of ops, each placed as itself.
class Modules {
 public:
  Modules& op(const std::string& name, const std::string& device, const std::vector<std::string>& weights = {}) {
    GraphOp op;
    op.name = name;
    op.type = weights.empty() ? "Relu" : "MatMul";
    op.inputs.push_back(Operand::of(last_));
    for (const std::string& weight : weights)
      op.inputs.push_back(Operand::of(graph_.add_parameter(weight, DType::f32, {4, 4})));
    const OpId id = graph_.add_op(std::move(op));
    last_ = graph_.add_output(id, name + ":0", DType::f32, {4, 4});
    devices_.push_back(device);
    return *this;
  }
  // `modules_in_file`: the module that the file names for each op, or nothing.
  DeviceMap map(const std::vector<std::string>& modules_in_file = {}) const {
    ModelPlacement placement;
    placement.model = "m.onnx";
    placement.graph = graph_;
    placement.device_of_op = devices_;
    placement.reason_of_op.assign(devices_.size(), ModelPlacement::Reason::placed);
    return device_map(placement, modules_in_file);
  }
  std::string refusal() const {
    try {
      static_cast<void>(map());
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  Graph graph_;
  TensorId last_ = graph_.add_input("x", DType::f32, {4, 4});
  std::vector<std::string> devices_;
};

TEST(DeviceMaps, AreRefusedForTheNamesOfPaddlePaddle) {
  const std::string refusal = Modules()
                                  .op("p2o.Conv.0", "cpu:0", {"conv2d_0.w_0"})
                                  .op("p2o.MatMul.0", "gpu:0", {"linear_12.w_0"})
                                  .op("p2o.Add.0", "gpu:0", {"p2o.helper.constant.2"})
                                  .refusal();
  EXPECT_THAT(refusal, HasSubstr("the names that PaddlePaddle gives them ('conv2d_0.w_0'), which are no modules"));
  EXPECT_THAT(refusal, HasSubstr("--for onnx"));
}

TEST(DeviceMaps, TakeWeightsWithNamesLikePaddlesOfAPyTorchModel) {
  EXPECT_THAT(Modules()
                  .op("/cell/MatMul", "cpu:0", {"cell.w_0"})
                  .op("/head/MatMul", "gpu:0", {"head.weight"})
                  .map()
                  .device_of_module,
              ElementsAre(Pair("cell", "cpu:0"), Pair("head", "gpu:0")));
}

TEST(DeviceMaps, NameTheLargestModulesThatAreOnOneDevice) {
  const DeviceMap map = Modules()
                            .op("/embed/MatMul", "cpu:0", {"embed.weight"})
                            .op("/layers.0/q/MatMul", "gpu:0", {"layers.0.q.weight", "layers.0.q.bias"})
                            .op("/layers.0/Softmax", "gpu:1")
                            .op("/layers.0/v/MatMul", "gpu:0", {"layers.0.v.weight"})
                            .op("/layers.1/q/MatMul", "gpu:1", {"layers.1.q.weight"})
                            .map();
  EXPECT_THAT(map.device_of_module,
              ElementsAre(Pair("embed", "cpu:0"), Pair("layers.0", "gpu:0"), Pair("layers.1", "gpu:1")));
  EXPECT_THAT(map.followers, ElementsAre("/layers.0/Softmax"));
  EXPECT_EQ(map.ops, 4u);
}

TEST(DeviceMaps, OfAModelOnOneDeviceIsTheModel) {
  const DeviceMap map = Modules().op("a", "gpu:0", {"layer.0.weight"}).op("b", "gpu:0", {"class_token"}).map();
  EXPECT_THAT(map.device_of_module, ElementsAre(Pair("", "gpu:0")));
}

// torch.onnx names a list's elements "layer1.0" inside of the scope "layer1", and weights that it folded
// "onnx::Conv_12".
TEST(DeviceMaps, TakeTheScopeWhereAWeightHasLostItsName) {
  const DeviceMap map = Modules()
                            .op("/layer1/layer1.0/conv1/Conv", "gpu:0", {"onnx::Conv_12"})
                            .op("/layer1/layer1.1/conv1/Conv", "gpu:1", {"onnx::Conv_15"})
                            .map();
  EXPECT_THAT(map.device_of_module, ElementsAre(Pair("layer1.0", "gpu:0"), Pair("layer1.1", "gpu:1")));
}

TEST(DeviceMaps, ListTheOpsOfAModuleThatIsOnTwoDevicesAndPlaceTheOthers) {
  const DeviceMap map = Modules()
                            .op("/layers.0/q/MatMul", "gpu:0", {"layers.0.q.weight"})
                            .op("/layers.0/q/Add", "gpu:1", {"layers.0.q.bias"})
                            .op("/layers.0/v/MatMul", "gpu:1", {"layers.0.v.weight"})
                            .map();
  EXPECT_THAT(map.split_modules, ElementsAre(Pair("layers.0.q", ElementsAre(OpId{0}, OpId{1}))));
  EXPECT_THAT(map.device_of_module, ElementsAre(Pair("layers.0.v", "gpu:1"))) << "\"layers.0\" would place q too";
  EXPECT_THAT(map.module_of_op, ElementsAre("layers.0.q", "layers.0.q", "layers.0.v"));
}

// A LayerNorm that PyTorch exported op by op: only the last two have weights.
TEST(DeviceMaps, SplitAModuleWhoseOpsWithoutWeightsAreElsewhere) {
  const DeviceMap map = Modules()
                            .op("/norm/Sub", "gpu:1")
                            .op("/norm/Mul", "gpu:0", {"norm.weight"})
                            .op("/norm/Add", "gpu:0", {"norm.bias"})
                            .op("/fc/Gemm", "gpu:0", {"fc.weight"})
                            .map();
  EXPECT_THAT(map.split_modules, ElementsAre(Pair("norm", ElementsAre(OpId{0}, OpId{1}, OpId{2}))));
  EXPECT_THAT(map.device_of_module, ElementsAre(Pair("fc", "gpu:0")));
  EXPECT_THAT(map.followers, IsEmpty());
}

TEST(DeviceMaps, SplitAModuleWhoseOwnWeightsAndItsPartsAreApart) {
  const DeviceMap map = Modules().op("a", "gpu:0", {"block.scale"}).op("b", "gpu:1", {"block.linear.weight"}).map();
  EXPECT_THAT(map.split_modules, ElementsAre(Pair("block", ElementsAre(OpId{0}))));
  EXPECT_THAT(map.device_of_module, ElementsAre(Pair("block.linear", "gpu:1")));
}

TEST(DeviceMaps, NameOpsWithoutWeightsThatAreNotWhereTheirModuleIs) {
  const DeviceMap map = Modules()
                            .op("/layers.0/q/MatMul", "gpu:0", {"layers.0.q.weight"})
                            .op("/layers.0/Softmax", "gpu:1")
                            .op("/layers.0/Mul", "gpu:0")
                            .op("/layers.1/q/MatMul", "gpu:1", {"layers.1.q.weight"})
                            .map();
  EXPECT_THAT(map.elsewhere, ElementsAre("/layers.0/Softmax"));
}

// torch.onnx.export(dynamo=True) names ops after nodes, and weights that it transposed "val_0".
TEST(DeviceMaps, TakeTheModuleThatTheFileNamesBeforeNamesOfWeightsAndOps) {
  const DeviceMap map = Modules()
                            .op("node_MatMul_1", "gpu:0", {"val_0"})
                            .op("node_linear", "gpu:0", {"embed.bias"})
                            .op("node_layer_norm_1", "gpu:1", {"layers.0.norm.weight"})
                            .op("node_view", "gpu:1")
                            .map({"embed", "embed", "layers.1.norm", ""});
  EXPECT_THAT(map.device_of_module, ElementsAre(Pair("embed", "gpu:0"), Pair("layers", "gpu:1")));
  EXPECT_THAT(map.module_of_op, ElementsAre("embed", "embed", "layers.1.norm", ""));
  EXPECT_THAT(Modules().op("a", "gpu:0", {"fc.weight"}).map({"no path of modules"}).module_of_op, ElementsAre("fc"));
}

TEST(DeviceMaps, OfAFlatModelNameItsModules) {
  const DeviceMap map = Modules().op("/a/Gemm", "gpu:0", {"a.weight"}).op("/b/Gemm", "gpu:1", {"b.weight"}).map();
  EXPECT_THAT(map.device_of_module, ElementsAre(Pair("a", "gpu:0"), Pair("b", "gpu:1")));
}

TEST(DeviceMaps, TakeNoNumberAndNoEndlessNameForAModule) {
  std::string deep = "a";
  for (int i = 0; i < 1000000; ++i) deep += ".a";
  const DeviceMap map =
      Modules().op("one", "gpu:0", {"193"}).op("two", "gpu:1", {deep}).op("c", "cpu:0", {"classifier.1.weight"}).map();
  EXPECT_THAT(map.device_of_module, ElementsAre(Pair("classifier", "cpu:0"))) << "\"\" would move the other two";
  EXPECT_THAT(map.unnamed, ElementsAre("one", "two")) << "they have weights, and the map does not place them";
  EXPECT_THAT(Modules().op("/" + deep + "/MatMul", "gpu:0", {"193"}).op("c", "cpu:0", {"c.1.weight"}).map().unnamed,
              ElementsAre("/" + deep + "/MatMul"));
  const DeviceMap same = Modules().op("one", "cpu:0", {"193"}).op("c", "cpu:0", {"classifier.1.weight"}).map();
  EXPECT_THAT(same.device_of_module, ElementsAre(Pair("", "cpu:0")));
  EXPECT_THAT(map.followers, ::testing::IsEmpty());
}

TEST(DeviceMaps, AreRefusedWhereNothingIsNamedAfterModules) {
  EXPECT_THAT(Modules().op("Conv_1", "gpu:0", {"onnx::Conv_2"}).op("Relu_3", "gpu:0").refusal(),
              HasSubstr("name of a PyTorch module"));
  EXPECT_THAT(Modules().op("model/conv2d/Conv2D", "gpu:0", {"weights"}).refusal(),
              HasSubstr("name of a PyTorch module"));
  EXPECT_THAT(Modules().op("a", "gpu:0", {"weights"}).op("b", "gpu:1", {"weights"}).refusal(),
              HasSubstr("name of a PyTorch module"))
      << "not that it would be on two devices";
}

}  // namespace
}  // namespace emplace::deploy::device_map_test
