// RNNLM, GNMT, Transformer-XL and WaveNet against published sizes and by hand.
#include <gtest/gtest.h>

#include "tests/zoo/figures.hpp"

namespace emplace::zoo::recurrent_test {
namespace {

TEST(Rnnlm, HasTheParametersOfTheLargeModelOfZarembaEtAl) {
  // 66 M: embedding 10000 x 1500, two LSTMs of (1500 + 1500) x 6000 + 6000, softmax 1500 x 10000 + 10000.
  const std::int64_t parameters = trainable_parameters(build_zoo_model("rnnlm"));
  EXPECT_EQ(parameters, 10000 * 1500 + 2 * (3000 * 6000 + 6000) + 1500 * 10000 + 10000);
  EXPECT_NEAR(static_cast<double>(parameters), 66e6, 0.02 * 66e6);
}

TEST(Rnnlm, AddsAnLstmOf13OpsAStepWithEachLayer) {
  const auto ops = [](int layers) {
    return build_zoo_model("rnnlm?sequence=7&hidden=8&vocabulary=20&layers=" + std::to_string(layers)).ops.size();
  };
  EXPECT_EQ(ops(4) - ops(2), 2U * 7 * 13);
}

TEST(Gnmt, HasTheWeightsOfItsArchitecture) {
  // V = 100, H = 16, 4 layers. Two embeddings and the softmax 3 V H + V. LSTMs, (inputs + H) x 4H + 4H: both directions
  // of encoder/0 read H, encoder/1 reads 2H, encoder/2 and /3 read H; all four of the decoder read 2H (a word or the
  // layer below, and the context). Attention: memory and query H x H, score H.
  constexpr std::int64_t v = 100, h = 16;
  constexpr auto lstm = [](std::int64_t inputs) { return (inputs + h) * 4 * h + 4 * h; };
  const Graph graph = build_zoo_model("gnmt?layers=4&hidden=16&vocabulary=100&sequence=3&batch=2");
  EXPECT_EQ(statistics(graph).parameters, 3 * v * h + v + 4 * lstm(h) + 5 * lstm(2 * h) + 2 * h * h + h);
}

TEST(Gnmt, HasResidualsFromTheThirdLayerOn) {
  // Layers 2 and 3 of 4, in encoder and decoder, at each of 3 steps.
  const Graph graph = build_zoo_model("gnmt?layers=4&hidden=16&vocabulary=100&sequence=3&batch=2");
  std::size_t residuals = 0;
  for (const GraphOp& op : graph.ops) residuals += op.name.find("/residual/") != std::string::npos ? 1 : 0;
  EXPECT_EQ(residuals, 2U * 2 * 3);
}

TEST(TransformerXl, HasThePublishedParametersWith12Layers) {
  // Dai et al. 2019, table 2: 12 layers, 41 M.
  EXPECT_NEAR(static_cast<double>(trainable_parameters(build_zoo_model("transformer-xl?layers=12"))), 41e6,
              0.02 * 41e6);
}

TEST(TransformerXl, AttendsToMemoryWithoutTrainingThroughIt) {
  const std::string small = "transformer-xl?layers=2&hidden=64&sequence=6&memory=4&vocabulary=20&batch=3&training=true";
  const Graph one = build_zoo_model(small), two = build_zoo_model(small + "&segments=2");
  EXPECT_EQ(shape_called(two, "segment0/decoder/0/attention/sum"), Shape({3, 1, 6, 4 + 6}));
  EXPECT_EQ(shape_called(two, "segment1/decoder/0/attention/sum"), Shape({3, 1, 6, 6 + 6}));
  EXPECT_EQ(trainable_parameters(one), trainable_parameters(two));
  EXPECT_EQ(count_of(two, "Detach"), 2U);
  for (const GraphOp& op : two.ops)
    if (op.phase == Phase::backward) {
      EXPECT_NE(two.ops[op.forward_of.index()].type, "Detach");
    }
}

TEST(Wavenet, HasTheWeightsOfItsArchitecture) {
  // R channels: input 2 x 256 R; a layer 2 x 2 R^2 (filter and gate) + 2 R^2 (skip and residual), the last one without
  // its residual; output R^2 + 256 R.
  constexpr std::int64_t r = 16, layers = 2 * 18;
  EXPECT_EQ(trainable_parameters(build_zoo_model("wavenet?batch=1&sequence=50&hidden=16")),
            2 * 256 * r + layers * 6 * r * r - r * r + r * r + 256 * r);
}

TEST(Wavenet, KeepsTheLengthAndDoublesTheDilationUpTo512) {
  const Graph graph = build_zoo_model("wavenet?batch=2&sequence=700&hidden=8&stacks=1&layers=12");
  EXPECT_EQ(shape_called(graph, "stack0/layer11/residual"), Shape{});  // the last layer has none
  EXPECT_EQ(shape_called(graph, "stack0/layer9/residual"), Shape({2, 8, 1, 700}));
  const auto pads = [&](const std::string& name) {
    for (const GraphOp& op : graph.ops)
      if (op.name == name) return std::get<std::vector<std::int64_t>>(op.attributes.at("pads"));
    return std::vector<std::int64_t>{};
  };
  // (top, left, bottom, right): causal, so left only.
  EXPECT_EQ(pads("stack0/layer9/filter"), (std::vector<std::int64_t>{0, 512, 0, 0}));
  EXPECT_EQ(pads("stack0/layer10/filter"), (std::vector<std::int64_t>{0, 1, 0, 0}));
}

}  // namespace
}  // namespace emplace::zoo::recurrent_test
