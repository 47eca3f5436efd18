// If, Loop and Scan: shapes behind them and what their sub-graphs cost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/formats/reader.hpp"
#include "graph/ops/op_table.hpp"
#include "tests/formats/onnx_network.hpp"
#include "tests/support/growth.hpp"

namespace emplace::formats::onnx_control_flow_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

OpCost cost_of_type(const Graph& graph, const std::string& type) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].type == type) return cost_of(graph, OpId{i});
  return {};
}

// trip, condition, state -> condition, state x w, state x w: a product of 2 x (4 x 4) a trip.
onnx::GraphProto product_body() {
  onnx::GraphProto body;
  body.set_name("body");
  set_type(*body.add_input(), "trip", {}, onnx::TensorProto::INT64);
  set_type(*body.add_input(), "go", {}, onnx::TensorProto::BOOL);
  body.add_input()->set_name("state");
  *body.add_node() = make_node("Identity", "", {"go"}, {"go_on"});
  *body.add_node() = make_node("MatMul", "", {"state", "w"}, {"next"});
  *body.add_node() = make_node("Identity", "", {"next"}, {"kept"});
  for (const char* output : {"go_on", "next", "kept"}) body.add_output()->set_name(output);
  return body;
}

// The product of x (2 x 4) with w, `trips` times.
onnx::ModelProto loop_of_products(const std::string& trips, OnnxNetwork net) {
  net.input("x", {2, 4});
  *net.graph().add_initializer() = make_tensor("w", {4, 4});
  auto& loop = *net.graph().add_node() = make_node("Loop", "loop", {trips, net.boolean(true), "x"}, {"last", "all"});
  *add_attribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g() = product_body();
  return net.model;
}

TEST(OnnxIf, LaunchesAnLstmInABranchOnceForEachTimeStep) {
  OnnxNetwork net;
  net.input("x", {9, 1, 5});
  *net.graph().add_initializer() = make_tensor("w", {1, 16, 5});
  *net.graph().add_initializer() = make_tensor("r", {1, 16, 4});
  onnx::GraphProto branch;
  branch.set_name("branch");
  auto& lstm = *branch.add_node() = make_node("LSTM", "", {"x", "w", "r"}, {"y"});
  add_attribute(lstm, "hidden_size", onnx::AttributeProto::INT).set_i(4);
  branch.add_output()->set_name("y");
  auto& choice = *net.graph().add_node() = make_node("If", "if", {net.boolean(true)}, {"chosen"});
  for (const char* name : {"then_branch", "else_branch"})
    *add_attribute(choice, name, onnx::AttributeProto::GRAPH).mutable_g() = branch;
  const Graph graph = read(net.model);
  EXPECT_EQ(shape_of(graph, "chosen"), "9x1x1x4");
  EXPECT_EQ(cost_of_type(graph, "If").launches, 1 + 9);
}

TEST(OnnxLoop, CostsItsBodyTimesItsTripsAndStacksItsResults) {
  OnnxNetwork net;
  const std::string trips = net.scalar(5);
  const Graph graph = read(loop_of_products(trips, net));
  EXPECT_EQ(shape_of(graph, "last"), "2x4");
  EXPECT_EQ(shape_of(graph, "all"), "5x2x4");
  const OpCost cost = cost_of_type(graph, "Loop");
  EXPECT_EQ(cost.flops, 5 * 2 * (2 * 4) * 4);
  EXPECT_EQ(cost.cls, OpClass::matmul);
  EXPECT_EQ(cost.bytes_read, 5 * 4 * (2 * 4 + 4 * 4));
  EXPECT_EQ(cost.launches, 1 + 5);  // its own, and the product of each trip; an Identity is not launched
  EXPECT_TRUE(cost.known_type);
  EXPECT_TRUE(cost.known_shapes);
  EXPECT_THAT(statistics(graph).uncosted_ops, IsEmpty());
}

TEST(OnnxLoop, OfAMillionTripsIsInferredOnceAndCostedAMillionTimes) {
  OnnxNetwork net;
  const std::string trips = net.scalar(1'000'000);
  const Graph graph = read(loop_of_products(trips, net));
  EXPECT_EQ(shape_of(graph, "all"), "1000000x2x4");
  EXPECT_EQ(cost_of_type(graph, "Loop").flops, 1e6 * 64);
}

TEST(OnnxLoop, WithAnUnknownNumberOfTripsCountsOneAndSaysSo) {
  OnnxNetwork net;
  net.input("trips", {}, onnx::TensorProto::INT64);
  ::testing::internal::CaptureStderr();
  const Graph graph = read(loop_of_products("trips", net));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("a number of trips that is not known"));
  EXPECT_EQ(shape_of(graph, "last"), "2x4");
  EXPECT_EQ(shape_of(graph, "all"), "?x2x4");
  EXPECT_EQ(cost_of_type(graph, "Loop").flops, 64);
  EXPECT_FALSE(cost_of_type(graph, "Loop").known_shapes);
}

