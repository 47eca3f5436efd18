#include "emplace/graph/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "emplace/base/error.hpp"
#include "tests/graph/small_graphs.hpp"

namespace emplace::graph_test {
namespace {

using test::add;
using test::node;
using ::testing::HasSubstr;

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no InputError";
}

TEST(Shape, CountsElementsOnlyWhereEveryDimensionIsFixed) {
  EXPECT_EQ(Shape({2, 3, 4}).elements(), 24);
  EXPECT_EQ(Shape::scalar().elements(), 1);
  EXPECT_EQ(Shape({5, 0, 7}).elements(), 0);
  EXPECT_EQ(Shape({2, Shape::unknown_dimension}).elements(), std::nullopt);
  EXPECT_EQ(Shape{}.elements(), std::nullopt);
  // 2^31 x 2^31 = 2^62 is the limit; twice that is beyond it.
  EXPECT_EQ(Shape({std::int64_t{1} << 31, std::int64_t{1} << 31}).elements(), std::int64_t{1} << 62);
  EXPECT_EQ(Shape({std::int64_t{1} << 31, std::int64_t{1} << 31, 2}).elements(), std::nullopt);
  EXPECT_EQ(Shape({std::int64_t{1} << 62, std::int64_t{1} << 62, 0}).elements(), 0);
}

TEST(Shape, WritesDimensionsForPeople) {
  EXPECT_EQ(Shape({1, 3, Shape::unknown_dimension, 224}).str(), "1x3x?x224");
  EXPECT_EQ(Shape::scalar().str(), "scalar");
  EXPECT_EQ(Shape{}.str(), "unknown rank");
}

TEST(GraphTensor, HasBytesWhereTypeAndShapeAreKnown) {
  GraphTensor tensor{"t", DType::f32, {2, 3}, OpId{}, {}};
  EXPECT_EQ(tensor.bytes(), 24);
  tensor.dtype = DType::text;
  EXPECT_EQ(tensor.bytes(), std::nullopt);
  tensor.dtype = DType::f64;
  tensor.shape = {std::int64_t{1} << 60};  // 8 x 2^60 = 2^63 bytes
  EXPECT_EQ(tensor.bytes(), std::nullopt);
}

TEST(Graph, KeepsBothDirectionsInStepWhenATensorIsReadTwice) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand w = Operand::of(graph.add_parameter("w", DType::f32, {4}));
  const Operand y = add(graph, "square", "Mul", {x, x}, {4});
  add(graph, "scale", "Mul", {y, w}, {4});
  EXPECT_EQ(graph.tensors[x.index].consumers, std::vector<OpId>{OpId{0}});
  EXPECT_EQ(graph.tensors[y.index].producer, OpId{0});
  EXPECT_EQ(graph.parameters[w.index].users, std::vector<OpId>{OpId{1}});
  EXPECT_EQ(graph.edge_count(), 1U);
  graph.validate();
}

TEST(Graph, CountsAPairOfOpsOnceHoweverManyTensorsAndControlDependenciesJoinThem) {
  Graph graph;
  const OpId a = graph.add_op(node("a", "Split", {}));
  const Operand left = Operand::of(graph.add_output(a, "l", DType::f32, {1}));
  const Operand right = Operand::of(graph.add_output(a, "r", DType::f32, {1}));
  GraphOp b = node("b", "Add", {left, right});
  b.after = {a};
  graph.add_op(b);
  GraphOp c = node("c", "Relu", {});
  c.after = {a};
  graph.add_op(c);
  EXPECT_EQ(graph.edge_count(), 2U);
}

TEST(Graph, RelinksOpsThatNameConsumersBeforeProducers) {
  Graph graph;
  graph.tensors.resize(2);
  graph.tensors[0].name = "middle";
  graph.tensors[1].name = "end";
  graph.ops.push_back(node("second", "Relu", {Operand::of(TensorId{0})}));
  graph.ops.back().outputs = {TensorId{1}};
  graph.ops.push_back(node("first", "Relu", {}));
  graph.ops.back().outputs = {TensorId{0}};
  graph.relink();
  graph.validate();
  EXPECT_EQ(graph.topological_order(), (std::vector<OpId>{OpId{1}, OpId{0}}));

  graph.ops[0].outputs = {TensorId{0}};
  EXPECT_THAT(message_of([&] { graph.relink("net.onnx"); }),
              HasSubstr("net.onnx: tensor 'middle' is an output of op 'second' and again of op 'first'"));
}

