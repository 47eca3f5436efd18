// Graphs of language models: every cost by hand for small ones.
#include "language/language_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "emplace/base/error.hpp"
#include "graph/ops/op_table.hpp"
#include "tests/language/architectures.hpp"

namespace emplace::language::language_graph_test {
namespace {

using test::dense_architecture;
using test::expert_architecture;
using test::latent_architecture;
using ::testing::HasSubstr;

LanguageModel model_of(const Architecture& a) { return make_language_model(a, "test"); }

Scenario decode(std::int64_t context, std::int64_t sequences) {
  Scenario scenario;
  scenario.context = context;
  scenario.sequences = sequences;
  return scenario;
}

Scenario prefill(std::int64_t context, std::int64_t batch) {
  Scenario scenario;
  scenario.phase = Phase::prefill;
  scenario.context = context;
  scenario.batch = batch;
  return scenario;
}

OpId op_named(const Graph& graph, const std::string& name) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].name == name) return OpId{i};
  ADD_FAILURE() << "no op " << name;
  return OpId{0};
}

OpCost cost_named(const Graph& graph, const std::string& name) { return cost_of(graph, op_named(graph, name)); }

TEST(LanguageGraph, AProductReadsItsQuantisedWeightAndComputesTwoFlopsAMultiplyAdd) {
  Architecture a = dense_architecture();
  a.hidden = 512;
  a.type = "Q4_K";
  const Graph graph = language_graph(model_of(a), decode(1000, 3), "test");
  const OpCost cost = cost_named(graph, "blk.1.ffn_up");  // 512 to 128, for 3 tokens
  EXPECT_EQ(cost.flops, 2.0 * 3 * 512 * 128);
  // 512 x 128 values in blocks of 256 with 144 bytes, and 3 x 512 activations of 4 bytes.
  EXPECT_EQ(cost.bytes_read, 256 * 144 + 3 * 512 * 4);
  EXPECT_EQ(cost.bytes_written, 3 * 128 * 4);
  EXPECT_EQ(cost.cls, OpClass::matmul);
  EXPECT_EQ(resident_bytes(graph, op_named(graph, "blk.1.ffn_up")), 256 * 144);
}

TEST(LanguageGraph, DecodeAttendsToTheWholeContextAndReadsItsCacheOnce) {
  const Graph graph = language_graph(model_of(dense_architecture()), decode(1000, 3), "test");
  const OpCost cost = cost_named(graph, "blk.0.attn");
  // 3 tokens x 8 heads x 1000 scores: products with keys and values of 8, and a softmax of 5.
  EXPECT_EQ(cost.flops, 3.0 * 8 * 1000 * (2 * 8 + 2 * 8 + 5));
  // Keys and values of a token: 2 heads x 8 values, both, of 2 bytes.
  constexpr Bytes cell = 2 * 2 * 8 * 2;
  // Queries of 64, keys and values of 16 for each of 3 tokens, in f32.
  EXPECT_EQ(cost.bytes_read, 3 * 1000 * cell + 3 * (64 + 16 + 16) * 4);
  EXPECT_EQ(cost.bytes_written, 3 * cell + 3 * 64 * 4);
  // Room for 1000 tokens in blocks of 256.
  EXPECT_EQ(resident_bytes(graph, op_named(graph, "blk.0.attn")), 3 * 1024 * cell);
}

TEST(LanguageGraph, PrefillIsTheMeanOfThePartsOfAPrompt) {
  const Scenario scenario = prefill(2048, 512);
  EXPECT_EQ(tokens_of(scenario), 512);
  EXPECT_EQ(steps_of(scenario), 4);
  const Graph graph = language_graph(model_of(dense_architecture()), scenario, "test");
  // Tokens attend to 1, 2, ..., 2048 tokens: 1024.5 in the mean.
  EXPECT_EQ(cost_named(graph, "blk.0.attn").flops, 512 * 8 * 1024.5 * (4 * 8 + 5));
  EXPECT_EQ(cost_named(graph, "blk.0.attn_q").flops, 2.0 * 512 * 64 * 64);
  // Only the last token has an output, and alone passes the last layer's feed-forward part: 64 to 128.
  EXPECT_EQ(cost_named(graph, "output").flops, 2.0 * 64 * 1000);
  EXPECT_EQ(cost_named(graph, "blk.0.ffn_up").flops, 2.0 * 512 * 64 * 128);
  EXPECT_EQ(cost_named(graph, "blk.1.ffn_up").flops, 2.0 * 64 * 128);
  EXPECT_EQ(cost_named(graph, "token_embd").bytes_written, 512 * 64 * 4);
  // After the 4 parts the cache has 512, 1024, 1536 and 2048 tokens: 1280 in the mean, of 64 bytes.
  EXPECT_EQ(cache_read(model_of(dense_architecture()).layers[0], scenario), 1280 * 64);
}

