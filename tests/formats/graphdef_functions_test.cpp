// Functions of TensorFlow 2: calls, conditions and loops of a GraphDef's library, and SavedModels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/formats/model_text.hpp"

namespace emplace::formats::graphdef_functions_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

using Texts = std::vector<std::string>;

std::string entry(const std::string& field, const std::string& key, const std::string& value) {
  return field + " { key: \"" + key + "\" value: \"" + value + "\" } ";
}
std::string calls(const std::string& attribute, const std::string& function) {
  return "attr { key: \"" + attribute + "\" value { func { name: \"" + function + "\" } } } ";
}
std::string body(const std::string& name, const std::string& op, const Texts& inputs, const std::string& attributes) {
  std::string text = "{ name: \"" + name + "\" op: \"" + op + "\" ";
  for (const std::string& input : inputs) text += "input: \"" + input + "\" ";
  return text + attributes + "}\n";
}
std::string node(const std::string& name, const std::string& op, const Texts& inputs = {},
                 const std::string& attributes = "") {
  return "node " + body(name, op, inputs, attributes);
}
std::string inner(const std::string& name, const std::string& op, const Texts& inputs = {},
                  const std::string& attributes = "") {
  return "node_def " + body(name, op, inputs, attributes);
}
// `rest`: nodes, results and nodes to wait for.
std::string function(const std::string& name, const Texts& inputs, const Texts& outputs, const std::string& rest) {
  std::string text = "function { signature { name: \"" + name + "\" ";
  for (const std::string& input : inputs) text += "input_arg { name: \"" + input + "\" type: DT_FLOAT } ";
  for (const std::string& output : outputs) text += "output_arg { name: \"" + output + "\" type: DT_FLOAT } ";
  return text + "}\n" + rest + "}\n";
}
std::string library(const std::string& functions) { return "library { " + functions + "}\n"; }
const std::string x =
    node("x", "Placeholder", {},
         "attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"shape\" value { shape { dim { "
         "size: 4 } dim { size: 6 } } } }");
const std::string f32 = "attr { key: \"T\" value { type: DT_FLOAT } } ";
// y = relu(relu(a))
const std::string twice = function("twice", {"a"}, {"y"},
                                   inner("one", "Relu", {"a"}, f32) + inner("two", "Relu", {"one:activations:0"}, f32) +
                                       entry("ret", "y", "two:activations:0"));

Graph read(const std::string& text) { return read_model_text(text, "m.pbtxt"); }
std::string refusal(const std::string& text) { return refusal_of(text, "m.pbtxt"); }
Texts names(const Graph& graph) {
  Texts all;
  for (const GraphOp& op : graph.ops) all.push_back(op.name);
  return all;
}
// The ops whose results the op reads or for which it waits.
Texts before(const Graph& graph, const std::string& name) {
  Texts all;
  const GraphOp& op = op_named(graph, name);
  for (const Operand& input : op.inputs)
    if (input.is_tensor()) all.push_back(graph.ops[graph.tensors[input.index].producer.index()].name);
  for (const OpId id : op.after) all.push_back("^" + graph.ops[id.index()].name);
  return all;
}

TEST(TensorflowFunctions, ACallBecomesTheNodesOfItsFunction) {
  const std::string call = node("f", "PartitionedCall", {"x"}, calls("f", "twice"));
  const Graph graph = read(x + call + node("end", "Neg", {"f:0"}, f32) + library(twice));
  EXPECT_THAT(names(graph), ElementsAre("x", "f/one", "f/two", "end"));
  EXPECT_THAT(before(graph, "f/one"), ElementsAre("x"));
  EXPECT_THAT(before(graph, "f/two"), ElementsAre("f/one"));
  EXPECT_THAT(before(graph, "end"), ElementsAre("f/two"));
  // Three operations for each of 4 x 6 elements: shapes go through calls.
  EXPECT_EQ(statistics(graph).flops, 72);
}

// The order of nodes and library does not matter, nor whether the op is a call or the function's name, as in
// TensorFlow 1.
TEST(TensorflowFunctions, CallsMayBeNestedAndNamedAfterTheFunction) {
  const std::string outer = function("outer", {"a"}, {"y", "same"},
                                     inner("g", "StatefulPartitionedCall", {"a"}, calls("f", "twice")) +
                                         entry("ret", "y", "g:output:0") + entry("ret", "same", "a"));
  const Graph graph =
      read(library(outer + twice) + node("sum", "AddV2", {"o:1", "o"}, f32) + node("o", "outer", {"x"}) + x);
  EXPECT_THAT(names(graph), UnorderedElementsAre("x", "o/g/one", "o/g/two", "sum"));
  EXPECT_THAT(before(graph, "sum"), ElementsAre("x", "o/g/two"));
}

