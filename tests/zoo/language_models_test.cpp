// Language models of the zoo against what their authors published.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/lower.hpp"
#include "emplace/simulate/engine.hpp"
#include "tests/zoo/figures.hpp"
#include "zoo/language_presets.hpp"

namespace emplace::zoo::language_models_test {
namespace {

using ::testing::HasSubstr;

// Parameters as the model cards and the indices of the *.safetensors files give them.
// tests/frameworks/test_language_presets.py compares the same models with those of transformers.
TEST(LanguageModels, HaveAsManyParametersAsPublished) {
  const std::pair<const char*, std::int64_t> published[] = {
      {"llama?size=1b", 1235814400},          {"llama?size=3b", 3212749824},
      {"llama?size=8b", 8030261248},          {"llama?size=70b", 70553706496},
      {"llama?size=405b", 405853388800},      {"llama?size=2-7b", 6738415616},
      {"llama?size=2-13b", 13015864320},      {"llama?size=2-70b", 68976648192},
      {"mistral?size=7b", 7248023552},        {"mistral?size=7b-v0.1", 7241732096},
      {"mistral?size=12b", 12247782400},      {"mistral?size=24b", 23572403200},
      {"mistral?size=123b", 122610069504},    {"mixtral?size=8x7b", 46702792704},
      {"mixtral?size=8x22b", 140620634112},   {"qwen2?size=0.5b", 494032768},
      {"qwen2?size=1.5b", 1543714304},        {"qwen2?size=7b", 7615616512},
      {"qwen2?size=14b", 14770033664},        {"qwen2?size=32b", 32763876352},
      {"qwen2?size=72b", 72706203648},        {"qwen3?size=0.6b", 596049920},
      {"qwen3?size=1.7b", 1720574976},        {"qwen3?size=4b", 4022468096},
      {"qwen3?size=8b", 8190735360},          {"qwen3?size=14b", 14768307200},
      {"qwen3?size=32b", 32762123264},        {"qwen3?size=30b-a3b", 30532122624},
      {"qwen3?size=235b-a22b", 235093634560}, {"gemma2?size=2b", 2614341888},
      {"gemma2?size=9b", 9241705984},         {"gemma2?size=27b", 27227128320},
      {"gemma3?size=1b", 999885952},          {"gemma3?size=4b", 3880263168},
      {"gemma3?size=12b", 11766034176},       {"gemma3?size=27b", 27009346304},
      {"deepseek?size=v2-lite", 15706484224}, {"deepseek?size=v2", 235741434880},
      {"deepseek?size=v3", 671026419200},     {"gpt-oss?size=20b", 20914757184},
      {"gpt-oss?size=120b", 116829156672}};
  for (const auto& [model, parameters] : published)
    EXPECT_EQ(statistics(build_zoo_model(model)).parameters, parameters) << model;
}

// FLOPs of a token with one token of context: twice the parameters that it uses, but for the table of the embedding.
TEST(LanguageModels, ComputeAboutTwoFlopsForEachParameterThatATokenUses) {
  const std::tuple<const char*, double, double> active[] = {
      // parameters used, without the embedding
      {"llama?size=8b", 7.50e9, 0.01},     {"llama?size=70b", 69.5e9, 0.01},       {"mixtral?size=8x7b", 12.7e9, 0.02},
      {"qwen3?size=30b-a3b", 3.0e9, 0.05}, {"qwen3?size=235b-a22b", 21.5e9, 0.03}, {"deepseek?size=v3", 36.6e9, 0.03}};
  for (const auto& [model, parameters, tolerance] : active) {
    const double flops = statistics(build_zoo_model(std::string(model) + "&context=1")).flops;
    EXPECT_NEAR(flops / (2 * parameters), 1, tolerance) << model;
  }
}

Bytes cache_of(const std::string& model) {
  Bytes sum = 0;
  for (const GraphOp& op : build_zoo_model(model).ops) sum += op.state_bytes;
  return sum;
}

TEST(LanguageModels, CacheKeysAndValuesOfEachToken) {
  // Llama 3.1 8B: 32 layers x 8 heads x 128 values x 2 (keys and values) x 2 bytes are 128 KiB a token.
  EXPECT_EQ(cache_of("llama?size=8b&context=8192"), Bytes{8192} * 128 * 1024);
  EXPECT_EQ(cache_of("llama?size=8b&context=8192&sequences=4"), Bytes{4} * 8192 * 128 * 1024);
  // Q8_0 stores 32 values in 34 bytes.
  EXPECT_EQ(cache_of("llama?size=8b&context=8192&kv_type=Q8_0"), Bytes{8192} * 32 * 2 * 8 * 128 / 32 * 34);
  // DeepSeek V3: 61 layers x (512 + 64) values x 2 bytes.
  EXPECT_EQ(cache_of("deepseek?size=v3&context=4096"), Bytes{4096} * 61 * 576 * 2);
  // Gemma 3 27B: 10 of 62 layers keep all, the others 1024 + 512 tokens; 16 heads x 128 x 2 x 2 bytes.
  EXPECT_EQ(cache_of("gemma3?size=27b&context=32768"), (Bytes{10} * 32768 + 52 * 1536) * 16 * 128 * 4);
}

TEST(LanguageModels, EveryPresetIsAValidGraphOfKnownCostsAtBothPhases) {
  for (const LanguagePreset& preset : language_presets())
    for (const char* phase : {"decode", "prefill"}) {
      const std::string name = fmt::format("{}?size={}&type=Q4_K&phase={}", preset.family, preset.size, phase);
      const Graph graph = build_zoo_model(name);
      graph.validate();
      const GraphStatistics sums = statistics(graph);
      EXPECT_THAT(sums.uncosted_ops, ::testing::IsEmpty()) << name;
      EXPECT_THAT(sums.unknown_tensors, ::testing::IsEmpty()) << name;
      for (const GraphOp& op : graph.ops) EXPECT_NE(op.layer, "") << name << " " << op.name;
    }
}

TEST(LanguageModels, DecodeTakesAsLongAsReadingTheWeightsAndPrefillAsItsProducts) {
  const machine::Machine machine = machine::load_machine("rtx4090-rtx3060");
  const auto seconds = [&](const std::string& name) {
    const cost::Lowered lowered = cost::lower(build_zoo_model(name), machine, {}, name);
    for (std::size_t d = 0; d < lowered.costs.size(); ++d)
      if (lowered.problem.devices[d].name == "gpu:0") return lowered.costs[d].seconds;
    return 0.0;
  };
  // 4.2 GB of Q4_K at 1008 GB/s are 4.2 ms; there are 483 kernels, each of which is launched.
  const double q4 = seconds("llama?size=8b&type=Q4_K&context=512"), f16 = seconds("llama?size=8b&type=F16&context=512");
  EXPECT_GT(q4, 0.0042);
  EXPECT_LT(q4, 0.010);
  // 15 GB of F16, all but the embedding.
  EXPECT_GT(f16, 0.0149);
  EXPECT_LT(f16, 0.025);
  // A prompt takes less time a token.
  EXPECT_LT(seconds("llama?size=8b&type=F16&context=512&phase=prefill") / 512, f16 / 5);
}

TEST(LanguageModels, RefuseWhatTheyDoNotKnow) {
  EXPECT_THAT(refusal_of("llama?size=9b"), HasSubstr("'size' must be one of 8b, 70b"));
  EXPECT_THAT(refusal_of("llama?type=Q4_X"), HasSubstr("'Q4_X' is no type of weights"));
  EXPECT_THAT(refusal_of("llama?kv_type=Q9"), HasSubstr("is no type of a KV cache"));
  EXPECT_THAT(refusal_of("llama?contxt=4"), HasSubstr("did you mean 'context'?"));
  EXPECT_THAT(refusal_of("llama?context=0"), HasSubstr("'context' must be at least 1"));
  EXPECT_THAT(refusal_of("llama?context=1e30"), HasSubstr("context"));
  EXPECT_THAT(refusal_of("llama?context=100&length=101"), HasSubstr("length is 101, but the context has 100"));
  EXPECT_THAT(refusal_of("llama?training=true"), HasSubstr("training"));
}

}  // namespace
}  // namespace emplace::zoo::language_models_test