// A list of sizes that grows by one with each trip: 1, then 1 x 1, ...
TEST(OnnxLoop, MayGrowItsState) {
  OnnxNetwork net;
  const std::string trips = net.scalar(3), start = net.vector({7});
  onnx::GraphProto body;
  set_type(*body.add_input(), "trip", {}, onnx::TensorProto::INT64);
  set_type(*body.add_input(), "go", {}, onnx::TensorProto::BOOL);
  body.add_input()->set_name("state");
  *body.add_node() = make_node("Identity", "", {"go"}, {"go_on"});
  *body.add_initializer() = make_vector("one", {1});
  *body.add_initializer() = make_vector("axes", {0});
  *body.add_node() = make_node("Unsqueeze", "", {"trip", "axes"}, {"number"});
  *body.add_node() = make_node("Add", "", {"number", "one"}, {"above"});
  auto& concat = *body.add_node() = make_node("Concat", "", {"state", "above"}, {"next"});
  add_attribute(concat, "axis", onnx::AttributeProto::INT).set_i(0);
  for (const char* output : {"go_on", "next"}) body.add_output()->set_name(output);
  auto& loop = *net.graph().add_node() = make_node("Loop", "loop", {trips, net.boolean(true), start}, {"sizes"});
  *add_attribute(loop, "body", onnx::AttributeProto::GRAPH).mutable_g() = body;
  const std::string made = net.node("ConstantOfShape", {"sizes"});
  const Graph graph = read(net.model);
  EXPECT_EQ(shape_of(graph, "sizes"), "4");
  EXPECT_EQ(shape_of(graph, made), "7x1x2x3");
}