TEST(TensorflowFunctions, WhatWaitsForACallWaitsForItsEffects) {
  const std::string effect = function("effect", {"a"}, {"y"},
                                      inner("look", "CheckNumerics", {"a"}, f32) + inner("id", "Identity", {"a"}, f32) +
                                          entry("ret", "y", "id:output:0") + entry("control_ret", "look", "look"));
  const Graph graph =
      read(x + node("first", "NoOp") + node("f", "StatefulPartitionedCall", {"x", "^first"}, calls("f", "effect")) +
           node("last", "NoOp", {"^f"}) + library(effect));
  EXPECT_THAT(before(graph, "last"), UnorderedElementsAre("^f/look", "^f/id"));
  EXPECT_THAT(before(graph, "f/look"), ElementsAre("x", "^first"));
}

TEST(TensorflowFunctions, OutputsOfANodeAreFoundByTheirNames) {
  const std::string best =
      function("best", {"a"}, {"at"},
               inner("k", "Const", {},
                     "attr { key: \"dtype\" value { type: DT_INT32 } } attr { key: \"value\" value { tensor { dtype: "
                     "DT_INT32 int_val: 2 } } }") +
                   inner("top", "TopKV2", {"a", "k:output:0"}, f32) + entry("ret", "at", "top:indices:0"));
  const std::string call =
      node("f", "PartitionedCall", {"x"}, calls("f", "best")) + node("end", "Identity", {"f"}, f32);
  const Graph graph = read(x + call + library(best));
  EXPECT_EQ(graph.tensors[op_named(graph, "end").inputs[0].index].name, "f/top:1");
  std::string wrong = best;
  wrong.replace(wrong.find("top:indices"), 11, "top:nothing");
  EXPECT_THAT(refusal(x + call + library(wrong)), HasSubstr("'top:nothing:0': the op 'TopKV2' has no such output"));
}

TEST(TensorflowFunctions, BothBranchesOfAConditionAreNodesJoinedByAMerge) {
  const std::string minus =
      function("minus", {"a"}, {"y"}, inner("neg", "Neg", {"a"}, f32) + entry("ret", "y", "neg:y:0"));
  const std::string choose = node("p", "Placeholder", {}, "attr { key: \"dtype\" value { type: DT_BOOL } }") +
                             node("c", "If", {"p", "x"}, calls("then_branch", "twice") + calls("else_branch", "minus"));
  const Graph graph = read(x + choose + node("end", "Relu", {"c"}, f32) + library(twice + minus));
  EXPECT_THAT(names(graph), ElementsAre("x", "p", "c/then/one", "c/then/two", "c/else/neg", "c/merge/0", "end"));
  EXPECT_THAT(before(graph, "c/merge/0"), ElementsAre("c/then/two", "c/else/neg"));
  EXPECT_THAT(before(graph, "c/else/neg"), ElementsAre("x", "^p"));
  EXPECT_EQ(tensor_named(graph, "end:0").shape.str(), "4x6");
}

TEST(TensorflowFunctions, ALoopIsCostedAsOneIteration) {
  const std::string cond =
      function("cond", {"i", "a"}, {"go"}, inner("less", "Less", {"i", "i"}, f32) + entry("ret", "go", "less:z:0"));
  const std::string step = function("step", {"i", "a"}, {"j", "b"},
                                    inner("next", "Identity", {"i"}, f32) + inner("relu", "Relu", {"a"}, f32) +
                                        entry("ret", "j", "next:output:0") + entry("ret", "b", "relu:activations:0"));
  const std::string loop = node("w", "While", {"x", "x"}, calls("cond", "cond") + calls("body", "step"));
  ::testing::internal::CaptureStderr();
  const Graph graph = read(x + loop + node("end", "Neg", {"w:1"}, f32) + library(cond + step));
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("1 loops (While) are costed as one iteration"));
  EXPECT_THAT(names(graph), ElementsAre("x", "w/cond/less", "w/body/next", "w/body/relu", "end"));
  EXPECT_THAT(before(graph, "w/body/relu"), ElementsAre("x", "^w/cond/less"));
  EXPECT_THAT(before(graph, "end"), ElementsAre("w/body/relu"));
}

TEST(TensorflowFunctions, RefusesCallsThatAreNotInTheFileOrDoNotFit) {
  const auto call = [](const std::string& attributes, const Texts& inputs = {"x"}) {
    return x + node("f", "PartitionedCall", inputs, attributes);
  };
  EXPECT_THAT(refusal(call(calls("f", "gone")) + library(twice)),
              HasSubstr("node 'f': calls the function 'gone', which the library of the file does not have"));
  EXPECT_THAT(refusal(call("") + library(twice)), HasSubstr("node 'f': has no function 'f'"));
  EXPECT_THAT(refusal(call(calls("f", "twice"), {"x", "x"}) + library(twice)),
              HasSubstr("node 'f': function 'twice': is called with 2 inputs, it has 1"));
  EXPECT_THAT(refusal(call(calls("f", "twice")) + library(twice + twice)), HasSubstr("has two functions 'twice'"));
  EXPECT_THAT(refusal(call(calls("f", "twice")) + node("f/one", "NoOp") + library(twice)),
              HasSubstr("both named 'f/one'"));
  EXPECT_THAT(refusal(x + node("c", "Case", {"x"}) + library(twice)),
              HasSubstr("node 'c': is of the type 'Case', which calls functions in a way that is not read"));
  EXPECT_THAT(refusal(x + node("end", "Neg", {"f:1"}, f32) + node("f", "twice", {"x"}) + library(twice)),
              HasSubstr("node 'end': its input 'f:1' is output 1 of a call with 1 results"));
  std::string lost = twice;
  lost.replace(lost.find("\"one:activations:0\""), 19, "\"lost:y:0\"");
  EXPECT_THAT(refusal(call(calls("f", "twice")) + library(lost)), HasSubstr("'lost:y:0' is no node and no argument"));
}

