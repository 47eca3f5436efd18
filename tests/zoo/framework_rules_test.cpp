// The rules of detail = "framework" against TensorFlow's gradient functions and the gradients of a real training graph.
#include "zoo/framework_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/outside_files.hpp"
#include "zoo/zoo.hpp"

namespace emplace::zoo::framework_rules_test {
namespace {

const std::string file_name = test::outside_file("models/tf-graphdef/opennmt_seq2seq_train.pbtxt");

using Types = std::multiset<std::string>;

// Types of nodes by name; enough of the text format for this file, which has one field a line.
std::map<std::string, std::string> nodes_of_file() {
  std::map<std::string, std::string> nodes;
  std::ifstream file(file_name);
  std::string name;
  const auto quoted = [](const std::string& line) {
    const std::size_t first = line.find('"');
    return line.substr(first + 1, line.rfind('"') - first - 1);
  };
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("  name: ")) name = quoted(line);
    if (line.starts_with("  op: ")) nodes[name] = quoted(line);
  }
  return nodes;
}

// Our name of a type; "" for constants, shapes (constants where sizes are fixed) and the machinery of loops.
std::string our_name(const std::string& type) {
  static const std::map<std::string, std::string> names{
      {"Sum", "ReduceSum"},      {"FloorMod", "Mod"},   {"ConcatV2", "Concat"}, {"ExpandDims", "Unsqueeze"},
      {"RealDiv", "Div"},        {"Const", ""},         {"Shape", ""},          {"Size", ""},
      {"StackV2", ""},           {"StackPushV2", ""},   {"StackPopV2", ""},     {"Enter", ""},
      {"StridedSlice", "Slice"}, {"ControlTrigger", ""}};
  const auto at = names.find(type);
  return at == names.end() ? type : at->second;
}

// The sets of ops that the gradients of this type of op have in the file.
std::set<Types> gradients_in_file(const std::string& type) {
  static const std::map<std::string, std::string> nodes = nodes_of_file();
  std::map<std::string, Types> gradients;
  const std::string root = "optim/gradients/", mark = "_grad/";
  for (const auto& [name, op] : nodes) {
    const std::size_t end = name.find(mark);
    if (!name.starts_with(root) || end == std::string::npos) continue;
    const auto forward = nodes.find(name.substr(root.size(), end - root.size()));
    if (forward == nodes.end() || forward->second != type) continue;
    Types& types = gradients[forward->first];
    if (const std::string ours = our_name(op); !ours.empty()) types.insert(ours);
  }
  std::set<Types> distinct;
  for (const auto& [name, types] : gradients) distinct.insert(types);
  return distinct;
}

// The backward ops of detail = "op" and those of the rule.
Types gradient_by_rule(const std::string& type, Types emitted, bool bias) {
  Graph graph;
  GraphOp op;
  op.type = type;
  op.name = "op";
  op.inputs = {Operand::of(graph.add_input("x", DType::f32, {2, 3})),
               bias ? Operand::of(graph.add_parameter("bias", DType::f32, {3}))
                    : Operand::of(graph.add_input("y", DType::f32, {2, 3}))};
  std::istringstream words(framework_ops(graph, op).backward);
  for (std::string word; words >> word;)
    if (word != "Constant") emitted.insert(word);
  return emitted;
}

struct Case {
  const char* tensorflow;
  const char* type;
  Types emitted;  // by the gradient rule of the op table
  // What TensorFlow 1.x's gradient function adds (ops/math_grad.py, array_grad.py, nn_grad.py), without constants and
  // shapes; for an op with several gradients also the NoOp that groups them, and an Identity for each.
  const char* gradient;
  bool bias = false;
};

