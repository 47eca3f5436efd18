// Laws that hold for every graph.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "cost/lower.hpp"
#include "tests/cost/small_graphs.hpp"

namespace emplace::cost::lower_properties_test {
namespace {

// A random graph: ops of known and unknown types, parameters with no, one or several users, control dependencies,
// tensors of unknown size.
Graph random_graph() {
  Graph g;
  const int parameters = *rc::gen::inRange(0, 4);
  for (int i = 0; i < parameters; ++i)
    g.add_parameter("p" + std::to_string(i), DType::f32, {*rc::gen::inRange<std::int64_t>(1, 9), 5});
  g.add_input("x", DType::f32, {3, 5});
  const int ops = *rc::gen::inRange(1, 20);
  for (int i = 0; i < ops; ++i) {
    GraphOp made = op("op" + std::to_string(i), *rc::gen::element<std::string>("Add", "Relu", "Concat", "Mystery"), {});
    for (int k = *rc::gen::inRange(1, 4); k > 0; --k) {
      if (parameters > 0 && *rc::gen::inRange(0, 3) == 0)
        made.inputs.push_back(Operand::of(ParameterId{static_cast<std::size_t>(*rc::gen::inRange(0, parameters))}));
      else
        made.inputs.push_back(Operand::of(TensorId{*rc::gen::inRange<std::size_t>(0, g.tensors.size())}));
    }
    if (i > 0 && *rc::gen::arbitrary<bool>()) made.after.emplace_back(*rc::gen::inRange<std::size_t>(0, g.ops.size()));
    const OpId id = g.add_op(std::move(made));
    const std::int64_t rows = *rc::gen::inRange<std::int64_t>(0, 9);
    g.add_output(id, "t" + std::to_string(i), DType::f32, {rows == 0 ? Shape::unknown_dimension : rows, 5});
  }
  return g;
}

Bytes sum(const std::vector<Bytes>& values) {
  Bytes total = 0;
  for (const Bytes value : values) total += value;
  return total;
}

TEST(LowerProperties, TensorsAndBytesAreConserved) {
  EXPECT_TRUE(rc::check("nothing is lost or counted twice", [] {
    const Graph g = random_graph();
    const Lowered lowered = lower(g, two_speeds(), {.prune = false, .training = false, .optimizer = "sgd"}, "g");
    const Problem& p = lowered.problem;

    Bytes parameters = 0, shared = 0, tensors = 0;
    std::size_t shared_count = 0, produced = 0;
    for (const GraphParameter& parameter : g.parameters) {
      if (parameter.users.empty()) continue;
      parameters += *parameter.bytes();
      if (parameter.users.size() == 1) continue;
      shared += *parameter.bytes();
      ++shared_count;
    }
    for (const GraphTensor& tensor : g.tensors) {
      if (tensor.producer.is_none()) continue;
      ++produced;
      tensors += tensor.bytes().value_or(0);
    }
    std::vector<OpId> awaited;
    for (const GraphOp& node : g.ops) awaited.insert(awaited.end(), node.after.begin(), node.after.end());
    std::sort(awaited.begin(), awaited.end());
    awaited.erase(std::unique(awaited.begin(), awaited.end()), awaited.end());

    // A parameter that several ops use is a `Variable` op whose one tensor has its bytes.
    RC_ASSERT(p.op_count() == g.ops.size() + shared_count);
    RC_ASSERT(p.tensor_count() == produced + shared_count + awaited.size());
    RC_ASSERT(sum(p.resident) == parameters - shared);
    RC_ASSERT(sum(p.tensor_bytes) == tensors + shared);
  }));
}

TEST(LowerProperties, EveryOpKeepsItsNameAndItsProducers) {
  EXPECT_TRUE(rc::check("the problem's edges are the graph's", [] {
    const Graph g = random_graph();
    const Lowered lowered = lower(g, two_speeds(), {.prune = false, .training = false, .optimizer = "sgd"}, "g");
    const Problem& p = lowered.problem;
    RC_ASSERT(lowered.origin.size() == p.op_count());
    const auto is_edge = [&](OpId from, OpId to) {
      for (const std::uint32_t tensor : p.outputs[from.index()])
        for (const std::uint32_t consumer : p.consumers[tensor])
          if (lowered.origin[consumer] == to) return true;
      return false;
    };
    for (std::size_t i = 0; i < p.op_count(); ++i) {
      const OpId origin = lowered.origin[i];
      if (origin.is_none()) continue;
      RC_ASSERT(p.op_names[i] == g.ops[origin.index()].name);
      for (const TensorId output : g.ops[origin.index()].outputs)
        for (const OpId consumer : g.tensors[output.index()].consumers) RC_ASSERT(is_edge(OpId{i}, consumer));
    }
    for (std::size_t i = 0; i < g.ops.size(); ++i)
      for (const OpId before : g.ops[i].after) {
        const auto at = std::find(lowered.origin.begin(), lowered.origin.end(), before) - lowered.origin.begin();
        RC_ASSERT(is_edge(OpId{static_cast<std::size_t>(at)}, OpId{i}));
      }
  }));
}

}  // namespace
}  // namespace emplace::cost::lower_properties_test