// A file of a few lines must neither run for ever nor fill the memory.
TEST(TensorflowFunctions, RefusesFunctionsWithoutAnEnd) {
  const std::string self =
      function("self", {"a"}, {"y"}, inner("again", "self", {"a"}) + entry("ret", "y", "again:y:0"));
  EXPECT_THAT(refusal(x + node("f", "self", {"x"}) + library(self)), HasSubstr("function 'self': calls itself"));
  // Each function calls the one before it twice: 2^40 nodes.
  std::string doubling = twice;
  for (int i = 0; i < 40; ++i) {
    const std::string callee = i == 0 ? "twice" : "f" + std::to_string(i - 1);
    doubling += function("f" + std::to_string(i), {"a"}, {"y"},
                         inner("p", callee, {"a"}) + inner("q", callee, {"p:y:0"}) + entry("ret", "y", "q:y:0"));
  }
  EXPECT_THAT(refusal(x + node("f", "f39", {"x"}) + library(doubling)), HasSubstr("has more than 2097152 nodes"));
  // A result that is its own argument, fed by itself.
  const std::string same = function("same", {"a"}, {"y"}, entry("ret", "y", "a"));
  EXPECT_THAT(refusal(x + node("f", "same", {"f:0"}) + node("end", "Neg", {"f"}, f32) + library(same)),
              HasSubstr("a call of a call without end"));
}

std::string saved_model(const std::string& nodes, const std::string& functions, const std::string& signatures) {
  return "saved_model_schema_version: 1 meta_graphs { meta_info_def { tags: \"serve\" } graph_def { " + nodes +
         "library { " + functions + "} } " + signatures + "}";
}
std::string signature(const std::string& name, const std::string& tensor) {
  return "signature_def { key: \"" + name + "\" value { outputs { key: \"out\" value { name: \"" + tensor +
         "\" } } } } ";
}

TEST(SavedModel, HoldsWhatItsDefaultSignatureComputes) {
  const std::string nodes = x +
                            node("v", "VarHandleOp", {},
                                 "attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"shape\" value { shape "
                                 "{ dim { size: 6 } dim { size: 3 } } } }") +
                            node("serve", "StatefulPartitionedCall", {"x", "v"}, calls("f", "product")) +
                            node("save", "StatefulPartitionedCall", {"v"}, calls("f", "missing"));
  const std::string product = function(
      "product", {"a", "r"}, {"y"},
      inner("w", "ReadVariableOp", {"r"},
            "attr { key: \"dtype\" value { type: DT_FLOAT } } attr { key: \"_output_shapes\" value { list { shape { "
            "dim { size: 6 } dim { size: 3 } } } } }") +
          inner("p", "MatMul", {"a", "w:value:0"},
                f32 + "attr { key: \"_output_shapes\" value { list { shape { dim { size: 4 } dim { size: 3 } } } } }") +
          entry("ret", "y", "p:product:0"));
  const std::string text = saved_model(
      nodes, product,
      signature("serving_default", "serve:0") + signature("other", "x:0") + signature("__saved_model_init_op", "save"));
  ::testing::internal::CaptureStderr();
  const Graph graph = read_model_text(text, "saved_model.pbtxt");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("of its signatures 'serving_default' is read, not 'other'"));
  EXPECT_THAT(names(graph), ElementsAre("x", "v", "serve/w", "serve/p"));
  EXPECT_EQ(statistics(graph).flops, 2 * 4 * 6 * 3);
  EXPECT_EQ(statistics(graph).parameters, 6 * 3);
  EXPECT_THAT(refusal_of(saved_model(nodes, product, signature("serving_default", "lost:0")), "saved_model.pbtxt"),
              HasSubstr("its signature computes 'lost:0', which is no node of the graph"));
  EXPECT_THAT(refusal_of("saved_model_schema_version: 1", "saved_model.pbtxt"), HasSubstr("is no SavedModel"));
  EXPECT_THAT(refusal_of(std::string("\x08\x01\x12\x03"
                                     "abc"),
                         "saved_model.pb"),
              HasSubstr("the graph has no nodes"));
}

}  // namespace
}  // namespace emplace::formats::graphdef_functions_test
