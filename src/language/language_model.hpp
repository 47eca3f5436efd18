// A decoder-only transformer as its file describes it: what each layer has, and the type and size of each weight. Files
// of all formats, and the zoo, are read into this struct, from which graphs and plans are made.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/types.hpp"

namespace emplace::language {

// A stored tensor. Names and order of sizes are those of GGUF: the first size is that of a row (the inputs of a
// matrix), then come the rows (its outputs), then the experts.
struct Weight {
  std::string name;  // in a layer without "blk.N.": "attn_q.weight"
  std::vector<std::int64_t> sizes;
  std::string type;  // a name of weight_types()
  Bytes bytes = 0;

  [[nodiscard]] std::int64_t columns() const { return sizes.empty() ? 1 : sizes[0]; }
  [[nodiscard]] std::int64_t rows() const { return sizes.size() < 2 ? 1 : sizes[1]; }
  [[nodiscard]] bool is_matrix() const { return sizes.size() >= 2 && sizes[1] > 1; }
  [[nodiscard]] std::int64_t elements() const;
};

struct Layer {
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t key_size = 0, value_size = 0;  // of a head
  std::int64_t window = 0;  // a token attends to this many tokens, itself included; 0: to all before it
  // Values of a token in the KV cache. Heads share one compressed entry in DeepSeek's latent attention.
  std::int64_t cached_keys = 0, cached_values = 0;
  std::vector<Weight> weights;

  // nullptr if the layer has no such weight.
  [[nodiscard]] const Weight* find(std::string_view name) const;
};

// The parts of a layer that can be on different devices: each is a unit of placement.
enum class Part : std::uint8_t { attention, feed_forward, experts };
[[nodiscard]] const char* name_of(Part part);
// "ffn_up_exps.weight" is of the experts, "ffn_up.weight", the router and shared experts are of the feed-forward part.
[[nodiscard]] Part part_of(std::string_view weight);

struct LanguageModel {
  std::string name;          // of the file, without its folder
  std::string architecture;  // "llama", "qwen3moe": general.architecture of GGUF
  std::int64_t hidden = 0, vocabulary = 0;
  std::int64_t trained_context = 0;  // 0: the file does not say
  std::int64_t experts = 0, experts_used = 0;
  std::vector<Weight> input;   // the embedding of tokens, and of positions
  std::vector<Weight> output;  // the last norm and the matrix of the vocabulary, unless it is that of the embedding
  std::vector<Layer> layers;
  std::vector<std::string> notes;  // what the file leaves open, and how it was read; sentences without full stops

  // The output uses the embedding's weights. Devices other than the embedding's need a copy of them.
  [[nodiscard]] bool is_tied() const;
  // Logits are bounded by a tanh. Gemma 2 has one in all files (llama.cpp reads no key for it).
  [[nodiscard]] bool caps_logits() const { return architecture == "gemma2"; }
  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] Bytes weight_bytes() const;
};

// InputError with `place` if numbers contradict each other: heads that kv_heads do not divide, weights whose sizes do
// not follow from heads and widths, more experts used than there are, layers without weights.
void check(const LanguageModel& model, const std::string& place);

}  // namespace emplace::language
