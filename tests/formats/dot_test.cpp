// DOT files: two goldens that a person can read, and what names from hostile files become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "formats/writers.hpp"
#include "graph/passes/merge.hpp"

namespace emplace::formats::dot_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

OpId add(Graph& graph, const std::string& name, const std::string& type, const std::string& layer,
         std::vector<Operand> inputs, const Shape& shape) {
  GraphOp op;
  op.name = name;
  op.type = type;
  op.layer = layer;
  op.inputs = std::move(inputs);
  const OpId id = graph.add_op(std::move(op));
  graph.add_output(id, name, DType::f32, shape);
  return id;
}

Operand result_of(const Graph& graph, OpId op) { return Operand::of(graph.ops[op.index()].outputs.front()); }

// x -> product -> relu (encoder), then a sum of both (no layer) that waits for a check.
Graph small_graph() {
  Graph graph;
  graph.name = "small";
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {2, 3}));
  const Operand w = Operand::of(graph.add_parameter("w", DType::f32, {3, 4}));
  const OpId product = add(graph, "encoder/product", "MatMul", "encoder", {x, w}, {2, 4});
  const OpId relu = add(graph, "encoder/relu", "Relu", "encoder", {result_of(graph, product)}, {2, 4});
  const OpId check = add(graph, "check", "Unheard", "", {x}, {2, 3});
  const OpId sum = add(graph, "sum", "Add", "", {result_of(graph, product), result_of(graph, relu)}, {2, 4});
  graph.ops[sum.index()].after = {check};
  return graph;
}

// The goldens were looked at as pictures (dot -Tsvg). Where a change is wanted, write the new text into the file.
TEST(Dot, DrawsLayersAsClustersAndClassesAsColours) {
  EXPECT_EQ(write_dot(small_graph(), {}), read_file("tests/golden/dot/classes.dot"));
}

TEST(Dot, ColoursOpsByDeviceWithALegend) {
  EXPECT_EQ(write_dot(small_graph(), {.device_of_op = {"gpu:0", "gpu:0", "", "cpu:0"}}),
            read_file("tests/golden/dot/devices.dot"));
}

TEST(Dot, DrawsCoLocationGroupsWhereNoLayerIsNamedAndNothingWhereToldSo) {
  Graph graph = small_graph();
  for (GraphOp& op : graph.ops) op.layer.clear();
  graph.ops[0].colocate = "pair";
  graph.ops[1].colocate = "pair";
  EXPECT_THAT(write_dot(graph, {}), HasSubstr("subgraph cluster_0 {\n    label=\"pair\""));
  EXPECT_THAT(write_dot(graph, {.clusters = DotOptions::Clusters::layer}), Not(HasSubstr("subgraph")));
  EXPECT_THAT(write_dot(graph, {.clusters = DotOptions::Clusters::none}), Not(HasSubstr("subgraph")));
}

TEST(Dot, SaysWhatAMergedOpStandsFor) {
  const Graph graph = merge_ops(small_graph(), {{{}}, {0, 0, Partition::alone, Partition::alone}}).graph;
  EXPECT_THAT(write_dot(graph, {}), HasSubstr("label=\"MatMul + Relu\\nencoder/product\""));
}

TEST(Dot, LetsNoNameEndItsText) {
  Graph graph;
  graph.name = "a\"b";
  const Operand x = Operand::of(graph.add_input("x\n<y>", DType::f32, {1}));
  add(graph, "back\\slash \"quoted\" \x01 \xff", "Re\"lu", "", {x}, {1});
  add(graph, std::string(50, 'a') + "/the end", "Relu", "", {x}, {1});
  const std::string text = write_dot(graph, {.device_of_op = {"<gpu> & \"co\"", ""}});
  EXPECT_THAT(text, HasSubstr("digraph \"a\\\"b\" {"));
  EXPECT_THAT(text, HasSubstr("label=\"x?<y>\""));
  EXPECT_THAT(text, HasSubstr("back\\\\slash \\\"quoted\\\" ? ?"));
  EXPECT_THAT(text, HasSubstr("..." + std::string(29, 'a') + "/the end\""));
  EXPECT_THAT(text, HasSubstr("&lt;gpu&gt; &amp; \"co\": 1 op<"));
}

}  // namespace
}  // namespace emplace::formats::dot_test
