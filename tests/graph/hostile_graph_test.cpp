// Files may give any op any number of operands of any shape: costs and passes must survive all of them.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "emplace/base/error.hpp"
#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/graph/small_graphs.hpp"

namespace emplace::hostile_graph_test {
namespace {

using test::node;

int draw(int below) { return *rc::gen::inRange(0, below); }

template <class T>
T pick(const std::vector<T>& items) {
  return items[static_cast<std::size_t>(draw(static_cast<int>(items.size())))];
}

Shape random_shape() {
  if (draw(6) == 0) return Shape{};
  Shape shape = Shape::scalar();
  const int rank = draw(5);
  for (int i = 0; i < rank; ++i)
    shape.dims.push_back(pick<std::int64_t>({Shape::unknown_dimension, 0, 1, 2, 7, std::int64_t{1} << 40}));
  return shape;
}

TEST(HostileGraph, AnyTypeWithAnyOperandsIsCostedPrunedAndExpandedOrRefused) {
  const std::vector<std::string> types = known_op_types();
  const std::vector<DType> dtypes{DType::f32, DType::f32, DType::i64, DType::boolean, DType::text, DType::unknown};
  EXPECT_TRUE(rc::check("any operands", [&] {
    Graph graph;
    std::vector<Operand> operands{Operand::none(), Operand::of(graph.add_input("x", DType::f32, random_shape())),
                                  Operand::of(graph.add_parameter("w", pick(dtypes), random_shape()))};
    const int count = 1 + draw(8);
    for (int i = 0; i < count; ++i) {
      GraphOp op = node("op" + std::to_string(i), pick(types), {});
      const int inputs = draw(5), outputs = draw(4);
      for (int k = 0; k < inputs; ++k) op.inputs.push_back(pick(operands));
      for (const char* attribute : {"group", "transA", "transB", "axis", "training_mode"})
        if (draw(4) == 0) op.attributes[attribute] = pick<std::int64_t>({-1, 0, 1, 3, std::int64_t{1} << 62});
      if (draw(4) == 0) op.attributes["perm"] = std::vector<std::int64_t>{1, -5, 99};
      if (draw(4) == 0) op.attributes["kernel_shape"] = std::vector<std::int64_t>{3, -5, std::int64_t{1} << 62};
      if (draw(4) == 0) op.attributes["axis"] = std::string("text where a number is meant");
      if (i > 0 && draw(3) == 0) op.after.emplace_back(static_cast<std::size_t>(draw(i)));
      const OpId id = graph.add_op(std::move(op));
      for (int k = 0; k < outputs; ++k)
        operands.push_back(Operand::of(
            graph.add_output(id, "t" + std::to_string(graph.tensors.size()), pick(dtypes), random_shape())));
    }
    try {
      graph.validate("file");
    } catch (const InputError&) {
      return;  // a size beyond 2^62: readers validate before anything else
    }
    (void)statistics(graph);
    Graph pruned = prune(graph).graph;
    pruned.validate();
    for (Graph* start : {&graph, &pruned}) {
      try {
        const Graph step = share_parameters(expand_training(*start, {.optimizer = "adam"}).graph).graph;
        step.validate();
        const GraphStatistics sums = statistics(step);
        RC_ASSERT(sums.bytes >= 0);
        RC_ASSERT(sums.flops >= 0);
        for (std::size_t i = 0; i < step.ops.size(); ++i) RC_ASSERT(resident_bytes(step, OpId{i}) >= 0);
      } catch (const InputError&) {
        continue;  // nothing to train
      }
    }
  }));
}

}  // namespace
}  // namespace emplace::hostile_graph_test
