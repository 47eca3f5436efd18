// Training of graphs from files that hold their weights in variables, as TensorFlow's do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "base/files.hpp"
#include "emplace/formats/reader.hpp"
#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/graph/small_graphs.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::variables_test {
namespace {

using test::add;
using test::find_op;
using test::node;
using test::ops_of_type;

// y = x w + b, where w is a Variable read by an Identity and b a resource.
struct Linear {
  Graph graph;
  Operand x = Operand::of(graph.add_input("x", DType::f32, {2, 4}));
  Operand w = add(graph, "w", "Variable", {Operand::of(graph.add_parameter("w", DType::f32, {4, 4}))}, {4, 4});
  Operand read_w = add(graph, "w/read", "Identity", {w}, {4, 4});
  Operand handle = add(graph, "b", "VarHandleOp", {Operand::of(graph.add_parameter("b", DType::f32, {4}))},
                       Shape::scalar(), DType::unknown);
  // A resource does not tell the reader the size of its value.
  Operand read_b = add(graph, "b/read", "ReadVariableOp", {handle}, Shape());
  Operand product = add(graph, "product", "MatMul", {x, read_w}, {2, 4});
  Operand y = add(graph, "y", "BiasAdd", {product, read_b}, {2, 4});
};

std::size_t position(const Graph& graph, const std::string& name) {
  return static_cast<std::size_t>(find_op(graph, name) - graph.ops.data());
}

TEST(Variables, GetAGradientAnUpdateAndTheOptimisersState) {
  for (const bool pruned : {false, true}) {
    SCOPED_TRACE(pruned);
    Linear linear;
    const Graph forward = pruned ? prune(linear.graph).graph : linear.graph;
    const Graph step = expand_training(forward, {.optimizer = "adam"}).graph;
    step.validate();
    const GraphOp *w = find_op(step, "update/w"), *b = find_op(step, "update/b");
    ASSERT_TRUE(w && b);
    // The update reads the variable, as TensorFlow's does, and the gradient has the size of the value.
    EXPECT_EQ(w->inputs[0], Operand::of(find_op(step, "w")->outputs[0]));
    EXPECT_EQ(b->inputs[0], Operand::of(find_op(step, "b")->outputs[0]));
    EXPECT_EQ(step.tensors[w->inputs[1].index].shape, Shape({4, 4}));
    EXPECT_EQ(step.tensors[b->inputs[1].index].shape, Shape({4}));
    EXPECT_EQ(w->state_bytes, 2 * 64);
    EXPECT_EQ(b->state_bytes, 2 * 16);
    EXPECT_NE(w->colocate, "");
    EXPECT_EQ(w->colocate, find_op(step, "w")->colocate);
    EXPECT_EQ(b->colocate, find_op(step, "b")->colocate);
    EXPECT_NE(w->colocate, b->colocate);
  }
}

TEST(Variables, AreHeldOnceHoweverOftenTheyAreReadAndUpdated) {
  Linear linear;
  const Operand again = add(linear.graph, "again", "MatMul", {linear.y, linear.w}, {2, 4});
  add(linear.graph, "last", "BiasAdd", {again, linear.read_b}, {2, 4});
  const Graph step = share_parameters(expand_training(linear.graph, {.optimizer = "momentum"}).graph).graph;
  step.validate();
  EXPECT_EQ(ops_of_type(step, "Variable").size(), 1U);
  // One update each, of the sum of two gradients.
  EXPECT_EQ(ops_of_type(step, "ApplyMomentum").size(), 2U);
  EXPECT_EQ(ops_of_type(step, "Sum").size(), 2U);
  // w is held by its tensor (64 bytes) until its update has ended, b by the op that holds the resource.
  EXPECT_EQ(resident_bytes(step, OpId{position(step, "w")}), 0);
  EXPECT_EQ(resident_bytes(step, OpId{position(step, "b")}), 16);
  const std::vector<OpId>& users = step.tensors[find_op(step, "w")->outputs[0].index()].consumers;
  EXPECT_THAT(users, ::testing::Contains(OpId{position(step, "update/w")}));
  Bytes state = 0;
  for (std::size_t i = 0; i < step.ops.size(); ++i)
    if (step.ops[i].phase == Phase::update) state += resident_bytes(step, OpId{i});
  EXPECT_EQ(state, 64 + 16);
}

TEST(Variables, KeepTheSizeOfTheirGradientWhereControlFlowHandsAResourceOn) {
  Graph graph;
  const Operand x = Operand::of(graph.add_input("x", DType::f32, {2, 4}));
  const Operand going = Operand::of(graph.add_input("going", DType::boolean, Shape::scalar()));
  const Operand value = Operand::of(graph.add_parameter("w", DType::f32, {4, 4}));
  const Operand handle = add(graph, "w", "VarHandleOp", {value}, Shape::scalar(), DType::unknown);
  const Operand entered = add(graph, "enter", "Enter", {handle}, Shape::scalar(), DType::unknown);
  const OpId branch = graph.add_op(node("switch", "Switch", {entered, going}));
  graph.add_output(branch, "switch", DType::unknown, Shape::scalar());
  const Operand taken = Operand::of(graph.add_output(branch, "switch:1", DType::unknown, Shape::scalar()));
  add(graph, "product", "MatMul", {x, add(graph, "read", "ReadVariableOp", {taken}, {4, 4})}, {2, 4});
  const Graph step = expand_training(graph, {}).graph;
  ASSERT_NE(find_op(step, "update/w"), nullptr);
  EXPECT_EQ(step.tensors[find_op(step, "update/w")->inputs[1].index].shape, Shape({4, 4}));
  EXPECT_TRUE(ops_of_type(step, "ReduceSum").empty());
}

TEST(Variables, KeepTheGradientOfALookupSparse) {
  for (const char* type : {"Variable", "VarHandleOp"}) {
    Graph graph;
    const Operand value = Operand::of(graph.add_parameter("table", DType::f32, {1000, 4}));
    const Operand table = add(graph, "table", type, {value}, {1000, 4});
    const Operand ids = Operand::of(graph.add_input("ids", DType::i32, {6}));
    add(graph, "lookup", "Gather", {table, ids}, {6, 4});
    const Graph step = expand_training(graph, {}).graph;
    const auto updates = ops_of_type(step, "SparseApplyGradientDescent");
    ASSERT_EQ(updates.size(), 1U);
    EXPECT_EQ(updates[0]->inputs[2], ids);
  }
}

TEST(Variables, ThatNoOpReadsAreNotObjectives) {
  Linear linear;
  const Operand other = add(linear.graph, "counter", "Variable",
                            {Operand::of(linear.graph.add_parameter("counter", DType::f32, {3}))}, {3});
  add(linear.graph, "counter/read", "Identity", {other}, {3});
  const Graph step = expand_training(linear.graph, {}).graph;
  EXPECT_EQ(find_op(step, "update/counter"), nullptr);
  EXPECT_EQ(ops_of_type(step, "OutputGrad").size(), 1U);
}

TEST(Variables, GetTheirGradientThroughOneIterationOfALoop) {
  // while ...: state = state w, as a reader leaves it: the edge NextIteration -> Merge is cut.
  Graph graph;
  const Operand state = Operand::of(graph.add_input("state", DType::f32, {2, 4}));
  const Operand going = Operand::of(graph.add_input("going", DType::boolean, Shape::scalar()));
  const Operand w = add(graph, "w", "Variable", {Operand::of(graph.add_parameter("w", DType::f32, {4, 4}))}, {4, 4});
  const Operand constant = add(graph, "enter_w", "Enter", {w}, {4, 4});
  const Operand entered = add(graph, "enter", "Enter", {state}, {2, 4});
  const Operand merged = add(graph, "merge", "Merge", {entered}, {2, 4});
  const OpId branch = graph.add_op(node("switch", "Switch", {merged, going}));
  const Operand out = Operand::of(graph.add_output(branch, "switch", DType::f32, {2, 4}));
  const Operand body = Operand::of(graph.add_output(branch, "switch:1", DType::f32, {2, 4}));
  const Operand next = add(graph, "product", "MatMul", {body, constant}, {2, 4});
  add(graph, "next", "NextIteration", {next}, {2, 4});
  add(graph, "exit", "Exit", {out}, {2, 4});
  const Graph step = expand_training(graph, {}).graph;
  step.validate();
  // One product for the gradient of w; the state before the loop is an input of the model.
  EXPECT_EQ(ops_of_type(step, "MatMul").size() + ops_of_type(step, "Gemm").size(), 2U);
  EXPECT_EQ(ops_of_type(step, "ApplyGradientDescent").size(), 1U);
}

// The variables that the graph updates, by type of update; resources have the same update as other variables.
std::map<std::string, std::set<std::string>> updated_variables(const Graph& graph) {
  std::map<std::string, std::set<std::string>> variables;
  for (const GraphOp& op : graph.ops)
    if (op.phase == Phase::update)
      variables[op.type].insert(graph.ops[graph.tensors[op.inputs[0].index].producer.index()].name);
  return variables;
}

class TrainingStep : public ::testing::Test {
 protected:
  static bool is_dropped(const std::string& name) {
    return name.starts_with("optim/") || name.starts_with("save/") || name == "Merge/MergeSummary";
  }
  // The file of a training step without its optimiser and its savers: the graph that it was made from. The file has one
  // field a line; nodes begin with "node {" and their name.
  [[nodiscard]] Graph read_forward_part(const std::string& file_name) const {
    const std::string path = folder_ / "forward.pbtxt";
    std::ifstream file(file_name);
    std::ofstream kept(path);
    bool keeps = true;
    for (std::string line; std::getline(file, line);) {
      if (line == "library {") break;
      if (line == "node {") {
        std::string name;
        std::getline(file, name);
        keeps = !is_dropped(name.substr(9, name.size() - 10));
        if (keeps) kept << line << '\n' << name << '\n';
        continue;
      }
      const bool waits = line.starts_with("  input: \"^") && is_dropped(line.substr(11, line.size() - 12));
      if (keeps && !waits) kept << line << '\n';
    }
    kept.close();
    return formats::read_graph(path);
  }
  // `dense`, `sparse`: variables with an update of each kind.
  void expect_updates_that_expansion_gives(const std::string& file_name, std::size_t dense, std::size_t sparse) const {
    const auto published = updated_variables(formats::read_graph(file_name));
    ASSERT_EQ(published.at("ApplyGradientDescent").size(), dense);
    ASSERT_EQ(published.at("SparseApplyGradientDescent").size(), sparse);
    const Graph forward = read_forward_part(file_name);
    for (const bool pruned : {false, true}) {
      const Graph step = expand_training(pruned ? prune(forward).graph : forward, {}).graph;
      step.validate();
      EXPECT_EQ(updated_variables(step), published) << pruned;
      for (const GraphOp* update : ops_of_type(step, "ApplyGradientDescent")) {
        const OpId variable = step.tensors[update->inputs[0].index].producer;
        const Operand& value = step.ops[variable.index()].inputs.at(0);
        EXPECT_EQ(step.tensors[update->inputs[1].index].shape, step.parameters[value.index].shape) << update->name;
      }
      for (const auto& [type, count] : statistics(step).uncosted_ops) EXPECT_FALSE(type.ends_with("Grad")) << type;
    }
  }
  // All assignments of the file give initial or restored values.
  static Graph expect_pruned_of_values_and_savers(const Graph& file, std::size_t assignments, std::size_t savers) {
    const Graph step = prune(file).graph;
    const auto count = [](const Graph& graph, const char* type) { return ops_of_type(graph, type).size(); };
    EXPECT_EQ(count(file, "Assign") + count(file, "AssignVariableOp"), assignments);
    EXPECT_EQ(count(step, "Assign") + count(step, "AssignVariableOp"), 0U);
    EXPECT_EQ(count(file, "SaveV2"), savers);
    EXPECT_EQ(count(step, "SaveV2") + count(step, "RestoreV2"), 0U);
    EXPECT_EQ(updated_variables(step), updated_variables(file));
    return step;
  }

