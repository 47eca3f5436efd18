// The readers of language models under damage: whatever a file says, it is a graph that can be costed, or refused.
#include "formats/language_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"
#include "tests/support/gguf_text.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::formats::language_reader_test {
namespace {

using test::GgufText;

// Whether the text, as a file of this name, is read; InputError is the only way to refuse it.
bool is_accepted(const test::TemporaryFolder& folder, const std::string& name, const std::string& text) {
  write_file(folder / name, text);
  try {
    const Graph graph = read_graph(folder / name);
    graph.validate("accepted");
    const GraphStatistics sums = statistics(graph);
    EXPECT_TRUE(sums.uncosted_ops.empty());
    EXPECT_TRUE(sums.unknown_tensors.empty());
    EXPECT_GE(sums.flops, 0);
    EXPECT_EQ(prune(graph).graph.ops.size(), graph.ops.size());
    return true;
  } catch (const InputError&) {
    return false;
  }
}

// A layer of DeepSeek's kind: latent attention, a router with experts and a shared one.
std::string latent_gguf() {
  GgufText file;
  file.text("general.architecture", "deepseek2");
  const std::pair<const char*, std::uint32_t> numbers[] = {
      {"block_count", 1},          {"embedding_length", 64},         {"context_length", 128},
      {"attention.head_count", 4}, {"attention.head_count_kv", 1},   {"attention.kv_lora_rank", 32},
      {"rope.dimension_count", 8}, {"attention.key_length_mla", 24}, {"attention.value_length_mla", 16},
      {"expert_count", 4},         {"attention.key_length", 24},     {"attention.value_length", 16},
      {"expert_used_count", 2},    {"attention.sliding_window", 100}};
  for (const auto& [key, value] : numbers) file.whole(std::string("deepseek2.") + key, value);
  file.tensor("token_embd.weight", {64, 100}, 8).tensor("output_norm.weight", {64});
  const std::string layer = "blk.0.";
  file.tensor(layer + "attn_norm.weight", {64}).tensor(layer + "ffn_norm.weight", {64});
  file.tensor(layer + "attn_q.weight", {64, 96}, 8).tensor(layer + "attn_kv_a_mqa.weight", {64, 40}, 8);
  file.tensor(layer + "attn_kv_a_norm.weight", {32}).tensor(layer + "attn_k_b.weight", {16, 32, 4}, 1);
  file.tensor(layer + "attn_v_b.weight", {32, 16, 4}, 8).tensor(layer + "attn_output.weight", {64, 64}, 8);
  file.tensor(layer + "ffn_gate_inp.weight", {64, 4}).tensor(layer + "ffn_up_exps.weight", {64, 32, 4}, 8);
  file.tensor(layer + "ffn_gate_exps.weight", {64, 32, 4}, 8).tensor(layer + "ffn_down_exps.weight", {32, 64, 4}, 8);
  file.tensor(layer + "ffn_up_shexp.weight", {64, 32}, 8).tensor(layer + "ffn_down_shexp.weight", {32, 64}, 8);
  return file.str();
}

TEST(LanguageReader, ADamagedGgufFileIsAGraphOrRefused) {
  const test::TemporaryFolder folder;
  const std::string whole = latent_gguf();
  ASSERT_TRUE(is_accepted(folder, "model.gguf", whole));
  std::mt19937 random(1);
  int accepted = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    std::string text = whole;
    for (std::uint32_t change = random() % 3; change < 3; ++change) {
      constexpr std::uint8_t bytes[] = {0, 1, 2, 3, 8, 16, 64, 127, 128, 255};
      text[4 + random() % (text.size() - 4)] = static_cast<char>(bytes[random() % std::size(bytes)]);
    }
    accepted += is_accepted(folder, "model.gguf", text) ? 1 : 0;
  }
  EXPECT_GT(accepted, 10);  // the damage is not all in the first bytes
  EXPECT_LT(accepted, 1000);
}

TEST(LanguageReader, AConfigOfOtherNumbersIsAGraphOrRefused) {
  const test::TemporaryFolder folder;
  const char* keys[] = {"num_hidden_layers",   "hidden_size",    "intermediate_size",     "num_attention_heads",
                        "num_key_value_heads", "vocab_size",     "n_routed_experts",      "num_experts_per_tok",
                        "n_shared_experts",    "kv_lora_rank",   "q_lora_rank",           "qk_rope_head_dim",
                        "qk_nope_head_dim",    "v_head_dim",     "first_k_dense_replace", "moe_intermediate_size",
                        "num_local_experts",   "sliding_window", "num_experts",           "head_dim"};
  const char* values[] = {"1",  "2", "3",  "4",   "8",    "8",          "16",  "64",
                          "64", "0", "-1", "1.5", "null", "2147483648", "5000"};
  const char* types[] = {"llama", "mixtral", "qwen3_moe", "deepseek_v3", "gpt_oss", "gemma3_text", "gpt2", "phi3"};
  std::mt19937 random(2);
  int accepted = 0;
  for (int trial = 0; trial < 600; ++trial) {
    std::string text = std::string(R"({"model_type":")") + types[random() % std::size(types)] + "\"";
    for (const char* key : keys)
      if (random() % 16 != 0)
        text += std::string(",\"") + key + "\":" + values[random() % (random() % 4 == 0 ? std::size(values) : 9)];
    accepted += is_accepted(folder, "config.json", text + "}") ? 1 : 0;
  }
  EXPECT_GT(accepted, 20);
  EXPECT_LT(accepted, 600);
}

}  // namespace
}  // namespace emplace::formats::language_reader_test
