// Shapes that a model computes from shapes: the evaluator of small tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>

#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "graph/ops/op_table.hpp"
#include "tests/formats/onnx_network.hpp"

namespace emplace::formats::onnx_values_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The size of one dimension of a tensor, as a vector of one element.
std::string size_of(OnnxNetwork& net, const std::string& tensor, std::int64_t axis) {
  const std::string shape = net.node("Shape", {tensor});
  const std::string size = net.node("Gather", {shape, net.scalar(axis)});
  return net.node("Unsqueeze", {size, net.vector({0})});
}

std::string joined(OnnxNetwork& net, const std::vector<std::string>& parts) {
  net.node("Concat", parts);
  return net.with("axis", std::int64_t{0});
}

// Swin: an image of 1 x 56 x 56 x 96 in windows of 7 x 7, its mask, and the windows put together again.
TEST(OnnxValues, EveryTensorOfAWindowPartitionHasASize) {
  OnnxNetwork net;
  const std::string x = net.input("x", {1, 56, 56, 96});
  const std::string batch = size_of(net, x, 0), height = size_of(net, x, 1), width = size_of(net, x, 2),
                    channels = size_of(net, x, 3), seven = net.vector({7});
  const std::string rows = net.node("Div", {height, seven}), columns = net.node("Div", {width, seven});
  const std::string split = net.node("Reshape", {x, joined(net, {batch, rows, seven, columns, seven, channels})});
  net.node("Transpose", {split});
  const std::string turned = net.with("perm", std::vector<std::int64_t>{0, 1, 3, 2, 4, 5});
  const std::string windows =
      net.node("Reshape", {turned, joined(net, {net.vector({-1}), net.vector({49}), channels})});
  EXPECT_EQ(shape_of(read(net.model), windows), "64x49x96");

  // Exporters write torch's expand(-1, 49, 96) as Where(Equal(target, -1), ones, target).
  const std::string target = net.vector({-1, 49, 96});
  const std::string ones = net.node("ConstantOfShape", {net.node("Shape", {target})});
  auto& one = *add_attribute(net.last_node(), "value", onnx::AttributeProto::TENSOR).mutable_t();
  one = make_vector("", {1});
  const std::string is_open = net.node("Equal", {target, net.vector({-1})});
  const std::string expanded = net.node("Expand", {windows, net.node("Where", {is_open, ones, target})});
  // How many images the windows make: 64 / (8 x 8).
  const std::string count = net.node("Div", {size_of(net, windows, 0), net.node("Mul", {rows, columns})});
  const std::string back =
      net.node("Reshape", {expanded, joined(net, {count, rows, columns, seven, seven, net.vector({-1})})});
  // The mask of a shifted window: as many zeros as the image has places, some of which are set, compared by pairs.
  const std::string zeros = net.node("ConstantOfShape", {joined(net, {height, width})});
  const std::string pairs = net.node(
      "Sub", {net.node("Unsqueeze", {zeros, net.vector({0})}), net.node("Unsqueeze", {zeros, net.vector({1})})});
  const Graph graph = read(net.model);
  EXPECT_EQ(shape_of(graph, expanded), "64x49x96");
  EXPECT_EQ(shape_of(graph, back), "1x8x8x7x7x96");
  EXPECT_EQ(shape_of(graph, pairs), "56x56x56");
  EXPECT_THAT(statistics(graph).unknown_tensors, IsEmpty());
}

// The values are the sizes of what ConstantOfShape makes from them.
struct Computed {
  const char* name;
  std::string (*values)(OnnxNetwork& net);
  const char* wanted;
};

class OnnxValue : public ::testing::TestWithParam<Computed> {};

TEST_P(OnnxValue, IsComputed) {
  OnnxNetwork net;
  net.input("x", {2, 3, 8, 9});
  const std::string result = net.node("ConstantOfShape", {GetParam().values(net)});
  const Graph graph = read(net.model);
  EXPECT_EQ(shape_of(graph, result), GetParam().wanted);
}

std::string shape_of_x(OnnxNetwork& net) { return net.node("Shape", {"x"}); }  // 2, 3, 8, 9

std::string sliced(OnnxNetwork& net, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end,
                   const std::vector<std::int64_t>& step) {
  return net.node("Slice", {shape_of_x(net), net.vector(begin), net.vector(end), net.vector({0}), net.vector(step)});
}

std::string cast(OnnxNetwork& net, const std::string& from, int type) {
  net.node("Cast", {from});
  return net.with("to", std::int64_t{type});
}