// x + 1 of 2 x 4 elements, or a product of 2 x 3 results.
onnx::ModelProto model_with_if(OnnxNetwork net, const std::string& condition) {
  net.input("x", {2, 4});
  *net.graph().add_initializer() = make_tensor("w", {4, 3});
  auto& branch = *net.graph().add_node() = make_node("If", "if", {condition}, {"y"});
  auto& first = *add_attribute(branch, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
  *first.add_node() = make_node("MatMul", "", {"x", "w"}, {"product"});
  first.add_output()->set_name("product");
  auto& second = *add_attribute(branch, "else_branch", onnx::AttributeProto::GRAPH).mutable_g();
  *second.add_node() = make_node("Relu", "", {"x"}, {"positive"});
  second.add_output()->set_name("positive");
  return net.model;
}

TEST(OnnxIf, WithAKnownConditionIsTheBranchThatRuns) {
  for (const bool condition : {true, false}) {
    OnnxNetwork net;
    const std::string known = net.boolean(condition);
    const Graph graph = read(model_with_if(net, known));
    EXPECT_EQ(shape_of(graph, "y"), condition ? "2x3" : "2x4");
    EXPECT_EQ(cost_of_type(graph, "If").flops, condition ? 2 * 6 * 4 : 8);
  }
}

TEST(OnnxIf, WithAnUnknownConditionCostsItsCostlierBranch) {
  OnnxNetwork net;
  net.input("condition", {}, onnx::TensorProto::BOOL);
  const Graph graph = read(model_with_if(net, "condition"));
  EXPECT_EQ(cost_of_type(graph, "If").flops, 48);
}

// A net of `count` activations, and the same net as the branch of an If.
TEST(OnnxIf, LaunchesAsManyKernelsAsItsBranchHasNodesThatDoWork) {
  constexpr int count = 40;
  OnnxNetwork net;
  net.input("condition", {}, onnx::TensorProto::BOOL);
  net.input("x", {2, 4});
  auto& branching = *net.graph().add_node() = make_node("If", "if", {"condition"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& branch = *add_attribute(branching, name, onnx::AttributeProto::GRAPH).mutable_g();
    std::string last = "x";
    for (int i = 0; i < count; ++i) {
      const std::string next = std::string(name) + std::to_string(i);
      *branch.add_node() = make_node("Relu", "", {last}, {next});
      last = next;
    }
    // Nothing is launched for shapes of known tensors, and for weights that follow from weights.
    *branch.add_initializer() = make_tensor(std::string(name) + "w", {2, 4});
    *branch.add_node() = make_node("Exp", "", {std::string(name) + "w"}, {std::string(name) + "exp"});
    *branch.add_node() = make_node("Shape", "", {last}, {std::string(name) + "shape"});
    *branch.add_node() = make_node("Reshape", "", {last, std::string(name) + "shape"}, {std::string(name) + "result"});
    branch.add_output()->set_name(std::string(name) + "result");
  }
  EXPECT_EQ(cost_of_type(read(net.model), "If").launches, 1 + count);
}

// Six steps of h := h + x_t over x of 6 x 3: one addition of 3 elements a step.
TEST(OnnxScan, CostsItsBodyForEachElementThatItScans) {
  OnnxNetwork net;
  net.input("h", {3});
  net.input("x", {6, 3});
  auto& scan = *net.graph().add_node() = make_node("Scan", "scan", {"h", "x"}, {"last", "all"});
  add_attribute(scan, "num_scan_inputs", onnx::AttributeProto::INT).set_i(1);
  auto& body = *add_attribute(scan, "body", onnx::AttributeProto::GRAPH).mutable_g();
  set_type(*body.add_input(), "state", {3});
  set_type(*body.add_input(), "element", {3});
  *body.add_node() = make_node("Add", "", {"state", "element"}, {"sum"});
  *body.add_node() = make_node("Identity", "", {"sum"}, {"copy"});
  body.add_output()->set_name("sum");
  body.add_output()->set_name("copy");
  const Graph graph = read(net.model);
  EXPECT_EQ(shape_of(graph, "all"), "6x3");
  EXPECT_EQ(cost_of_type(graph, "Scan").flops, 6 * 3);
}

TEST(OnnxIf, ReadsManyTensorsFromOutsideInLessThanQuadraticTime) {
  const auto read_with = [](int names) {
    OnnxNetwork net;
    const std::string condition = net.boolean(true);
    onnx::NodeProto sum = make_node("Sum", "", {}, {"sum"});
    for (int i = 0; i < names; ++i) {
      const std::string name = "w" + std::to_string(i);
      *net.graph().add_initializer() = make_tensor(name, {2});
      sum.add_input(name);
    }
    onnx::GraphProto branch;
    *branch.add_node() = sum;
    branch.add_output()->set_name("sum");
    auto& node = *net.graph().add_node() = make_node("If", "if", {condition}, {"y"});
    for (const char* name : {"then_branch", "else_branch"})
      *add_attribute(node, name, onnx::AttributeProto::GRAPH).mutable_g() = branch;
    const Graph graph = read(net.model);
    EXPECT_EQ(graph.ops.back().inputs.size(), static_cast<std::size_t>(names) + 1);
    EXPECT_EQ(shape_of(graph, "y"), "2");
  };
  test::expect_less_than_quadratic_time(read_with, 10'000);
}

// y = x w, or a product with a larger matrix and then `last`, which computes "result".
onnx::ModelProto model_with_large_branch(const onnx::NodeProto& last) {
  OnnxNetwork net;
  net.input("condition", {}, onnx::TensorProto::BOOL);
  net.input("x", {2, 4});
  *net.graph().add_initializer() = make_tensor("w", {4, 3});
  *net.graph().add_initializer() = make_tensor("large", {4, 1000});
  auto& choice = *net.graph().add_node() = make_node("If", "if", {"condition"}, {"y"});
  auto& first = *add_attribute(choice, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
  *first.add_node() = make_node("MatMul", "", {"x", "w"}, {"product"});
  first.add_output()->set_name("product");
  auto& second = *add_attribute(choice, "else_branch", onnx::AttributeProto::GRAPH).mutable_g();
  *second.add_node() = make_node("MatMul", "", {"x", "large"}, {"many"});
  *second.add_node() = last;
  second.add_output()->set_name("result");
  return net.model;
}

// The else branch contradicts the sizes of the input, as that of a network for another sample rate does: it cannot run,
// though it has more FLOPs before that.
TEST(OnnxIf, IsTheBranchThatFitsTheSizesWhereTheOtherDoesNot) {
  ::testing::internal::CaptureStderr();
  const Graph graph = read(model_with_large_branch(make_node("MatMul", "last", {"w", "x"}, {"result"})));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(shape_of(graph, "y"), "2x3");
  EXPECT_EQ(cost_of_type(graph, "If").flops, 2 * 6 * 4);
  EXPECT_TRUE(cost_of_type(graph, "If").known_shapes);
  EXPECT_THAT(said,
              HasSubstr("only one branch can run of 1 If node; the first is 'if' (If), not its else_branch because "
                        "of 'last' (MatMul)"));
  EXPECT_THAT(said, Not(HasSubstr("could not be inferred")));
  EXPECT_THAT(said, Not(HasSubstr("a condition")));
}

// An op that libonnx does not know in this form may run.
TEST(OnnxIf, IsItsCostlierBranchWhereAnOpOfThatCannotBeInferred) {
  onnx::NodeProto newer = make_node("Relu", "last", {"x"}, {"result"});
  add_attribute(newer, "slope", onnx::AttributeProto::INT).set_i(1);
  ::testing::internal::CaptureStderr();
  const Graph graph = read(model_with_large_branch(newer));
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(cost_of_type(graph, "If").flops, 2 * 2 * 4 * 1000);
  EXPECT_THAT(said, Not(HasSubstr("only one branch")));
  EXPECT_THAT(said, HasSubstr("could not be inferred for 1 node; the first is 'last' (Relu)"));
  EXPECT_THAT(said, HasSubstr("a condition"));
}

}  // namespace
}  // namespace emplace::formats::onnx_control_flow_test
