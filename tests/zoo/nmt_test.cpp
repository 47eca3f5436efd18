#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/lower.hpp"
#include "emplace/simulate/engine.hpp"
#include "graph/ops/op_table.hpp"
#include "zoo/zoo.hpp"

namespace emplace::zoo::nmt_test {
namespace {

TEST(Nmt, HasTheWeightsOfItsArchitecture) {
  // V = 32000, H = 1024. Embeddings and softmax: 3 V H + V. LSTMs, (inputs + H) x 4H + 4H: both directions of encoder/0
  // read H, encoder/1 reads 2H, decoder/0 reads word and attention, 2H, decoder/1 reads H. Attention: memory and query
  // H x H, output 2H x H, score H.
  constexpr std::int64_t v = 32000, h = 1024;
  constexpr std::int64_t lstms = 3 * (2 * h * 4 * h + 4 * h) + 2 * (3 * h * 4 * h + 4 * h);
  EXPECT_EQ(statistics(build_zoo_model("nmt")).parameters, 3 * v * h + v + lstms + 4 * h * h + h);
}

TEST(Nmt, SharesEveryRecurrentWeightBetweenAllTimeSteps) {
  const Graph graph = build_zoo_model("nmt?sequence=7&hidden=16&vocabulary=50&batch=3");
  for (const GraphParameter& parameter : graph.parameters) {
    const bool once = parameter.name.starts_with("embedding/") || parameter.name == "attention/memory_weight";
    EXPECT_EQ(parameter.users.size(), once ? 1U : 7U) << parameter.name;
  }
}

TEST(Nmt, LabelsTheLayersThatAnExpertPlaces) {
  const Graph graph = build_zoo_model("nmt?layers=3&sequence=2&hidden=8&vocabulary=20&batch=2&training=true");
  EXPECT_THAT(layers_of(graph),
              ::testing::UnorderedElementsAre("attention", "decoder/0", "decoder/1", "decoder/2", "embedding/source",
                                              "embedding/target", "encoder/0", "encoder/1", "encoder/2", "softmax"));
}

TEST(Nmt, GrowsLinearlyWithTheSequenceAndTheLayers) {
  const auto ops = [](int layers, int sequence) {
    return static_cast<int>(build_zoo_model("nmt?hidden=8&vocabulary=20&batch=2&layers=" + std::to_string(layers) +
                                            "&sequence=" + std::to_string(sequence))
                                .ops.size());
  };
  EXPECT_EQ(ops(2, 12) - ops(2, 11), ops(2, 6) - ops(2, 5));
  // One layer more is one LSTM cell of 13 ops for each step of the encoder and of the decoder.
  EXPECT_EQ(ops(4, 5) - ops(3, 5), 2 * 5 * 13);
}

TEST(Nmt, BuildsASingleLayerWhoseAttentionReadsBothDirections) {
  const Graph graph = build_zoo_model("nmt?layers=1&sequence=3&hidden=8&vocabulary=20&batch=2&training=true");
  for (const GraphParameter& parameter : graph.parameters)
    if (parameter.name == "attention/memory_weight") {
      EXPECT_EQ(parameter.shape, Shape({16, 8}));
    }
}

TEST(Nmt, RunsFasterByLayersOnTwoK40sThanOnTheBestSingleDevice) {
  const machine::Machine machine = machine::load_machine("k40x2");
  const cost::Lowered lowered = cost::lower(build_zoo_model("nmt?training=true"), machine, {}, "nmt");
  const Problem& problem = lowered.problem;
  const auto engine = simulate::make_exact_engine(problem, Schedule::fifo);
  Ticks best_single = Outcome::unknown;
  std::vector<std::uint8_t> gpus;
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    if (problem.devices[d].kind == "gpu") gpus.push_back(static_cast<std::uint8_t>(d));
    Placement single;
    single.device.assign(problem.op_count(), static_cast<std::uint8_t>(d));
    const Outcome outcome = engine->evaluate(single);
    if (outcome.feasible() && (best_single == Outcome::unknown || outcome.makespan < best_single))
      best_single = outcome.makespan;
  }
  ASSERT_EQ(gpus.size(), 2U);
  Placement by_layer;
  for (const GraphOp& op : lowered.graph.ops) {
    const bool first = op.layer == "encoder/0" || op.layer == "decoder/0" || op.layer.starts_with("embedding/");
    by_layer.device.push_back(first ? gpus[0] : gpus[1]);
  }
  const Outcome outcome = engine->evaluate(by_layer);
  EXPECT_TRUE(outcome.feasible());
  ASSERT_NE(best_single, Outcome::unknown);
  EXPECT_LT(outcome.makespan, best_single);
}

}  // namespace
}  // namespace emplace::zoo::nmt_test