const Computed computed[] = {
    {"Add",
     [](OnnxNetwork& n) {
       return n.node("Add", {shape_of_x(n), n.scalar(1)});
     },
     "3x4x9x10"},
    {"Sub",
     [](OnnxNetwork& n) {
       return n.node("Sub", {shape_of_x(n), n.vector({1, 1, 1, 1})});
     },
     "1x2x7x8"},
    {"Mul",
     [](OnnxNetwork& n) {
       return n.node("Mul", {shape_of_x(n), n.scalar(2)});
     },
     "4x6x16x18"},
    {"DivTowardsZero",
     [](OnnxNetwork& n) {
       return n.node("Div", {n.vector({-7, 9}), n.vector({-2, 2})});
     },
     "3x4"},
    {"ModOfANegativeNumber",
     [](OnnxNetwork& n) {
       return n.node("Mod", {n.vector({-7, 9}), n.vector({4, 4})});
     },
     "1x1"},
    {"Min",
     [](OnnxNetwork& n) {
       return n.node("Min", {shape_of_x(n), n.scalar(5)});
     },
     "2x3x5x5"},
    {"Max",
     [](OnnxNetwork& n) {
       return n.node("Max", {shape_of_x(n), n.scalar(5)});
     },
     "5x5x8x9"},
    {"NegAbs", [](OnnxNetwork& n) { return n.node("Abs", {n.node("Neg", {shape_of_x(n)})}); }, "2x3x8x9"},
    {"CeilOfAQuotient",
     [](OnnxNetwork& n) {
       const std::string real = n.node("Div", {cast(n, shape_of_x(n), onnx::TensorProto::FLOAT), n.real(2)});
       return cast(n, n.node("Ceil", {real}), onnx::TensorProto::INT64);
     },
     "1x2x4x5"},
    {"FloorOfASquareRoot",
     [](OnnxNetwork& n) {
       const std::string root = n.node("Sqrt", {cast(n, shape_of_x(n), onnx::TensorProto::FLOAT)});
       return cast(n, n.node("Floor", {root}), onnx::TensorProto::INT64);
     },
     "1x1x2x3"},
    {"Where",
     [](OnnxNetwork& n) {
       const std::string large = n.node("Greater", {shape_of_x(n), n.scalar(5)});
       return n.node("Where", {large, n.scalar(1), shape_of_x(n)});
     },
     "2x3x1x1"},
    {"LogicOfConditions",
     [](OnnxNetwork& n) {
       const std::string large = n.node("Greater", {shape_of_x(n), n.scalar(2)});
       const std::string small = n.node("Less", {shape_of_x(n), n.scalar(9)});
       return n.node("Where", {n.node("Not", {n.node("And", {large, small})}), n.scalar(1), n.scalar(4)});
     },
     "1x4x4x1"},
    {"SliceBackwards", [](OnnxNetwork& n) { return sliced(n, {-1}, {-4}, {-2}); }, "9x3"},
    {"SliceBeyondTheEnd", [](OnnxNetwork& n) { return sliced(n, {2}, {INT64_MAX}, {1}); }, "8x9"},
    {"GatherOfNegativeIndices",
     [](OnnxNetwork& n) {
       return n.node("Gather", {shape_of_x(n), n.vector({-1, 0})});
     },
     "9x2"},
    {"GatherElements",
     [](OnnxNetwork& n) {
       return n.node("GatherElements", {shape_of_x(n), n.vector({3, 3, 1})});
     },
     "9x9x3"},
    {"ScatterND",
     [](OnnxNetwork& n) {
       const std::string index = n.node("Unsqueeze", {n.vector({2}), n.vector({1})});
       return n.node("ScatterND", {shape_of_x(n), index, n.vector({5})});
     },
     "2x3x5x9"},
    {"Range",
     [](OnnxNetwork& n) {
       return n.node("Range", {n.scalar(1), n.scalar(8), n.scalar(3)});
     },
     "1x4x7"},
    {"ReduceProd",
     [](OnnxNetwork& n) {
       n.node("ReduceProd", {shape_of_x(n)});
       return n.with("keepdims", std::int64_t{1});
     },
     "432"},
    {"ReduceMax", [](OnnxNetwork& n) { return n.node("ReduceMax", {shape_of_x(n)}); }, "9"},
    {"CumSum",
     [](OnnxNetwork& n) {
       return n.node("CumSum", {shape_of_x(n), n.scalar(0)});
     },
     "2x5x13x22"},
    {"Tile",
     [](OnnxNetwork& n) {
       return n.node("Tile", {n.vector({2, 3}), n.vector({2})});
     },
     "2x3x2x3"},
    {"Expand",
     [](OnnxNetwork& n) {
       return n.node("Expand", {n.vector({4}), n.vector({3})});
     },
     "4x4x4"},
    {"Size",
     [](OnnxNetwork& n) {
       return n.node("Unsqueeze", {n.node("Size", {"x"}), n.vector({0})});
     },
     "432"},
    {"NonZero",
     [](OnnxNetwork& n) {
       const std::string places = n.node("NonZero", {n.node("Greater", {shape_of_x(n), n.scalar(5)})});
       return n.node("Add", {n.node("Squeeze", {places, n.vector({0})}), n.scalar(1)});
     },
     "3x4"},
    {"TransposeAndReshape",
     [](OnnxNetwork& n) {
       const std::string table = n.node("Reshape", {shape_of_x(n), n.vector({2, -1})});
       return n.node("Reshape", {n.node("Transpose", {table}), n.vector({-1})});
     },
     "2x8x3x9"},
};
INSTANTIATE_TEST_SUITE_P(Ops, OnnxValue, ::testing::ValuesIn(computed),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(OnnxValues, TheKnownPartOfATargetIsUsed) {
  OnnxNetwork net;
  net.input("x", {"N", 6, 4});
  const std::string target = joined(net, {size_of(net, "x", 0), net.vector({24})});
  const std::string reshaped = net.node("Reshape", {"x", target});
  EXPECT_EQ(shape_of(read(net.model), reshaped), "?x24");
}

TEST(OnnxValues, PartsOfASplitOfUnequalSizeAreThoseOfOpset18) {
  OnnxNetwork net(18);
  net.input("x", {2, 7});
  auto& split = *net.graph().add_node() = make_node("Split", "split", {"x"}, {"a", "b", "c"});
  add_attribute(split, "num_outputs", onnx::AttributeProto::INT).set_i(3);
  add_attribute(split, "axis", onnx::AttributeProto::INT).set_i(1);
  net.node("ReduceMean", {"a", net.vector({1})});
  const std::string mean = net.with("keepdims", std::int64_t{0});
  const Graph graph = read(net.model);
  EXPECT_EQ(shape_of(graph, "a"), "2x3");
  EXPECT_EQ(shape_of(graph, "c"), "2x1");
  EXPECT_EQ(shape_of(graph, mean), "2");
}

// Tables of a million elements, multiplied again and again, must not cost time or memory.
TEST(OnnxValues, LargeTensorsAreLeftOut) {
  OnnxNetwork net;
  net.input("x", {1 << 10, 1 << 10});
  std::string table = net.node("ConstantOfShape", {net.node("Shape", {"x"})});
  for (int i = 0; i < 2000; ++i) table = net.node("Add", {table, table});
  EXPECT_EQ(shape_of(read(net.model), table), "1024x1024");
}

TEST(OnnxValues, TheBudgetEndsTheWorkAndNotTheReading) {
  OnnxNetwork net;
  net.input("x", {250, 250});
  std::string table = net.node("ConstantOfShape", {net.node("Shape", {"x"})});
  for (int i = 0; i < 5000; ++i) table = net.node("Add", {table, table});
  EXPECT_EQ(shape_of(read(net.model), table), "250x250");
}

// libonnx crashes on a Shape whose input has no type.
TEST(OnnxValues, TheShapeOfWhatAnUnknownOpGivesIsNotKnown) {
  OnnxNetwork net;
  const std::string unknown = net.node("Custom", {net.input("x", {2, 4})});
  net.last_node().set_domain("somebody");
  const std::string y = net.node("ConstantOfShape", {net.node("Shape", {unknown})});
  EXPECT_EQ(shape_of(read(net.model), y), Shape().str());
}

TEST(OnnxBounds, SizesThatDependOnDataAreTakenAtTheirUpperBound) {
  OnnxNetwork net;
  const std::string boxes = net.input("boxes", {1, 50, 4}), scores = net.input("scores", {1, 3, 50});
  const std::string k = net.input("k", {1}, onnx::TensorProto::INT64);
  const std::string selected = net.node("NonMaxSuppression", {boxes, scores, net.scalar(20)});
  const std::string any =
      net.node("NonMaxSuppression", {boxes, scores, net.input("most", {}, onnx::TensorProto::INT64)});
  const std::string nonzero = net.node("NonZero", {scores});
  const std::string turned = net.node("Transpose", {nonzero});
  *net.graph().add_node() = make_node("TopK", "top", {scores, k}, {"best", "at"});
  ::testing::internal::CaptureStderr();
  const Graph graph = read(net.model);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("sizes that depend on data are taken at their upper bound in 4 ops; the first is"));
  EXPECT_EQ(shape_of(graph, selected), "60x3");
  EXPECT_EQ(shape_of(graph, any), "150x3");
  EXPECT_EQ(shape_of(graph, turned), "150x3");
  EXPECT_EQ(shape_of(graph, "best"), "1x3x50");
  EXPECT_EQ(shape_of(graph, "at"), "1x3x50");
}