TEST(LanguageGraph, ADecodeStepComputesTwoFlopsAParameterAndToken) {
  Architecture a = dense_architecture();
  a.hidden = 512;
  a.inner = 2048;
  a.key_size = a.value_size = 64;
  const LanguageModel model = model_of(a);
  const double products = static_cast<double>(model.parameters()) - 512 * 1000;  // but for the embedding
  const Graph graph = language_graph(model, decode(1, 4), "test");
  EXPECT_NEAR(statistics(graph).flops, 2 * 4 * products, 0.01 * 2 * 4 * products);
}

TEST(LanguageGraph, ALayerWithAWindowHasAShortCacheAndReadsNoMoreThanTheWindow) {
  Architecture a = dense_architecture();
  a.windows = {300, 0};
  const LanguageModel model = model_of(a);
  Scenario scenario = decode(4096, 2);
  scenario.batch = 100;
  const Graph graph = language_graph(model, scenario, "test");
  EXPECT_EQ(cost_named(graph, "blk.0.attn").flops, 2.0 * 8 * 300 * 37);
  EXPECT_EQ(cost_named(graph, "blk.1.attn").flops, 2.0 * 8 * 4096 * 37);
  // 300 + 100 tokens in blocks of 256.
  EXPECT_EQ(graph.ops[op_named(graph, "blk.0.attn").index()].state_bytes, 2 * 512 * 64);
  EXPECT_EQ(graph.ops[op_named(graph, "blk.1.attn").index()].state_bytes, 2 * 4096 * 64);
  // Of a prompt of 1000 the first 300 tokens attend to 1 to 300, the other 700 to 300.
  EXPECT_DOUBLE_EQ(attended(model.layers[0], prefill(1000, 100)), (300 * 301 / 2 + 700 * 300) / 1000.0);
}

TEST(LanguageGraph, ExpertsReadTheWeightsOfThoseThatAreUsed) {
  const LanguageModel model = model_of(expert_architecture());
  constexpr Bytes expert = 64 * 32 * 2;
  const auto read_by = [&](std::int64_t sequences) {
    const Graph graph = language_graph(model, decode(256, sequences), "test");
    const OpCost cost = cost_named(graph, "blk.1.ffn_up_exps");
    EXPECT_EQ(cost.flops, 2.0 * static_cast<double>(sequences) * 2 * 64 * 32);
    // Without the activations and the numbers of 2 experts a token.
    return cost.bytes_read - sequences * (64 * 4 + 2 * 4);
  };
  EXPECT_EQ(read_by(1), 2 * expert);
  EXPECT_EQ(read_by(3), 6 * expert);
  EXPECT_EQ(read_by(4), 8 * expert);
  EXPECT_EQ(read_by(100), 8 * expert);
}

