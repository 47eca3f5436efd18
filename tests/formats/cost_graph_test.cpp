// TensorFlow CostGraphDef.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/ops/op_table.hpp"
#include "tests/formats/model_text.hpp"
#include "tests/formats/proto_bytes.hpp"

namespace emplace::formats::cost_graph_test {
namespace {

using ::testing::HasSubstr;

std::string text_file(const std::string& more = "") {
  return R"(node { name: "a" device: "/cpu:0" output_info { size: 24 dtype: DT_FLOAT shape { dim { size: 2 } dim { size: 3 } } }
                  output_info { size: 10 alias_input_port: -1 } compute_cost: 12 temporary_memory_size: 7 }
node { name: "b" id: 1 input_info { preceding_node: 0 preceding_port: 1 } control_input: 0 compute_cost: 5 persistent_memory_size: 64 }
)" + more;
}

TEST(CostGraphReader, KeepsMeasuredTimesAndSizes) {
  const Graph graph = read_model_text(text_file(), "costs.pbtxt");
  ASSERT_EQ(graph.ops.size(), 2u);
  EXPECT_EQ(std::get<std::int64_t>(graph.ops[0].attributes.at("measured_us")), 12);
  EXPECT_EQ(std::get<std::int64_t>(graph.ops[0].attributes.at("temporary_bytes")), 7);
  EXPECT_EQ(std::get<std::string>(graph.ops[0].attributes.at("device")), "/cpu:0");
  EXPECT_EQ(tensor_named(graph, "a:0").shape.str(), "2x3");
  EXPECT_EQ(tensor_named(graph, "a:1").bytes(), 10);  // only the size is stated
  EXPECT_EQ(graph.ops[1].state_bytes, 64);
  EXPECT_EQ(graph.edge_count(), 1u);  // data and control from one node
  EXPECT_EQ(statistics(graph).uncosted_ops.at("Measured"), 2u);
}

TEST(CostGraphReader, ReadsBinaryFilesToo) {
  using namespace proto;
  const std::string output = field(1, 24) + field(3, field(2, field(1, 2)) + field(2, field(1, 3))) + field(4, 1);
  const std::string bytes =
      field(1, field(1, "a") + field(2, "/cpu:0") + field(5, output) + field(9, 12)) +
      field(1, field(1, "b") + field(3, 1) + field(4, field(1, 0) + field(2, 0)) + field(8, varint(0)) + field(9, 5));
  const Graph graph = read_model_text(bytes, "costs.pb");
  ASSERT_EQ(graph.ops.size(), 2u);
  EXPECT_EQ(tensor_named(graph, "a:0").shape.str(), "2x3");
  EXPECT_EQ(std::get<std::int64_t>(graph.ops[1].attributes.at("measured_us")), 5);
  EXPECT_EQ(graph.ops[1].after.size(), 1u);
}

TEST(CostGraphReader, CutsTheBackEdgesOfLoopsByTheirNames) {
  const Graph graph =
      read_model_text(R"(node { name: "w/Merge" output_info { size: 4 } input_info { preceding_node: 1 } }
node { name: "w/NextIteration_1" id: 1 output_info { size: 4 } input_info { preceding_node: 0 } })",
                      "costs.pbtxt");
  EXPECT_EQ(graph.cut_edges.size(), 1u);
  EXPECT_EQ(statistics(graph).edges, 2u);
}

TEST(CostGraphReader, RefusesBrokenGraphs) {
  const auto refusal = [](const std::string& more) { return refusal_of(text_file(more), "costs.pbtxt"); };
  EXPECT_THAT(refusal(R"(node { name: "c" id: 1 })"), HasSubstr("nodes 'b' and 'c' both have the id 1"));
  EXPECT_THAT(refusal(R"(node { name: "b" id: 2 })"), HasSubstr("two ops are called 'b'"));
  EXPECT_THAT(refusal(R"(node { id: 2 })"), HasSubstr("node 2 has no name"));
  EXPECT_THAT(refusal(R"(node { name: "c" id: 2 input_info { preceding_node: 9 } })"),
              HasSubstr("reads node 9, which does not exist"));
  EXPECT_THAT(refusal(R"(node { name: "c" id: 2 input_info { preceding_node: 0 preceding_port: 2 } })"),
              HasSubstr("node 'c' reads output 2 of node 'a', which has 2 outputs"));
  EXPECT_THAT(refusal(R"(node { name: "c" id: 2 compute_cost: -1 })"), HasSubstr("compute_cost is negative: -1"));
  EXPECT_THAT(refusal_of(text_file(), "costs.pbtxt", {.shapes = {}, .batch = 2}),
              HasSubstr("--shape and --batch cannot change them"));
}

}  // namespace
}  // namespace emplace::formats::cost_graph_test