  test::TemporaryFolder folder_;
};

// logits = table[ids] w + b, their cross entropy, plain gradient descent, initial values and a saver, as TensorFlow 1.x
// writes them.
std::string small_training_step() {
  std::string text;
  const auto attribute = [](const std::string& key, const std::string& value) {
    return "  attr { key: \"" + key + "\" value { " + value + " } }\n";
  };
  const auto sizes = [](const std::vector<int>& dims) {
    std::string list;
    for (const int dim : dims) list += "dim { size: " + std::to_string(dim) + " } ";
    return "{ " + list + "}";
  };
  const std::string type = attribute("T", "type: DT_FLOAT"), f32 = attribute("dtype", "type: DT_FLOAT");
  const auto write = [&](const std::string& name, const std::string& op, const std::vector<std::string>& from,
                         const std::vector<int>& dims, const std::string& attributes, const std::string& second = "") {
    text += "node {\n  name: \"" + name + "\"\n  op: \"" + op + "\"\n";
    for (const std::string& input : from) text += "  input: \"" + input + "\"\n";
    text += attributes + attribute("_output_shapes", "list { shape " + sizes(dims) + second + " }") + "}\n";
  };
  const auto constant = [&](const std::string& name) {
    write(name, "Const", {}, {}, f32 + attribute("value", "tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 }"));
  };
  const auto variable = [&](const std::string& name, const std::vector<int>& dims) {
    write(name, "VariableV2", {}, dims, f32 + attribute("shape", "shape " + sizes(dims)));
    write(name + "/initial", "RandomUniform", {"size"}, dims, f32);
    write(name + "/Assign", "Assign", {name, name + "/initial"}, dims, type);
    write(name + "/read", "Identity", {name}, dims, type);
    write("save/Restore_" + name, "RestoreV2", {"save/file"}, dims, attribute("dtypes", "list { type: DT_FLOAT }"));
    write("save/Assign_" + name, "Assign", {name, "save/Restore_" + name}, dims, type);
  };
  const std::string i32 = attribute("dtype", "type: DT_INT32");
  write("ids", "Placeholder", {}, {6}, i32 + attribute("shape", "shape " + sizes({6})));
  write("labels", "Placeholder", {}, {6}, i32 + attribute("shape", "shape " + sizes({6})));
  write("save/file", "Placeholder", {}, {}, attribute("dtype", "type: DT_STRING"));
  constant("size");
  variable("table", {10, 4});
  variable("w", {4, 3});
  variable("b", {3});
  write("lookup", "Gather", {"table/read", "ids"}, {6, 4}, attribute("Tparams", "type: DT_FLOAT"));
  write("product", "MatMul", {"lookup", "w/read"}, {6, 3}, type);
  write("logits", "BiasAdd", {"product", "b/read"}, {6, 3}, type);
  write("loss", "SparseSoftmaxCrossEntropyWithLogits", {"logits", "labels"}, {6}, type, " shape " + sizes({6, 3}));
  constant("optim/rate");
  write("optim/gradient", "Mul", {"loss:1", "optim/rate"}, {6, 3}, type);
  write("optim/w_gradient", "MatMul", {"lookup", "optim/gradient"}, {4, 3}, type + attribute("transpose_a", "b: true"));
  write("optim/b_gradient", "BiasAddGrad", {"optim/gradient"}, {3}, type);
  write("optim/rows", "MatMul", {"optim/gradient", "w/read"}, {6, 4}, type + attribute("transpose_b", "b: true"));
  write("optim/update_w", "ApplyGradientDescent", {"w", "optim/rate", "optim/w_gradient"}, {4, 3}, type);
  write("optim/update_b", "ApplyGradientDescent", {"b", "optim/rate", "optim/b_gradient"}, {3}, type);
  write("optim/update_table", "ScatterSub", {"table", "ids", "optim/rows"}, {10, 4}, type);
  write("save/SaveV2", "SaveV2", {"save/file", "table", "w", "b"}, {}, "");
  return text;
}

TEST_F(TrainingStep, HasTheUpdatesThatExpansionOfItsForwardPartGives) {
  write_file(folder_ / "step.pbtxt", small_training_step());
  expect_updates_that_expansion_gives(folder_ / "step.pbtxt", 2, 1);
}

TEST_F(TrainingStep, IsPrunedOfItsInitialValuesAndSavers) {
  write_file(folder_ / "step.pbtxt", small_training_step());
  const Graph step = expect_pruned_of_values_and_savers(formats::read_graph(folder_ / "step.pbtxt"), 6, 1);
  EXPECT_TRUE(ops_of_type(step, "RandomUniform").empty());
}

class RealTrainingStep : public TrainingStep {
 protected:
  void SetUp() override { REQUIRE_OUTSIDE_FILE(file_name); }

  static inline const std::string file_name = test::outside_file("models/tf-graphdef/opennmt_seq2seq_train.pbtxt");
};

TEST_F(RealTrainingStep, HasTheUpdatesThatExpansionOfItsForwardPartGives) {
  expect_updates_that_expansion_gives(file_name, 12, 2);
}

TEST_F(RealTrainingStep, IsPrunedOfItsInitialValuesAndSavers) {
  const Graph step = expect_pruned_of_values_and_savers(formats::read_graph(file_name), 32, 2);
  // The random numbers that are left belong to dropout.
  for (const GraphOp* op : ops_of_type(step, "RandomUniform"))
    EXPECT_NE(op->name.find("dropout"), std::string::npos) << op->name;
}

}  // namespace
}  // namespace emplace::variables_test
