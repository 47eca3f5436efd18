// Laws of the graphs of language models.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "language/language_graph.hpp"
#include "tests/language/architectures.hpp"

namespace emplace::language::language_graph_property_test {
namespace {

std::int64_t drawn(std::int64_t least, std::int64_t most) { return *rc::gen::inRange(least, most + 1); }
bool coin() { return drawn(0, 1) == 1; }

Architecture drawn_architecture() {
  Architecture a = test::dense_architecture();
  a.layers = drawn(1, 5);
  a.hidden = 32 * drawn(1, 20);
  a.kv_heads = drawn(1, 4);
  a.heads = a.kv_heads * drawn(1, 4);
  a.key_size = 2 * drawn(2, 40);
  a.value_size = drawn(1, 80);
  a.inner = drawn(1, 500);
  a.gated = coin();
  a.tied = coin();
  a.joint_qkv = coin();
  a.qkv_bias = coin();
  a.all_bias = coin();
  a.head_norms = coin();
  a.post_norms = coin();
  a.positions = coin() ? 100 : 0;
  a.type = *rc::gen::element("F16", "F32", "BF16", "Q4_K", "Q8_0", "MXFP4", "INT4");
  if (coin()) {
    a.experts = drawn(1, 9);
    a.experts_used = drawn(1, a.experts);
    a.expert_inner = drawn(1, 100);
    a.shared_inner = coin() ? drawn(1, 100) : 0;
    a.dense_layers = drawn(0, 2);
    a.expert_period = drawn(1, 2);
  }
  if (coin()) {
    a.kv_rank = drawn(1, 64);
    a.rotated = drawn(1, a.key_size - 1);
    a.query_rank = coin() ? drawn(1, 64) : 0;
  }
  if (coin())
    for (std::int64_t i = 0; i < a.layers; ++i) a.windows.push_back(coin() ? drawn(1, 2000) : 0);
  return a;
}

Scenario drawn_scenario() {
  Scenario s;
  s.phase = coin() ? Phase::prefill : Phase::decode;
  s.context = drawn(1, 5000);
  s.sequences = drawn(1, 8);
  s.batch = drawn(1, 600);
  s.length = coin() ? 0 : drawn(1, s.context);
  s.kv_type = *rc::gen::element("F16", "F32", "Q8_0", "Q4_0");
  return s;
}

Bytes resident_sum(const Graph& graph) {
  Bytes sum = 0;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) sum += resident_bytes(graph, OpId{i});
  return sum;
}

TEST(LanguageGraph, HoldsEachWeightOnceInItsUnitAndTheCacheOfEachLayer) {
  EXPECT_TRUE(rc::check("memory", [] {
    const LanguageModel model = make_language_model(drawn_architecture(), "drawn");
    const Scenario scenario = drawn_scenario();
    const Graph graph = language_graph(model, scenario, "drawn");
    Bytes weights = 0;
    for (const GraphParameter& parameter : graph.parameters) {
      weights += *parameter.bytes();
      RC_ASSERT(parameter.users.size() == 1U);
    }
    RC_ASSERT(weights == model.weight_bytes() + copied_bytes(model));
    std::map<std::string, Bytes> by_unit;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) by_unit[graph.ops[i].colocate] += resident_bytes(graph, OpId{i});
    std::vector<Unit> units = units_of(model, scenario);
    RC_ASSERT(units.size() == by_unit.size());
    for (const Unit& unit : units) RC_ASSERT(by_unit.at(unit.name) == unit.weights + unit.cache);
    Bytes cache = 0;
    for (const Unit& unit : units) cache += unit.cache;
    RC_ASSERT(cache == cache_bytes(model, scenario));
    RC_ASSERT(statistics(graph).parameters == model.parameters());
    RC_ASSERT(statistics(graph).uncosted_ops.empty());
    RC_ASSERT(statistics(graph).unknown_tensors.empty());
  }));
}

TEST(LanguageGraph, MoreOfAnythingNeverNeedsLessMemoryOrWork) {
  EXPECT_TRUE(rc::check("growth", [] {
    const LanguageModel model = make_language_model(drawn_architecture(), "drawn");
    Scenario scenario = drawn_scenario();
    const Graph before = language_graph(model, scenario, "drawn");
    const bool more_context = coin();
    (more_context ? scenario.context : scenario.sequences) += drawn(1, 3000);
    const Graph after = language_graph(model, scenario, "drawn");
    RC_ASSERT(resident_sum(after) >= resident_sum(before));
    RC_ASSERT(statistics(after).flops >= statistics(before).flops * (1 - 1e-12));
    RC_ASSERT(statistics(after).bytes >= statistics(before).bytes);
    RC_ASSERT(after.ops.size() == before.ops.size());
  }));
}

TEST(LanguageGraph, PassesKeepTheBytesOfQuantisedWeights) {
  EXPECT_TRUE(rc::check("passes", [] {
    Architecture a = drawn_architecture();
    a.type = "Q4_0";
    const LanguageModel model = make_language_model(a, "drawn");
    const Graph graph = language_graph(model, drawn_scenario(), "drawn");
    const Bytes before = resident_sum(graph);
    RC_ASSERT(resident_sum(prune(graph).graph) == before);
    RC_ASSERT(resident_sum(fuse(graph).graph) == before);
    RC_ASSERT(resident_sum(coarsen(graph, 5).graph) == before);
    RC_ASSERT(resident_sum(share_parameters(graph).graph) == before);
    RC_ASSERT(statistics(coarsen(graph, 5).graph).parameters == model.parameters());
  }));
}

TEST(LanguageGraph, ADecodeStepReadsEveryWeightButThoseOfTheEmbeddingsAndUnusedExperts) {
  EXPECT_TRUE(rc::check("reads", [] {
    Architecture a = drawn_architecture();
    a.experts = a.experts_used = 0;
    const LanguageModel model = make_language_model(a, "drawn");
    Scenario scenario = drawn_scenario();
    scenario.phase = Phase::decode;
    const Graph graph = language_graph(model, scenario, "drawn");
    Bytes read = 0, embeddings = 0, reached = 0;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) read += cost_of(graph, OpId{i}).bytes_read;
    for (const Weight& weight : model.input) embeddings += weight.bytes;
    for (const Layer& layer : model.layers) reached += cache_read(layer, scenario);
    RC_ASSERT(read >= model.weight_bytes() + copied_bytes(model) - embeddings + reached);
  }));
}

}  // namespace
}  // namespace emplace::language::language_graph_property_test
