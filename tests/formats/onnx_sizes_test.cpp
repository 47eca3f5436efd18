// Sizes that the user gives in place of those of the export, and sizes that contradict each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/onnx/grown_targets.hpp"
#include "formats/onnx/reshape_targets.hpp"
#include "graph/ops/op_table.hpp"
#include "tests/formats/onnx_network.hpp"

namespace emplace::formats::onnx_sizes_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

const std::string read_without_error = "read without an error";

std::string error_of(const onnx::ModelProto& model, const ReadOptions& options = {}) {
  try {
    (void)read(model, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return read_without_error;
}

// Attention over 4 tokens of 6 numbers, 2 heads of 3, as an exporter writes it at batch 1: its batch is in the targets.
struct Attention {
  explicit Attention(const std::vector<Dim>& input) {
    net.input("x", input);
    const std::string flat = net.node("Reshape", {"x", net.vector({-1, 6})});
    const std::string query = net.node("MatMul", {flat, net.weight({6, 6})});
    const std::string split = net.node("Reshape", {query, net.vector({1, 4, 2, 3})});
    net.node("Transpose", {split});
    heads = net.with("perm", std::vector<std::int64_t>{0, 2, 1, 3});
    net.node("Transpose", {heads});
    const std::string keys = net.with("perm", std::vector<std::int64_t>{0, 1, 3, 2});
    scores = net.node("MatMul", {heads, keys});
    const std::string mixed = net.node("MatMul", {scores, heads});
    net.node("Transpose", {mixed});
    const std::string back = net.with("perm", std::vector<std::int64_t>{0, 2, 1, 3});
    joined = net.node("Reshape", {back, net.vector({1, 4, 6})});
    result = net.node("Add", {joined, "x"});
  }
  OnnxNetwork net;
  std::string heads, scores, joined, result;
};

TEST(OnnxSizes, TargetsOfTheExportedBatchTakeTheGivenOne) {
  for (const bool symbolic : {false, true}) {
    const Attention attention(symbolic ? std::vector<Dim>{"N", 4, 6} : std::vector<Dim>{1, 4, 6});
    const double one = statistics(read(attention.net.model, {.shapes = {{"x", {1, 4, 6}}}, .batch = {}})).flops;
    ::testing::internal::CaptureStderr();
    const Graph graph = read(attention.net.model, {.shapes = {{"x", {8, 4, 6}}}, .batch = {}});
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                AllOf(HasSubstr("sizes of the exported batch were replaced in the targets of 2 Reshape nodes"),
                      HasSubstr("1x4x2x3 is now 8x4x2x3")));
    EXPECT_EQ(shape_of(graph, attention.scores), "8x2x4x4");
    EXPECT_EQ(shape_of(graph, attention.result), "8x4x6");
    EXPECT_EQ(statistics(graph).flops, 8 * one);
  }
}

TEST(OnnxSizes, TargetsOfTheExportedLengthTakeTheGivenOne) {
  const Attention attention({1, 4, 6});
  const Graph graph = read(attention.net.model, {.shapes = {{"x", {8, 5, 6}}}, .batch = {}});
  EXPECT_EQ(shape_of(graph, attention.scores), "8x2x5x5");
  EXPECT_EQ(shape_of(graph, attention.result), "8x5x6");
}

TEST(OnnxSizes, AnOpenSizeBehindTheExportedBatchStaysWhatItWas) {
  OnnxNetwork net;
  net.input("x", {1, 4, 6});
  const std::string y = net.node("Reshape", {"x", net.vector({1, -1, 2, 3})});
  EXPECT_EQ(shape_of(read(net.model, {.shapes = {{"x", {8, 4, 6}}}, .batch = {}}), y), "8x4x2x3");
}

TEST(OnnxSizes, FittedTargetsKeepAllElements) {
  using Sizes = std::vector<std::int64_t>;
  const auto fitted = [](const Shape& input, const Sizes& target, const std::vector<ReplacedSize>& replaced = {}) {
    return fitted_target(input, target, replaced);
  };
  EXPECT_THAT(fitted({8, 128, 768}, {1, 128, 12, 64}), Optional(Sizes{8, 128, 12, 64}));
  EXPECT_THAT(fitted({8, 256, 768}, {1, 128, 12, 64}), Optional(Sizes{8, 256, 12, 64}));
  EXPECT_THAT(fitted({8, 128, 768}, {128, 768}), Optional(Sizes{1024, 768}));
  EXPECT_THAT(fitted({8, 12, 128, 64}, {12, 128, 64}), Optional(Sizes{96, 128, 64}));
  EXPECT_THAT(fitted({2048, 2304}, {1, 128, 2304}, {{1, 8}, {128, 256}}), Optional(Sizes{8, 256, 2304}));
  EXPECT_EQ(fitted({8, 4}, {8, 4}), std::nullopt);   // it fits
  EXPECT_EQ(fitted({5, 7}, {2, 3}), std::nullopt);   // nothing fits
  EXPECT_EQ(fitted({5, -1}, {2, 3}), std::nullopt);  // not known
  EXPECT_EQ(fitted({0, 7}, {2, 3}), std::nullopt);
}

// -1 anywhere in a target is what it was when the model was exported; the batch goes where it was.
TEST(OnnxSizes, AnOpenSizeAtAnyPlaceStaysWhatItWas) {
  const auto grown = [](const std::vector<std::int64_t>& target) {
    OnnxNetwork net;
    net.input("x", {1, 2, 5, 3});
    const std::string y = net.node("Reshape", {"x", net.vector(target)});
    return shape_of(read(net.model, {.shapes = {{"x", {8, 2, 5, 3}}}, .batch = {}}), y);
  };
  EXPECT_EQ(grown({2, -1, 3}), "16x5x3");
  EXPECT_EQ(grown({-1, 5, 3}), "16x5x3");
  EXPECT_EQ(grown({2, 5, -1}), "16x5x3");
  EXPECT_EQ(grown({10, -1}), "80x3");
  EXPECT_EQ(grown({1, -1}), "8x30");
  EXPECT_EQ(grown({1, 2, -1}), "8x2x15");
  EXPECT_EQ(grown({0, 0, -1}), "8x2x15");
  EXPECT_EQ(grown({-1}), "240");
}

TEST(OnnxSizes, MergedHeadsOfAnyBatchHaveSoManyTimesTheFlops) {
  OnnxNetwork net;
  net.input("x", {1, 2, 5, 3});
  const std::string heads = net.node("Reshape", {"x", net.vector({2, -1, 3})});
  net.node("Transpose", {heads});
  const std::string keys = net.with("perm", std::vector<std::int64_t>{0, 2, 1});
  const std::string scores = net.node("MatMul", {heads, keys});
  const Graph one = read(net.model), eight = read(net.model, {.shapes = {{"x", {8, 2, 5, 3}}}, .batch = {}});
  EXPECT_EQ(shape_of(eight, scores), "16x5x5");
  EXPECT_EQ(statistics(eight).flops, 8 * statistics(one).flops);
}

TEST(OnnxSizes, GrownTargetsPutEachSizeWhereItWas) {
  using Sizes = std::vector<std::int64_t>;
  const auto grown = [](const Sizes& before, const Sizes& output, const Sizes& now, Sizes target = {},
                        const std::vector<ReplacedSize>& replaced = {{1, 8}}) {
    if (target.empty()) target = output;
    return grown_target({before, output, target}, now, replaced);
  };
  // The length and the batch.
  EXPECT_THAT(grown({1, 128, 768}, {1, 128, 12, 64}, {8, 256, 768}), Optional(Sizes{8, 256, 12, 64}));
  EXPECT_THAT(grown({128, 768}, {1, 128, 768}, {2048, 768}, {}, {{1, 8}, {128, 256}}), Optional(Sizes{8, 256, 768}));
  EXPECT_THAT(grown({12, 128, 64}, {1, 12, 128, 64}, {96, 128, 64}), Optional(Sizes{8, 12, 128, 64}));
  // A batch of 2 whose size another dimension has too.
  EXPECT_THAT(grown({2, 2, 5}, {4, 5}, {8, 2, 5}, {}, {{2, 8}}), Optional(Sizes{16, 5}));
  EXPECT_THAT(grown({4, 5}, {2, 2, 5}, {16, 5}, {}, {{2, 8}}), Optional(Sizes{8, 2, 5}));
  // A batch between time and features: only an open size says to which it belongs.
  EXPECT_THAT(grown({128, 1, 768}, {128, 768}, {128, 8, 768}, {-1, 768}), Optional(Sizes{1024, 768}));
  EXPECT_THAT(grown({128, 1, 768}, {128, 12, 64}, {128, 8, 768}, {128, -1, 64}), Optional(Sizes{128, 96, 64}));
  EXPECT_EQ(grown({128, 1, 768}, {128, 12, 64}, {128, 8, 768}), std::nullopt);
  // Windows of an image: of 8 x 7 either may grow, unless one is open.
  EXPECT_EQ(grown({1, 56, 96}, {1, 8, 7, 96}, {1, 112, 96}, {}, {{224, 448}}), std::nullopt);
  EXPECT_THAT(grown({1, 56, 96}, {1, 8, 7, 96}, {1, 112, 96}, {1, -1, 7, 96}, {{224, 448}}),
              Optional(Sizes{1, 16, 7, 96}));
  EXPECT_EQ(grown({1, 56}, {8, 7}, {1, 57}), std::nullopt);
  // A size that was 1 and is open takes what has no other place.
  EXPECT_THAT(grown({1, 512, 1, 1}, {1, 512}, {1, 512, 7, 7}, {-1, 512}, {{1, 7}}), Optional(Sizes{49, 512}));
  EXPECT_THAT(grown({1, 512, 1, 1}, {1, 512}, {8, 512, 7, 7}, {-1, 512}, {{1, 8}, {1, 7}}), Optional(Sizes{392, 512}));
  EXPECT_THAT(grown({1, 1}, {1}, {8, 4}, {-1}, {{1, 8}, {1, 4}}), Optional(Sizes{32}));
}

TEST(OnnxSizes, ATargetWithoutAUniqueAnswerIsRefusedByName) {
  OnnxNetwork net;
  net.input("x", {5, 1, 6});
  *net.graph().add_node() = make_node("Reshape", "view", {"x", net.vector({5, 3, 2})}, {"y"});
  EXPECT_THAT(
      error_of(net.model, {.shapes = {{"x", {5, 8, 6}}}, .batch = {}}),
      AllOf(HasSubstr("node 'view' (Reshape): its target 5x3x2 was exported for an input of 5x1x6, which is now "
                      "5x8x6"),
            HasSubstr("export the model again, with these sizes or with open ones")));
}

std::vector<Dim> dims_of(const std::vector<std::int64_t>& sizes) {
  std::vector<Dim> dims;
  for (const std::int64_t size : sizes) dims.emplace_back(static_cast<int>(size));
  return dims;
}

TEST(OnnxSizes, ProductsWhoseInnerSizesDifferAreRefusedByName) {
  const auto refusal = [](const std::string& type, const std::vector<std::int64_t>& a,
                          const std::vector<std::int64_t>& b, const char* attribute = nullptr) {
    OnnxNetwork net;
    net.input("x", dims_of(a));
    *net.graph().add_node() = make_node(type, "product", {"x", net.weight(b)}, {"y"});
    if (attribute != nullptr)
      add_attribute(*net.graph().mutable_node(0), attribute, onnx::AttributeProto::INT).set_i(1);
    return error_of(net.model);
  };
  EXPECT_THAT(refusal("MatMul", {1, 1, 30}, {20, 7}),
              AllOf(HasSubstr("node 'product' (MatMul): its input 'x' of shape 1x1x30 has 30 columns, its input "),
                    HasSubstr("of shape 20x7 has 20 rows")));
  EXPECT_THAT(refusal("MatMul", {3, 2, 4}, {5, 4, 6}), HasSubstr("are batches of 3 and 5 matrices"));
  EXPECT_THAT(refusal("Gemm", {8, 6}, {7, 5}), HasSubstr("node 'product' (Gemm): its input 'x' of shape 8x6 has 6"));
  EXPECT_THAT(refusal("Gemm", {8, 6}, {6, 5}, "transB"), HasSubstr("has 5 rows (after transA and transB)"));
  EXPECT_EQ(refusal("Gemm", {8, 5}, {6, 5}, "transB"), read_without_error);
  EXPECT_EQ(refusal("Gemm", {6, 8}, {6, 5}, "transA"), read_without_error);
  EXPECT_EQ(refusal("MatMul", {3, 2, 4}, {4, 6}), read_without_error);
  EXPECT_EQ(refusal("MatMul", {4}, {3, 4, 6}), read_without_error);
}

TEST(OnnxSizes, WeightsForOtherChannelsOrFeaturesAreRefusedByName) {
  const auto refusal = [](const std::string& type, const std::vector<std::int64_t>& x,
                          const std::vector<std::vector<std::int64_t>>& weights, const char* attribute, int value) {
    OnnxNetwork net;
    net.input("x", dims_of(x));
    onnx::NodeProto node = make_node(type, "layer", {"x"}, {"y"});
    for (const auto& weight : weights) node.add_input(net.weight(weight));
    add_attribute(node, attribute, onnx::AttributeProto::INT).set_i(value);
    *net.graph().add_node() = node;
    return error_of(net.model);
  };
  EXPECT_THAT(refusal("Conv", {8, 4, 9, 9}, {{6, 3, 3, 3}}, "group", 1),
              AllOf(HasSubstr("node 'layer' (Conv): its input 'x' of shape 8x4x9x9 has 4 channels, its weights "),
                    HasSubstr("of shape 6x3x3x3 are for 3")));
  EXPECT_THAT(refusal("Conv", {8, 4, 9, 9}, {{6, 1, 3, 3}}, "group", 2), HasSubstr("are for 1 in each group"));
  EXPECT_EQ(refusal("Conv", {8, 4, 9, 9}, {{6, 2, 3, 3}}, "group", 2), read_without_error);
  EXPECT_THAT(refusal("ConvTranspose", {8, 4, 9, 9}, {{6, 3, 3, 3}}, "group", 1), HasSubstr("are for 6"));
  EXPECT_EQ(refusal("ConvTranspose", {8, 6, 9, 9}, {{6, 1, 3, 3}}, "group", 3), read_without_error);
  EXPECT_THAT(refusal("LSTM", {5, 8, 7}, {{1, 16, 6}, {1, 16, 4}}, "hidden_size", 4),
              HasSubstr("node 'layer' (LSTM): its input 'x' of shape 5x8x7 has 7 features, its weights"));
  EXPECT_EQ(refusal("LSTM", {5, 8, 6}, {{1, 16, 6}, {1, 16, 4}}, "hidden_size", 4), read_without_error);
}

TEST(OnnxSizes, AProductOfSizesAbove2To62IsNoNegativeSize) {
  OnnxNetwork net;
  net.input("x", {"N", "M", 64});
  *net.graph().add_node() = make_node("Flatten", "flat", {"x"}, {"y"});
  add_attribute(*net.graph().mutable_node(0), "axis", onnx::AttributeProto::INT).set_i(2);
  EXPECT_THAT(error_of(net.model, {.shapes = {{"x", {4'000'000'000, 4'000'000'000, 64}}}, .batch = {}}),
              HasSubstr("node 'flat' (Flatten): its output 'y' would have more than 2^62 elements"));
}

TEST(OnnxSizes, AReshapeThatLosesElementsIsRefusedByName) {
  OnnxNetwork net;
  net.input("x", {5, 7});
  *net.graph().add_node() = make_node("Reshape", "view", {"x", net.vector({2, 3})}, {"y"});
  EXPECT_THAT(
      error_of(net.model),
      HasSubstr("node 'view' (Reshape): its input 'x' of shape 5x7 has 35 elements, its output of shape 2x3 has 6"));
  net.graph().mutable_node(0)->set_input(1, net.vector({4, -1}));
  EXPECT_THAT(error_of(net.model), HasSubstr("of shape 5x7 cannot be divided into parts of 4"));
}

TEST(OnnxSizes, OperandsThatDoNotFitAreRefusedByName) {
  OnnxNetwork sum;
  sum.input("a", {8, 5});
  sum.input("b", {8, 4});
  *sum.graph().add_node() = make_node("Add", "sum", {"a", "b"}, {"y"});
  EXPECT_THAT(error_of(sum.model), HasSubstr("node 'sum' (Add): its input 'b' of shape 8x4 does not broadcast with"));
  sum.graph().mutable_node(0)->set_op_type("Concat");
  add_attribute(*sum.graph().mutable_node(0), "axis", onnx::AttributeProto::INT).set_i(0);
  EXPECT_THAT(error_of(sum.model), HasSubstr("its input 'b' of shape 8x4 cannot be joined to 8x5 along axis 0"));
}

TEST(OnnxSizes, ResultsAbove2To62AreRefusedAndNotWrappedAround) {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  OnnxNetwork tile;
  tile.input("x", {1, 4});
  *tile.graph().add_node() = make_node("Tile", "tile", {"x", tile.vector({1, huge + 1})}, {"y"});
  EXPECT_THAT(error_of(tile.model), HasSubstr("node 'tile' (Tile): it repeats dimension 1 of size 4"));

  OnnxNetwork concat;
  concat.input("x", {"N"});
  *concat.graph().add_node() = make_node("Concat", "concat", {"x", "x", "x", "x"}, {"y"});
  add_attribute(*concat.graph().mutable_node(0), "axis", onnx::AttributeProto::INT).set_i(0);
  EXPECT_THAT(error_of(concat.model, {.shapes = {{"x", {huge}}}, .batch = {}}),
              HasSubstr("node 'concat' (Concat): the sizes of its inputs add up to more than 2^62"));
}

TEST(OnnxSizes, ConvolutionsHaveAtLeastOneGroup) {
  for (const std::int64_t groups : {0, -3}) {
    onnx::ModelProto model = conv_model({1, 3, 8, 8});
    add_attribute(*model.mutable_graph()->mutable_node(0), "group", onnx::AttributeProto::INT).set_i(groups);
    EXPECT_THAT(error_of(model), HasSubstr("node 'conv' (Conv): it has " + std::to_string(groups) + " groups"));
  }
}

}  // namespace
}  // namespace emplace::formats::onnx_sizes_test