const std::vector<Case> cases = {
    {"Mul",
     "Mul",
     {"Mul", "Mul"},
     "BroadcastGradientArgs Mul ReduceSum Reshape Mul ReduceSum Reshape NoOp Identity Identity"},
    {"Add", "Add", {}, "BroadcastGradientArgs ReduceSum Reshape ReduceSum Reshape NoOp Identity Identity"},
    {"RealDiv",
     "Div",
     {"Div", "Mul", "Neg"},
     "BroadcastGradientArgs Div ReduceSum Reshape Neg Div Div Mul ReduceSum Reshape NoOp Identity Identity"},
    {"MatMul", "MatMul", {"MatMul", "MatMul"}, "MatMul MatMul NoOp Identity Identity"},
    {"BiasAdd", "Add", {"BiasAddGrad"}, "BiasAddGrad NoOp Identity Identity", true},
    // Our one Split stands for a Slice.
    {"ConcatV2", "Concat", {"Slice"}, "Mod ShapeN ConcatOffset Slice Slice NoOp Identity Identity"},
    {"Split", "Split", {"Concat"}, "Concat"},
    {"Transpose", "Transpose", {"Transpose"}, "InvertPermutation Transpose"},
    {"Reshape", "Reshape", {"Reshape"}, "Reshape"},
    {"ExpandDims", "Unsqueeze", {"Reshape"}, "Reshape"},
    {"Squeeze", "Squeeze", {"Reshape"}, "Reshape"},
    {"Pad", "Pad", {"Slice"}, "Pack Slice Reshape Slice"},
    {"Sigmoid", "Sigmoid", {"SigmoidGrad"}, "SigmoidGrad"},
    {"Tanh", "Tanh", {"TanhGrad"}, "TanhGrad"},
    {"GatherV2", "Gather", {}, "Cast Unsqueeze Slice Concat Reshape Reshape"}};

TEST(FrameworkRules, AreTheGradientFunctionsOfTensorFlow) {
  for (const Case& c : cases) {
    std::istringstream words(c.gradient);
    EXPECT_EQ(gradient_by_rule(c.type, c.emitted, c.bias), Types(std::istream_iterator<std::string>(words), {}))
        << c.tensorflow;
  }
}

TEST(FrameworkRules, AreTheGradientsOfARealTrainingGraph) {
  REQUIRE_OUTSIDE_FILE(file_name);
  for (const Case& c : cases)
    EXPECT_THAT(gradients_in_file(c.tensorflow), ::testing::Contains(gradient_by_rule(c.type, c.emitted, c.bias)))
        << c.tensorflow;
}

// Types of the ops of a rule's gradient.
Types gradient_of(const std::string& type, std::map<std::string, Attribute> attributes) {
  GraphOp op;
  op.type = type;
  op.attributes = std::move(attributes);
  std::istringstream words(framework_ops({}, op).backward);
  return {std::istream_iterator<std::string>(words), {}};
}

TEST(FrameworkRules, PassZerosForTheOutputsThatTheObjectiveDoesNotDependOn) {
  // The loss of each word, which the objective reads, and its gradient by the logits, which only the backward pass
  // reads.
  EXPECT_EQ(gradient_of("SoftmaxCrossEntropyLoss", {}).count("ZerosLike"), 1U);
}

TEST(FrameworkRules, PassZerosAsARealTrainingGraphDoes) {
  REQUIRE_OUTSIDE_FILE(file_name);
  EXPECT_EQ(nodes_of_file().at("optim/gradients/zeros_like"), "ZerosLike");
}

TEST(FrameworkRules, BindTheFiveGradientsOfAFusedBatchNormalisation) {
  // _FusedBatchNormGrad of ops/nn_grad.py returns all outputs of FusedBatchNormGrad; FusedBatchNorm has five outputs,
  // of which its statistics (four) have no gradient.
  const std::map<std::string, Attribute> attributes{{"fused", std::int64_t{1}}, {"training_mode", std::int64_t{1}}};
  EXPECT_EQ(gradient_of("BatchNormalization", attributes),
            (Types{"ZerosLike", "ZerosLike", "ZerosLike", "ZerosLike", "NoOp", "Identity", "Identity", "Identity",
                   "Identity", "Identity"}));
}

TEST(FrameworkRules, GiveMatricesAndFiltersRandomNumbersAndVectorsAConstant) {
  EXPECT_THAT(std::string(initial_value_ops(2)), ::testing::HasSubstr("RandomUniform"));
  EXPECT_THAT(std::string(initial_value_ops(4)), ::testing::HasSubstr("RandomNormal"));
  EXPECT_EQ(initial_value_ops(1), "Constant Assign");
}

}  // namespace
}  // namespace emplace::zoo::framework_rules_test