TEST(Graph, NamesTheOpsOfACycle) {
  Graph graph;
  graph.tensors.resize(3);
  for (std::size_t i = 0; i < 3; ++i) {
    graph.tensors[i].name = std::string(1, static_cast<char>('x' + i));
    graph.ops.push_back(node(std::string(1, static_cast<char>('a' + i)), "Relu", {Operand::of(TensorId{(i + 2) % 3})}));
    graph.ops.back().outputs = {TensorId{i}};
  }
  graph.relink();
  const std::string message = message_of([&] { graph.validate("net.onnx"); });
  EXPECT_THAT(message, HasSubstr("net.onnx: the graph has a cycle"));
  EXPECT_THAT(message, HasSubstr("'a' -> 'b'"));
  EXPECT_THAT(message, HasSubstr("'b' -> 'c'"));
}

TEST(Graph, RefusesRepeatedAndMissingNames) {
  Graph graph;
  graph.add_op(node("same", "Relu", {}));
  graph.add_op(node("same", "Relu", {}));
  EXPECT_THAT(message_of([&] { graph.validate("f"); }), HasSubstr("f: two ops are called 'same'"));
  graph.ops[1].name = "";
  EXPECT_THAT(message_of([&] { graph.validate("f"); }), HasSubstr("f: op 1 has no name"));
}

TEST(Graph, RefusesTensorsOfNegativeOrOverflowingSize) {
  Graph graph;
  graph.add_input("x", DType::f32, {std::int64_t{1} << 40, std::int64_t{1} << 40});
  EXPECT_THAT(message_of([&] { graph.validate("f"); }),
              HasSubstr("tensor 'x' of shape 1099511627776x1099511627776 is"));
  graph.tensors[0].shape = {3, -7};
  EXPECT_THAT(message_of([&] { graph.validate("f"); }), HasSubstr("the negative dimension -7"));
}

TEST(Graph, RefusesInputsOfNothingAndKeepsEmptyConstants) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4, 0}));
  const Operand roi = Operand::of(graph.add_parameter("roi", DType::f32, {0}, false));
  add(graph, "a", "Resize", {x, roi}, {4});
  EXPECT_THAT(message_of([&] { graph.validate("f"); }),
              HasSubstr("f: input 'x' has shape 4x0, with a dimension of size 0"));
  graph.tensors[0].shape = {4, 1};
  EXPECT_NO_THROW(graph.validate("f"));
}

TEST(Graph, CallsItABugWhenTheListsDisagree) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  add(graph, "a", "Relu", {x}, {4});
  graph.tensors[x.index].consumers.clear();
  EXPECT_THROW(graph.validate(), BugError);
}

// A random acyclic graph whose ids are shuffled: op i's position in the hidden order is rank[i].
Graph shuffled_graph(std::vector<std::size_t>& rank) {
  const auto count = static_cast<std::size_t>(*rc::gen::inRange(1, 40));
  rank.resize(count);
  std::iota(rank.begin(), rank.end(), std::size_t{0});
  for (std::size_t i = count; i-- > 1;)
    std::swap(rank[i], rank[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(i) + 1))]);
  Graph graph;
  graph.tensors.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    graph.tensors[i].name = "t" + std::to_string(i);
    GraphOp op = node("op" + std::to_string(i), "Sum", {});
    op.outputs = {TensorId{i}};
    for (std::size_t k = 0; k < count; ++k) {
      if (rank[k] >= rank[i] || *rc::gen::inRange(0, 4) != 0) continue;
      if (*rc::gen::inRange(0, 3) == 0)
        op.after.emplace_back(k);
      else
        op.inputs.push_back(Operand::of(TensorId{k}));
    }
    graph.ops.push_back(std::move(op));
  }
  graph.relink();
  return graph;
}

TEST(Graph, OrdersEveryAcyclicGraphProducersFirstAndSmallestIdFirst) {
  EXPECT_TRUE(rc::check("topological order", [] {
    std::vector<std::size_t> rank;
    const Graph graph = shuffled_graph(rank);
    graph.validate();
    const std::vector<OpId> order = graph.topological_order();
    RC_ASSERT(order.size() == graph.ops.size());
    std::vector<char> done(graph.ops.size(), 0);
    const auto is_ready = [&](std::size_t i) {
      bool ready = !done[i];
      for (const Operand& input : graph.ops[i].inputs)
        ready = ready && done[graph.tensors[input.index].producer.index()];
      for (const OpId before : graph.ops[i].after) ready = ready && done[before.index()];
      return ready;
    };
    for (const OpId op : order) {
      RC_ASSERT(is_ready(op.index()));
      for (std::size_t smaller = 0; smaller < op.index(); ++smaller) RC_ASSERT(!is_ready(smaller));
      done[op.index()] = 1;
    }
  }));
}

}  // namespace
}  // namespace emplace::graph_test