// PyTorch writes the shape of a scalar as an empty list.
TEST(OnnxValues, AConstantMayHaveNoElements) {
  OnnxNetwork net;
  const std::string x = net.input("x", {1, 1});
  const std::string none = net.node("Constant", {});
  net.with("value_ints", std::vector<std::int64_t>{});
  const std::string scalar = net.node("Reshape", {x, none});
  ::testing::internal::CaptureStderr();
  const Graph graph = read(net.model);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), IsEmpty());
  EXPECT_EQ(shape_of(graph, none), "0");
  EXPECT_EQ(shape_of(graph, scalar), "scalar");
}

// Opset 23. The values may be wider than the queries; several heads may lie side by side: 6 heads of 4 queries, 2 heads
// of 5 values.
TEST(OnnxValues, AttentionHasTheQueriesSizesAndTheValuesWidth) {
  OnnxNetwork net(23);
  const auto input = [&](const char* name, const std::vector<Dim>& dims) { return net.input(name, dims); };
  const std::string apart =
      net.node("Attention", {input("q", {1, 2, 3, 4}), input("k", {1, 2, 7, 4}), input("v", {1, 2, 7, 5})});
  const std::string together =
      net.node("Attention", {input("queries", {1, 3, 24}), input("keys", {1, 7, 8}), input("values", {1, 7, 10})});
  net.with("q_num_heads", std::int64_t{6});
  net.with("kv_num_heads", std::int64_t{2});
  const std::string turned = net.node("RotaryEmbedding", {apart, net.weight({3, 2}), net.weight({3, 2})});
  const std::string normal = net.node("RMSNormalization", {turned, net.weight({5})});
  const Graph graph = read(net.model);
  EXPECT_EQ(shape_of(graph, apart), "1x2x3x5");
  EXPECT_EQ(shape_of(graph, together), "1x3x30");
  EXPECT_EQ(shape_of(graph, normal), "1x2x3x5");
  EXPECT_THAT(statistics(graph).uncosted_ops, IsEmpty());
}

