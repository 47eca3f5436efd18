// The numbers from which the weights of a language model follow, as config.json and papers give them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "language/language_model.hpp"

namespace emplace::language {

struct Architecture {
  std::string name, architecture;
  std::int64_t layers = 0, hidden = 0, vocabulary = 0, trained_context = 0;
  std::int64_t heads = 0, kv_heads = 0, key_size = 0, value_size = 0;
  std::int64_t inner = 0;      // width of the feed-forward part of layers without experts
  bool gated = true;           // with a gate beside the product up (SwiGLU, GeGLU)
  bool joint_qkv = false;      // one matrix for queries, keys and values (GPT-2)
  bool qkv_bias = false;       // Qwen2
  bool all_bias = false;       // biases of all matrices and norms (GPT-2)
  bool output_bias = false;    // of the attention's output (gpt-oss)
  bool sinks = false;          // a learned score for each head (gpt-oss)
  bool head_norms = false;     // norms of queries and keys (Qwen3, Gemma 3)
  bool post_norms = false;     // norms after attention and feed-forward (Gemma 2 and 3)
  bool tied = false;           // the output is the embedding
  std::int64_t positions = 0;  // learned embeddings of positions
  // Experts: in layers from `dense_layers` on, in one of `expert_period`.
  std::int64_t experts = 0, experts_used = 0, expert_inner = 0, shared_inner = 0;
  std::int64_t dense_layers = 0, expert_period = 1;
  bool expert_bias = false;     // biases of experts and router (gpt-oss)
  bool selection_bias = false;  // of the scores by which experts are chosen (DeepSeek-V3)
  // Latent attention (DeepSeek): queries and keys-values are products of two matrices with these widths between them;
  // of a key, `rotated` values are common to all heads. query_rank 0: queries are one product.
  std::int64_t query_rank = 0, kv_rank = 0, rotated = 0;
  std::vector<std::int64_t> windows;  // of each layer; empty: none
  std::string type = "F16";           // of matrices
  std::string vector_type = "F32";    // of norms, biases and routers
  std::string embedding_type;         // "": as `type`
  std::string output_type;            // "": as `type`

  [[nodiscard]] bool has_experts(std::int64_t layer) const {
    return experts > 0 && layer >= dense_layers && (layer - dense_layers) % expert_period == expert_period - 1;
  }
};

// InputError with `place` for numbers that contradict each other (check).
LanguageModel make_language_model(const Architecture& a, const std::string& place);

}  // namespace emplace::language
