#include "graph/ops/inputs.hpp"

#include <gmock/gmock.h>

#include "tests/graph/small_graphs.hpp"

namespace emplace::test::inputs_test {
namespace {

using ::testing::ElementsAre;

TEST(Inputs, AreTensorsWithoutAProducerAndThoseOfOpsThatStandForThem) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {4}));
  const Operand ids = add(graph, "input_ids", "Parameter", {}, {Shape::unknown_dimension, 8}, DType::i64);
  const Operand image = add(graph, "image", "Placeholder", {}, {4});
  add(graph, "sum", "Add", {x, image}, {4});
  add(graph, "gather", "Gather", {x, ids}, {4});
  std::vector<std::string> names, shapes;
  for (const auto& [name, tensor] : inputs_of(graph)) {
    names.push_back(name);
    shapes.push_back(tensor->shape.str());
  }
  EXPECT_THAT(names, ElementsAre("x", "input_ids", "image"));
  EXPECT_THAT(shapes, ElementsAre("4", "?x8", "4"));
}

// Names of an iterator's outputs are those of tensors, since it has several.
TEST(Inputs, AreWhatAnIteratorOfADataSetGives) {
  Graph graph;
  const Operand iterator = add(graph, "IteratorV2", "IteratorV2", {}, {});
  const Operand next = add(graph, "next", "IteratorGetNext", {iterator}, {Shape::unknown_dimension, 8}, DType::i64);
  add(graph, "sum", "Relu", {next}, {Shape::unknown_dimension, 8});
  const std::vector<GraphInput> inputs = inputs_of(graph);
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_EQ(inputs[0].name, graph.tensors[next.index].name);
  EXPECT_EQ(inputs[0].tensor->shape.str(), "?x8");
}

}  // namespace
}  // namespace emplace::test::inputs_test