// Both masks may have equally many elements that are not zero, but their bounds differ.
TEST(OnnxBounds, AreNotTakenWhereTheyContradictEachOther) {
  OnnxNetwork net;
  const std::string first = net.node("NonZero", {net.input("a", {10})});
  const std::string second = net.node("NonZero", {net.input("b", {20})});
  const std::string sum = net.node("Add", {first, second});
  EXPECT_EQ(shape_of(read(net.model), sum), "1x?");
}

TEST(OnnxDropout, HasTheModeThatItsThirdInputGives) {
  for (const bool trains : {true, false}) {
    OnnxNetwork net;
    net.input("x", {2, 4});
    const std::string mode = net.boolean(trains);
    *net.graph().add_node() = make_node("Dropout", "drop", {"x", "", mode}, {"y"});
    const Graph graph = read(net.model);
    const auto op = std::ranges::find(graph.ops, "drop", &GraphOp::name);
    ASSERT_NE(op, graph.ops.end());
    EXPECT_EQ(op->attributes.at("training_mode"), Attribute{std::int64_t{trains ? 1 : 0}});
  }
}

// Values that a shape may follow from are computed; 2^40 numbers of a mask are not.
TEST(OnnxValues, TakeLittleMemoryHoweverLargeAConstantWouldBe) {
  for (const char* type : {"Expand", "Tile", "ConstantOfShape"}) {
    OnnxNetwork net;
    const std::string large = net.vector({std::int64_t{1} << 20, std::int64_t{1} << 20});
    const std::string x = net.input("x", {1, 1});
    const std::string made = std::string(type) == "ConstantOfShape"
                                 ? net.node(type, {large})
                                 : net.node(type, {net.node("Reshape", {net.vector({7}), net.vector({1, 1})}), large});
    net.node("Add", {net.node("Cast", {made}), x});
    const Graph graph = read(net.model);
    EXPECT_EQ(shape_of(graph, made), "1048576x1048576");
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);  // where values are computed
    EXPECT_LT(used.ru_maxrss, 512 * 1024) << type << ", KiB";
  }
}

}  // namespace
}  // namespace emplace::formats::onnx_values_test
