// Rows: family, size, source, model_type; layers, width, feed-forward width, heads, key-value heads, size of a head,
// vocabulary, context; further members.
#include "zoo/language_presets.hpp"

#include <fmt/core.h>

namespace emplace::zoo {

namespace {

constexpr const char* tied = R"(,"tie_word_embeddings":true)";

// clang-format off
constexpr LanguagePreset presets[] = {
    {"llama", "8b", "meta-llama/Llama-3.1-8B", "llama", 32, 4096, 14336, 32, 8, 128, 128256, 131072},
    {"llama", "70b", "meta-llama/Llama-3.1-70B", "llama", 80, 8192, 28672, 64, 8, 128, 128256, 131072},
    {"llama", "405b", "meta-llama/Llama-3.1-405B", "llama", 126, 16384, 53248, 128, 8, 128, 128256, 131072},
    {"llama", "1b", "meta-llama/Llama-3.2-1B", "llama", 16, 2048, 8192, 32, 8, 64, 128256, 131072, tied},
    {"llama", "3b", "meta-llama/Llama-3.2-3B", "llama", 28, 3072, 8192, 24, 8, 128, 128256, 131072, tied},
    {"llama", "2-7b", "meta-llama/Llama-2-7b-hf", "llama", 32, 4096, 11008, 32, 32, 128, 32000, 4096},
    {"llama", "2-13b", "meta-llama/Llama-2-13b-hf", "llama", 40, 5120, 13824, 40, 40, 128, 32000, 4096},
    {"llama", "2-70b", "meta-llama/Llama-2-70b-hf", "llama", 80, 8192, 28672, 64, 8, 128, 32000, 4096},

    {"mistral", "7b", "mistralai/Mistral-7B-v0.3", "mistral", 32, 4096, 14336, 32, 8, 128, 32768, 32768},
    {"mistral", "7b-v0.1", "mistralai/Mistral-7B-v0.1", "mistral", 32, 4096, 14336, 32, 8, 128, 32000, 32768,
     R"(,"sliding_window":4096)"},
    {"mistral", "12b", "mistralai/Mistral-Nemo-Base-2407", "mistral", 40, 5120, 14336, 32, 8, 128, 131072, 131072},
    {"mistral", "24b", "mistralai/Mistral-Small-24B-Base-2501", "mistral", 40, 5120, 32768, 32, 8, 128, 131072, 32768},
    {"mistral", "123b", "mistralai/Mistral-Large-Instruct-2407", "mistral", 88, 12288, 28672, 96, 8, 128, 32768, 131072},

    {"mixtral", "8x7b", "mistralai/Mixtral-8x7B-v0.1", "mixtral", 32, 4096, 14336, 32, 8, 128, 32000, 32768,
     R"(,"num_local_experts":8,"num_experts_per_tok":2)"},
    {"mixtral", "8x22b", "mistralai/Mixtral-8x22B-v0.1", "mixtral", 56, 6144, 16384, 48, 8, 128, 32000, 65536,
     R"(,"num_local_experts":8,"num_experts_per_tok":2)"},

    {"qwen2", "7b", "Qwen/Qwen2.5-7B", "qwen2", 28, 3584, 18944, 28, 4, 128, 152064, 131072},
    {"qwen2", "0.5b", "Qwen/Qwen2.5-0.5B", "qwen2", 24, 896, 4864, 14, 2, 64, 151936, 32768, tied},
    {"qwen2", "1.5b", "Qwen/Qwen2.5-1.5B", "qwen2", 28, 1536, 8960, 12, 2, 128, 151936, 131072, tied},
    {"qwen2", "14b", "Qwen/Qwen2.5-14B", "qwen2", 48, 5120, 13824, 40, 8, 128, 152064, 131072},
    {"qwen2", "32b", "Qwen/Qwen2.5-32B", "qwen2", 64, 5120, 27648, 40, 8, 128, 152064, 131072},
    {"qwen2", "72b", "Qwen/Qwen2.5-72B", "qwen2", 80, 8192, 29568, 64, 8, 128, 152064, 131072},

    {"qwen3", "8b", "Qwen/Qwen3-8B", "qwen3", 36, 4096, 12288, 32, 8, 128, 151936, 40960},
    {"qwen3", "0.6b", "Qwen/Qwen3-0.6B", "qwen3", 28, 1024, 3072, 16, 8, 128, 151936, 40960, tied},
    {"qwen3", "1.7b", "Qwen/Qwen3-1.7B", "qwen3", 28, 2048, 6144, 16, 8, 128, 151936, 40960, tied},
    {"qwen3", "4b", "Qwen/Qwen3-4B", "qwen3", 36, 2560, 9728, 32, 8, 128, 151936, 40960, tied},
    {"qwen3", "14b", "Qwen/Qwen3-14B", "qwen3", 40, 5120, 17408, 40, 8, 128, 151936, 40960},
    {"qwen3", "32b", "Qwen/Qwen3-32B", "qwen3", 64, 5120, 25600, 64, 8, 128, 151936, 40960},
    {"qwen3", "30b-a3b", "Qwen/Qwen3-30B-A3B", "qwen3_moe", 48, 2048, 6144, 32, 4, 128, 151936, 40960,
     R"(,"num_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":768)"},
    {"qwen3", "235b-a22b", "Qwen/Qwen3-235B-A22B", "qwen3_moe", 94, 4096, 12288, 64, 4, 128, 151936, 40960,
     R"(,"num_experts":128,"num_experts_per_tok":8,"moe_intermediate_size":1536)"},

    {"gemma2", "9b", "google/gemma-2-9b", "gemma2", 42, 3584, 14336, 16, 8, 256, 256000, 8192,
     R"(,"sliding_window":4096)"},
    {"gemma2", "2b", "google/gemma-2-2b", "gemma2", 26, 2304, 9216, 8, 4, 256, 256000, 8192,
     R"(,"sliding_window":4096)"},
    {"gemma2", "27b", "google/gemma-2-27b", "gemma2", 46, 4608, 36864, 32, 16, 128, 256000, 8192,
     R"(,"sliding_window":4096)"},
    // Of those that read images only the language model.
    {"gemma3", "27b", "google/gemma-3-27b-pt", "gemma3_text", 62, 5376, 21504, 32, 16, 128, 262208, 131072,
     R"(,"sliding_window":1024)"},
    {"gemma3", "1b", "google/gemma-3-1b-pt", "gemma3_text", 26, 1152, 6912, 4, 1, 256, 262144, 32768,
     R"(,"sliding_window":512)"},
    {"gemma3", "4b", "google/gemma-3-4b-pt", "gemma3_text", 34, 2560, 10240, 8, 4, 256, 262208, 131072,
     R"(,"sliding_window":1024)"},
    {"gemma3", "12b", "google/gemma-3-12b-pt", "gemma3_text", 48, 3840, 15360, 16, 8, 256, 262208, 131072,
     R"(,"sliding_window":1024)"},

    {"deepseek", "v3", "deepseek-ai/DeepSeek-V3", "deepseek_v3", 61, 7168, 18432, 128, 128, 192, 129280, 163840,
     R"(,"q_lora_rank":1536,"kv_lora_rank":512,"qk_rope_head_dim":64,"qk_nope_head_dim":128,"v_head_dim":128)"
     R"(,"n_routed_experts":256,"n_shared_experts":1,"num_experts_per_tok":8,"moe_intermediate_size":2048)"
     R"(,"first_k_dense_replace":3)"},
    {"deepseek", "v2", "deepseek-ai/DeepSeek-V2", "deepseek_v2", 60, 5120, 12288, 128, 128, 192, 102400, 163840,
     R"(,"q_lora_rank":1536,"kv_lora_rank":512,"qk_rope_head_dim":64,"qk_nope_head_dim":128,"v_head_dim":128)"
     R"(,"n_routed_experts":160,"n_shared_experts":2,"num_experts_per_tok":6,"moe_intermediate_size":1536)"
     R"(,"first_k_dense_replace":1)"},
    {"deepseek", "v2-lite", "deepseek-ai/DeepSeek-V2-Lite", "deepseek_v2", 27, 2048, 10944, 16, 16, 192, 102400, 163840,
     R"(,"kv_lora_rank":512,"qk_rope_head_dim":64,"qk_nope_head_dim":128,"v_head_dim":128)"
     R"(,"n_routed_experts":64,"n_shared_experts":2,"num_experts_per_tok":6,"moe_intermediate_size":1408)"
     R"(,"first_k_dense_replace":1)"},

    {"gpt-oss", "20b", "openai/gpt-oss-20b", "gpt_oss", 24, 2880, 2880, 64, 8, 64, 201088, 131072,
     R"(,"num_local_experts":32,"num_experts_per_tok":4,"sliding_window":128)"},
    {"gpt-oss", "120b", "openai/gpt-oss-120b", "gpt_oss", 36, 2880, 2880, 64, 8, 64, 201088, 131072,
     R"(,"num_local_experts":128,"num_experts_per_tok":4,"sliding_window":128)"},
};
// clang-format on

}  // namespace

std::span<const LanguagePreset> language_presets() { return presets; }

std::string config_of(const LanguagePreset& p) {
  return fmt::format(
      R"({{"model_type":"{}","num_hidden_layers":{},"hidden_size":{},"intermediate_size":{},"num_attention_heads":{},)"
      R"("num_key_value_heads":{},"head_dim":{},"vocab_size":{},"max_position_embeddings":{},"torch_dtype":"bfloat16"{}}})",
      p.model_type, p.layers, p.hidden, p.inner, p.heads, p.kv_heads, p.head, p.vocabulary, p.context, p.more);
}

}  // namespace emplace::zoo
