// The header of a small language model.
#pragma once

#include <string>

#include "tests/support/gguf_text.hpp"

namespace emplace::test {

// Two layers of width 512; the second has 8 experts, of which a token uses 2. Q4_K is type 12, Q6_K 14.
inline std::string small_gguf() {
  GgufText file;
  file.text("general.architecture", "qwen3moe");
  const std::pair<const char*, std::uint32_t> numbers[] = {
      {"block_count", 2},          {"embedding_length", 512},      {"context_length", 4096},
      {"attention.head_count", 8}, {"attention.head_count_kv", 2}, {"expert_count", 8},
      {"expert_used_count", 2}};
  for (const auto& [key, value] : numbers) file.whole(std::string("qwen3moe.") + key, value);
  file.tensor("token_embd.weight", {512, 1000}, 12).tensor("output_norm.weight", {512});
  file.tensor("output.weight", {512, 1000}, 14);
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    file.tensor(layer + "attn_norm.weight", {512}).tensor(layer + "ffn_norm.weight", {512});
    file.tensor(layer + "attn_q.weight", {512, 512}, 12).tensor(layer + "attn_k.weight", {512, 128}, 12);
    file.tensor(layer + "attn_v.weight", {512, 128}, 14).tensor(layer + "attn_output.weight", {512, 512}, 12);
  }
  file.tensor("blk.0.ffn_gate.weight", {512, 1024}, 12).tensor("blk.0.ffn_up.weight", {512, 1024}, 12);
  file.tensor("blk.0.ffn_down.weight", {1024, 512}, 14).tensor("blk.1.ffn_gate_inp.weight", {512, 8});
  file.tensor("blk.1.ffn_gate_exps.weight", {512, 256, 8}, 12).tensor("blk.1.ffn_up_exps.weight", {512, 256, 8}, 12);
  file.tensor("blk.1.ffn_down_exps.weight", {256, 512, 8}, 12);
  return file.str();
}

}  // namespace emplace::test