TEST(LanguageGraph, ExpertsRouterAndSharedExpertsAreUnits) {
  const LanguageModel model = model_of(expert_architecture());
  const Graph graph = language_graph(model, decode(256, 1), "test");
  const auto unit = [&](const std::string& op) { return graph.ops[op_named(graph, op).index()].colocate; };
  EXPECT_EQ(unit("token_embd"), "input");
  EXPECT_EQ(unit("blk.1.attn_q"), "blk.1.attention");
  EXPECT_EQ(unit("blk.1.attn"), "blk.1.attention");
  EXPECT_EQ(unit("blk.1.ffn_norm"), "blk.1.feed_forward");
  EXPECT_EQ(unit("blk.1.ffn_gate_inp"), "blk.1.feed_forward");
  EXPECT_EQ(unit("blk.1.ffn_up_shexp"), "blk.1.feed_forward");
  EXPECT_EQ(unit("blk.1.ffn_up_exps"), "blk.1.experts");
  EXPECT_EQ(unit("blk.1.ffn_sum_exps"), "blk.1.feed_forward");
  EXPECT_EQ(unit("blk.0.ffn_up"), "blk.0.feed_forward");
  EXPECT_EQ(unit("output"), "output");
  std::vector<std::string> names;
  for (const Unit& each : units_of(model, decode(256, 1))) names.push_back(each.name);
  EXPECT_THAT(names, ::testing::ElementsAre("input", "blk.0.attention", "blk.0.feed_forward", "blk.1.attention",
                                            "blk.1.feed_forward", "blk.1.experts", "blk.2.attention",
                                            "blk.2.feed_forward", "blk.2.experts", "output"));
}

TEST(LanguageGraph, LatentAttentionCachesOneCompressedVectorForAllHeads) {
  const LanguageModel model = model_of(latent_architecture());
  const Graph graph = language_graph(model, decode(256, 1), "test");
  // 32 compressed values and 8 rotated ones of 2 bytes.
  EXPECT_EQ(graph.ops[op_named(graph, "blk.1.attn").index()].state_bytes, 256 * 40 * 2);
  // Each of 8 heads: scores with 40 values, sums of 32.
  EXPECT_EQ(cost_named(graph, "blk.1.attn").flops, 8.0 * 256 * (2 * 40 + 2 * 32 + 5));
  EXPECT_EQ(cost_named(graph, "blk.1.attn_q_a").flops, 2.0 * 64 * 40);
  EXPECT_EQ(cost_named(graph, "blk.1.attn_q_b").flops, 2.0 * 40 * 8 * 24);
  EXPECT_EQ(cost_named(graph, "blk.1.attn_kv_a_mqa").flops, 2.0 * 64 * 40);
  EXPECT_EQ(cost_named(graph, "blk.1.attn_k_b").flops, 2.0 * 8 * 16 * 32);
  EXPECT_EQ(cost_named(graph, "blk.1.attn_v_b").flops, 2.0 * 8 * 32 * 16);
  EXPECT_EQ(cost_named(graph, "blk.1.attn_output").flops, 2.0 * 8 * 16 * 64);
}

TEST(LanguageGraph, ATiedOutputHasACopyOfTheEmbeddingThatIsNoParameter) {
  Architecture a = dense_architecture();
  a.tied = true;
  const LanguageModel model = model_of(a);
  const Graph graph = language_graph(model, decode(256, 1), "test");
  EXPECT_EQ(copied_bytes(model), 64 * 1000 * 2);
  EXPECT_EQ(resident_bytes(graph, op_named(graph, "output")), 64 * 1000 * 2);
  EXPECT_EQ(resident_bytes(graph, op_named(graph, "token_embd")), 64 * 1000 * 2);
  EXPECT_EQ(statistics(graph).parameters, model.parameters());
}

TEST(LanguageGraph, LogitsOfGemma2PassATanh) {
  Architecture a = dense_architecture();
  a.tied = true;
  EXPECT_EQ(language_graph(model_of(a), decode(256, 1), "test").ops.back().name, "output");
  a.architecture = "gemma2";
  const Graph graph = language_graph(model_of(a), decode(256, 3), "test");
  EXPECT_EQ(graph.ops.back().name, "output_cap");
  EXPECT_EQ(cost_named(graph, "output_cap").flops, 3 * 1000);
}

TEST(LanguageGraph, WeightsThatNoOpKnowsAreProductsOrOperands) {
  LanguageModel model = model_of(dense_architecture());
  model.layers[0].weights.push_back({"attn_gate.weight", {64, 96}, "F16", 64 * 96 * 2});
  model.layers[0].weights.push_back({"layer_scale", {64}, "F32", 256});
  model.output.push_back({"rope_freqs.weight", {4}, "F32", 16});
  const Graph graph = language_graph(model, decode(256, 1), "test");
  EXPECT_EQ(cost_named(graph, "blk.0.attn_gate").flops, 2.0 * 64 * 96);
  EXPECT_EQ(resident_bytes(graph, op_named(graph, "blk.0.attn_residual")), 256);
}

