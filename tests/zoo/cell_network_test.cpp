// NASNet-A, AmoebaNet-D and the mixture of experts.
#include <gtest/gtest.h>

#include "tests/zoo/figures.hpp"

namespace emplace::zoo::cell_network_test {
namespace {

TEST(NasnetA, HasThePublishedParametersAndMultiplyAdds) {
  // Zoph et al. 2018, table 2: 88.9 M and 23.8 G. Keras' NASNetLarge counts 88,949,818 with running statistics.
  const Graph graph = build_zoo_model("nasnet-a?batch=1");
  EXPECT_EQ(statistics(graph).parameters, 88949818);
  EXPECT_NEAR(multiply_adds(graph), 23.8e9, 0.02 * 23.8e9);
}

TEST(NasnetA, EndsWith4032ChannelsOf11By11) {
  EXPECT_EQ(shape_called(build_zoo_model("nasnet-a?batch=1"), "cell_17/concat"), Shape({1, 4032, 11, 11}));
}

TEST(AmoebanetD, HasTheParametersThatGpipeReports) {
  // Huang et al. 2019, section 3 and table 1: 82 M with 208 filters, 318 M with 416, both of 18 cells; 1.8 G with 72
  // cells of 512.
  const auto parameters = [](const std::string& options) {
    return static_cast<double>(statistics(build_zoo_model("amoebanet-d?batch=1&" + options)).parameters);
  };
  EXPECT_NEAR(parameters("filters=208"), 82e6, 0.02 * 82e6);
  EXPECT_NEAR(parameters("filters=416"), 318e6, 0.02 * 318e6);
  EXPECT_NEAR(parameters("layers=72&filters=512"), 1.8e9, 0.05e9);
}

TEST(AmoebanetD, ConcatenatesTheStatesThatNoneOfItsCellUses) {
  // Four states of 256, 512 and 1024 filters leave a normal cell.
  const Graph graph = build_zoo_model("amoebanet-d?batch=1");
  EXPECT_EQ(model_channels(graph, "cell_0/concat"), 4 * 256);
  EXPECT_EQ(model_channels(graph, "cell_17/concat"), 4 * 1024);
}

TEST(CellNetworks, AddStatesOfEqualSizeWhateverTheImage) {
  for (const char* model : {"nasnet-a", "amoebanet-d"})
    for (const char* image : {"75", "96", "97", "224", "331"})
      for (const char* layers : {"3", "7"}) {
        const Graph graph =
            build_zoo_model(std::string(model) + "?batch=1&filters=18&image=" + image + "&layers=" + layers);
        for (const GraphOp& op : graph.ops) {
          if (op.type != "Add" && op.type != "Concat") continue;
          const Shape first = graph.tensors[op.inputs[0].index].shape;
          for (const Operand& input : op.inputs) {
            if (!input.is_tensor()) continue;
            Shape shape = graph.tensors[input.index].shape;
            if (op.type == "Concat") shape.dims[1] = first.dims[1];  // channels side by side
            EXPECT_EQ(shape, first) << model << " " << image << " " << op.name;
          }
        }
      }
}

TEST(MoeTransformer, HasTheWeightsOfItsArchitecture) {
  // H = 64, V = 100, S = 16, E = 4, 2 layers: words V H, positions S H; both layers attention 4 H^2 + 4 H and two
  // normalisations 4 H; a feed-forward part 8 H^2 + 5 H in the first layer, E of them and the gate E H in the second;
  // the last normalisation 2 H.
  constexpr std::int64_t h = 64, v = 100, s = 16, e = 4;
  constexpr std::int64_t inner = 8 * h * h + 5 * h;
  EXPECT_EQ(
      trainable_parameters(build_zoo_model("moe-transformer?layers=2&hidden=64&vocabulary=100&sequence=16&experts=4")),
      v * h + s * h + 2 * (4 * h * h + 4 * h + 4 * h) + inner + e * inner + e * h + 2 * h);
}

TEST(MoeTransformer, GivesEachExpertACapacityOf125PercentOfItsShare) {
  // 2 sequences of 16 tokens, each to two experts: 64 places, 16 an expert of four, so 20.
  const Graph graph =
      build_zoo_model("moe-transformer?batch=2&layers=2&hidden=64&vocabulary=100&sequence=16&experts=4&training=true");
  EXPECT_EQ(shape_called(graph, "decoder/1/expert/3/out/add"), Shape({20, 64}));
  EXPECT_EQ(count_of(graph, "TopKGrad"), 1U);
  EXPECT_EQ(count_of(graph, "ScatterNDGrad"), 1U);
}

}  // namespace
}  // namespace emplace::zoo::cell_network_test
