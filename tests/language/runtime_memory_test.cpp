// Buffers against what llama.cpp v0.5.0 reports for the same models (scripts/llama-memory prints such figures for
// more).
#include "language/runtime_memory.hpp"

#include <gtest/gtest.h>

#include "language/architecture.hpp"

namespace emplace::language {
namespace {

LanguageModel model_of(Architecture a) {
  a.name = a.architecture;
  a.type = "Q4_K";
  return make_language_model(a, "test");
}

LanguageModel llama_8b() {
  Architecture a;
  a.architecture = "llama";
  a.layers = 32, a.hidden = 4096, a.inner = 14336, a.vocabulary = 128256;
  a.heads = 32, a.kv_heads = 8, a.key_size = a.value_size = 128;
  return model_of(a);
}

LanguageModel qwen3_30b() {
  Architecture a;
  a.architecture = "qwen3moe";
  a.layers = 48, a.hidden = 2048, a.inner = 6144, a.vocabulary = 151936;
  a.heads = 32, a.kv_heads = 4, a.key_size = a.value_size = 128, a.head_norms = true;
  a.experts = 128, a.experts_used = 8, a.expert_inner = 768;
  return model_of(a);
}

LanguageModel gemma3_1b() {
  Architecture a;
  a.architecture = "gemma3";
  a.layers = 26, a.hidden = 1152, a.inner = 6912, a.vocabulary = 262144;
  a.heads = 4, a.kv_heads = 1, a.key_size = a.value_size = 256;
  a.head_norms = a.post_norms = a.tied = true, a.type = "Q8_0";
  for (std::int64_t i = 0; i < a.layers; ++i) a.windows.push_back(i % 6 == 5 ? 0 : 512);
  a.name = a.architecture;
  return make_language_model(a, "test");
}

LanguageModel deepseek_v3() {
  Architecture a;
  a.architecture = "deepseek2";
  a.layers = 61, a.hidden = 7168, a.inner = 18432, a.vocabulary = 129280;
  a.heads = a.kv_heads = 128, a.key_size = 192, a.value_size = 128;
  a.query_rank = 1536, a.kv_rank = 512, a.rotated = 64;
  a.experts = 256, a.experts_used = 8, a.expert_inner = 2048, a.shared_inner = 2048, a.dense_layers = 3;
  a.name = a.architecture, a.type = "Q8_0";
  return make_language_model(a, "test");
}

LanguageModel gpt2() {
  Architecture a;
  a.architecture = "gpt2";
  a.layers = 12, a.hidden = 768, a.inner = 3072, a.vocabulary = 50257, a.positions = 1024;
  a.heads = a.kv_heads = 12, a.key_size = a.value_size = 64;
  a.gated = false, a.joint_qkv = a.all_bias = true;
  return model_of(a);
}

Scenario scenario(std::int64_t context, std::int64_t sequences = 1, const char* kv_type = "F16") {
  Scenario s;
  s.context = context;
  s.sequences = sequences;
  s.kv_type = kv_type;
  return s;
}

Bytes buffer(const LanguageModel& model, const Scenario& s, bool flash_attention = true) {
  return compute_bytes(model, s, all_on_host(model), {.flash_attention = flash_attention})[0];
}

TEST(RuntimeMemory, BuffersOfOneDeviceAreThoseThatLlamaCppReports) {
  EXPECT_EQ(buffer(llama_8b(), scenario(8192)), 279447552);
  EXPECT_EQ(buffer(qwen3_30b(), scenario(8192)), 319555584);
  EXPECT_EQ(buffer(gemma3_1b(), scenario(8192)), 541591552);
  EXPECT_EQ(buffer(gpt2(), scenario(8192)), 107646976);
  EXPECT_NEAR(static_cast<double>(buffer(deepseek_v3(), scenario(8192))), 436217856, 0.001 * 436217856);
}

TEST(RuntimeMemory, WithoutFlashAttentionTheScoresOfAllHeadsAreKept) {
  // Of llama: 32 heads x 512 tokens x 8192 cells x 4 bytes = 512 MiB, and other tensors of 60 MiB.
  EXPECT_EQ(buffer(llama_8b(), scenario(8192), false), 599795712);
  EXPECT_EQ(buffer(qwen3_30b(), scenario(8192), false), 585115648);
  EXPECT_EQ(buffer(gemma3_1b(), scenario(8192), false), 541591552);
  EXPECT_EQ(buffer(gpt2(), scenario(8192), false), 230696960);
}

TEST(RuntimeMemory, CachesOfQuantisedTypesAddAHadamardMatrix) {
  EXPECT_EQ(buffer(llama_8b(), scenario(2048, 4, "Q8_0")), 279447552);
  EXPECT_EQ(buffer(qwen3_30b(), scenario(2048, 4, "Q8_0")), 319555584);
  EXPECT_EQ(buffer(gpt2(), scenario(2048, 4, "Q8_0")), 106074112);
}

TEST(RuntimeMemory, CachesAreThoseThatLlamaCppReports) {
  EXPECT_EQ(cache_bytes(llama_8b(), scenario(8192)), 1073741824);
  EXPECT_EQ(cache_bytes(llama_8b(), scenario(2048, 4, "Q8_0")), 570425344);
  EXPECT_EQ(cache_bytes(gemma3_1b(), scenario(8192)), 56623104);
  EXPECT_EQ(cache_bytes(gemma3_1b(), scenario(2048, 4, "Q8_0")), 66846720);
  EXPECT_EQ(cache_bytes(deepseek_v3(), scenario(8192)), 575668224);
  EXPECT_EQ(cache_bytes(gpt2(), scenario(2048, 4, "Q8_0")), 160432128);
}

// Devices 1 and 2 have the layers before and after `split`; the host has those before `first`.
DeviceOfParts divided(const LanguageModel& model, std::size_t first, std::size_t split, bool experts_on_host) {
  DeviceOfParts placed = all_on_host(model);
  placed.devices = 3;
  for (std::size_t i = first; i < model.layers.size(); ++i)
    placed.attention[i] = placed.feed_forward[i] = placed.experts[i] = i < split ? 1 : 2;
  if (experts_on_host) placed.experts.assign(model.layers.size(), 0);
  placed.output = split > model.layers.size() ? 1 : 2;
  return placed;
}

constexpr double mib = 1048576;
constexpr double printed = 0.001;  // figures of several devices are compared in thousandths of a MiB

void expect_mib(const std::vector<Bytes>& bytes, const std::vector<double>& wanted) {
  ASSERT_EQ(bytes.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(static_cast<double>(bytes[i]) / mib, wanted[i], printed);
}

// llama.cpp with two RPC devices, context 8192: -ngl 99 -ts 1,1 and -ngl 99 -ts 1,0, which it computes in a pipeline.
TEST(RuntimeMemory, APipelineHasInputsForFourMicroBatches) {
  const LanguageModel model = llama_8b();
  const ComputeOptions pipelined{.pipelined = true};
  expect_mib(compute_bytes(model, scenario(8192), divided(model, 0, 17, false), pipelined), {48.055, 172.039, 354.547});
  expect_mib(compute_bytes(model, scenario(8192), divided(model, 0, 99, false), pipelined), {48.055, 322.547, 0});
}

// The same with -ot 'ffn_.*_exps=CPU' and one device, or two.
TEST(RuntimeMemory, ExpertsOnTheHostHaveTheirInputsThereAndTheirResultsOnTheDevice) {
  const LanguageModel model = qwen3_30b();
  expect_mib(compute_bytes(model, scenario(8192), divided(model, 0, 99, true)), {80.014, 300.75, 0});
  expect_mib(compute_bytes(model, scenario(8192), divided(model, 0, 25, true)), {84.264, 56.01, 300.75});
}

TEST(RuntimeMemory, AServerComputesFewLogits) {
  const LanguageModel model = llama_8b();
  const Bytes all = buffer(model, scenario(8192));
  const Bytes few = compute_bytes(model, scenario(8192), all_on_host(model), {.outputs = 1})[0];
  EXPECT_EQ(few, 130035744);
  EXPECT_GT(all - few, 128256 * 511);
}

TEST(RuntimeMemory, OutputsAreTheLogitsOfATokenOfEachSequence) {
  EXPECT_EQ(output_bytes(llama_8b(), scenario(8192)), 128256 * 4);
  EXPECT_EQ(output_bytes(llama_8b(), scenario(2048, 4)), 128256 * 4 * 4);
}

TEST(RuntimeMemory, AMicroBatchIsNotLongerThanTheContext) {
  const LanguageModel model = gpt2();
  Scenario s = scenario(256);
  const Bytes short_context = buffer(model, s);
  s.batch = 256;
  EXPECT_EQ(short_context, buffer(model, s));
}

}  // namespace
}  // namespace emplace::language