// Found by fuzzing: a bias of an output whose matrix is the embedding's, and weights beside the output's matrix.
TEST(LanguageGraph, EveryWeightOfTheOutputIsInAnOp) {
  for (const bool tied : {false, true}) {
    Architecture a = dense_architecture();
    a.tied = tied;
    LanguageModel model = model_of(a);
    model.output.push_back({"output.bias", {1000}, "F32", 4000});
    model.output.push_back({"output.extra.weight", {64, 96}, "F16", 64 * 96 * 2});
    const Graph graph = language_graph(model, decode(256, 1), "test");
    EXPECT_EQ(cost_named(graph, "output.extra").flops, 2.0 * 64 * 96);
    EXPECT_EQ(statistics(graph).parameters, model.parameters());
    EXPECT_EQ(resident_bytes(graph, op_named(graph, "output")), 64 * 1000 * 2 + (tied ? 0 : 4000));
  }
}

std::string refusal(const Scenario& scenario, const LanguageModel& model = model_of(dense_architecture())) {
  try {
    (void)language_graph(model, scenario, "model.gguf");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LanguageGraph, ScenariosOutOfBoundsAreRefused) {
  EXPECT_THAT(refusal(decode(0, 1)), HasSubstr("model.gguf: context is 0; it must be 1 to 1073741824"));
  EXPECT_THAT(refusal(decode(256, 0)), HasSubstr("sequences is 0"));
  EXPECT_THAT(refusal(decode(std::int64_t{1} << 40, 1)), HasSubstr("context is 1099511627776"));
  EXPECT_THAT(refusal(prefill(256, -1)), HasSubstr("batch is -1"));
  Scenario scenario = decode(256, 1);
  scenario.length = 257;
  EXPECT_THAT(refusal(scenario), HasSubstr("length is 257, but the context has 256 tokens"));
  scenario.length = 0;
  scenario.kv_type = "Q8_1";
  EXPECT_THAT(refusal(scenario), HasSubstr("'Q8_1' is no type of a KV cache (did you mean 'Q8_0'?)"));
  scenario.kv_type = "q8_0";
  EXPECT_EQ(refusal(scenario), "accepted");
}

TEST(LanguageGraph, SizesBeyondAllMemoryAreRefused) {
  Architecture a = dense_architecture();
  a.key_size = a.value_size = std::int64_t{1} << 24;
  a.kv_heads = 8;
  EXPECT_THAT(refusal(decode(std::int64_t{1} << 30, std::int64_t{1} << 20), model_of(a)), HasSubstr("2^62 bytes"));
  a = dense_architecture();
  a.layers = 5000;
  EXPECT_THAT(refusal(decode(256, 1), model_of(a)), HasSubstr("has 5000 layers; graphs have at most 4096"));
}

TEST(LanguageGraph, ModelsWhosePartsAreMissingAreRefused) {
  LanguageModel model = model_of(expert_architecture());
  std::erase_if(model.layers[1].weights, [](const Weight& weight) { return weight.name == "ffn_down_exps.weight"; });
  EXPECT_THAT(refusal(decode(256, 1), model), HasSubstr("has weights of experts, but no ffn_down_exps.weight"));
  model = model_of(latent_architecture());
  std::erase_if(model.layers[1].weights, [](const Weight& weight) { return weight.name == "attn_kv_a_norm.weight"; });
  EXPECT_THAT(refusal(decode(256, 1), model), HasSubstr("no attn_kv_a_norm.weight"));
  // 24 values of a key, of which more are said to be rotated.
  model = model_of(latent_architecture());
  model.layers[1].key_size = 8;
  EXPECT_THAT(refusal(decode(256, 1), model), HasSubstr("leave 0 values for 'blk.1.attn_q_plain'"));
}

}  // namespace
}  // namespace emplace::language::language_graph_test
