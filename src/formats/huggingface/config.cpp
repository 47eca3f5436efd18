// The numbers of a model from its config.json. Keys, their defaults and the rules of each family are those of
// transformers (models/FAMILY/configuration_FAMILY.py).
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/huggingface/config_keys.hpp"
#include "formats/huggingface/huggingface.hpp"

namespace emplace::formats {

namespace {

using language::Architecture;

constexpr std::uint64_t largest_config = 1 << 24;

// What the members of a family have in common beside the keys that all families share. `architecture` is the name that
// GGUF files of the family have.
struct Family {
  const char* model_type;
  const char* architecture;
  void (*rules)(const ConfigKeys& keys, Architecture& a);
};

void no_rules(const ConfigKeys&, Architecture&) {}

void window_of_all_layers(const ConfigKeys& keys, Architecture& a) {
  if (const std::int64_t window = keys.whole("sliding_window", 0); window > 0)
    a.windows.assign(static_cast<std::size_t>(std::min<std::int64_t>(a.layers, 65536)), window);
}

// Qwen2: the layers from max_window_layers on have a window, if it is used at all.
void qwen_window(const ConfigKeys& keys, Architecture& a) {
  if (!keys.flag("use_sliding_window", false)) return;
  window_of_all_layers(keys, a);
  const std::int64_t full = keys.whole("max_window_layers", 28);
  for (std::size_t i = 0; i < a.windows.size() && static_cast<std::int64_t>(i) < full; ++i) a.windows[i] = 0;
}

// Of each `period` layers the last has no window.
void window_with_period(const ConfigKeys& keys, Architecture& a, std::int64_t window, std::int64_t period) {
  if ((window = keys.whole("sliding_window", window)) == 0 || period == 0) return;
  for (std::int64_t i = 0; i < std::min<std::int64_t>(a.layers, 65536); ++i)
    a.windows.push_back(i % period < period - 1 ? window : 0);
}

void mixtral(const ConfigKeys& keys, Architecture& a) {
  window_of_all_layers(keys, a);
  a.experts = keys.need("num_local_experts");
  a.experts_used = keys.need("num_experts_per_tok");
  a.expert_inner = a.inner;
}

void qwen2(const ConfigKeys& keys, Architecture& a) {
  a.qkv_bias = true;
  qwen_window(keys, a);
}

void qwen3(const ConfigKeys& keys, Architecture& a) {
  a.head_norms = true;
  qwen_window(keys, a);
}

void qwen_experts(const ConfigKeys& keys, Architecture& a) {
  a.experts = keys.need("num_experts");
  a.experts_used = keys.need("num_experts_per_tok");
  a.expert_inner = keys.need("moe_intermediate_size");
  a.expert_period = keys.whole("decoder_sparse_step", 1);
  if (!keys.wholes("mlp_only_layers").empty())
    throw InputError(keys.where("mlp_only_layers"),
                     "names layers without experts; only models without such a list are read");
}

void qwen2_moe(const ConfigKeys& keys, Architecture& a) {
  qwen2(keys, a);
  qwen_experts(keys, a);
  a.shared_inner = keys.whole("shared_expert_intermediate_size", 0);
}

void qwen3_moe(const ConfigKeys& keys, Architecture& a) {
  qwen3(keys, a);
  qwen_experts(keys, a);
}

void gemma2(const ConfigKeys& keys, Architecture& a) {
  a.post_norms = true;
  window_with_period(keys, a, 4096, 2);
}

void gemma3(const ConfigKeys& keys, Architecture& a) {
  a.post_norms = a.head_norms = true;
  window_with_period(keys, a, 4096, keys.whole("sliding_window_pattern", 6));
}

void deepseek(const ConfigKeys& keys, Architecture& a) {
  a.query_rank = keys.whole("q_lora_rank", 0);
  a.kv_rank = keys.need("kv_lora_rank");
  a.rotated = keys.need("qk_rope_head_dim");
  a.key_size = keys.need("qk_nope_head_dim") + a.rotated;
  a.value_size = keys.need("v_head_dim");
  a.experts = keys.whole("n_routed_experts", 0);
  if (a.experts == 0) return;
  a.experts_used = keys.need("num_experts_per_tok");
  a.expert_inner = keys.need("moe_intermediate_size");
  a.shared_inner = keys.whole("n_shared_experts", 0) * a.expert_inner;
  a.dense_layers = keys.whole("first_k_dense_replace", 0);
  a.expert_period = keys.whole("moe_layer_freq", 1);
}

void deepseek_v3(const ConfigKeys& keys, Architecture& a) {
  deepseek(keys, a);
  a.selection_bias = true;
}

void gpt2(const ConfigKeys& keys, Architecture& a) {
  a.gated = false;
  a.joint_qkv = a.all_bias = true;
  a.positions = keys.has("n_positions") ? keys.need("n_positions") : keys.whole("n_ctx", 1024);
  a.trained_context = a.positions;
}

void phi3(const ConfigKeys& keys, Architecture& a) {
  a.joint_qkv = true;
  window_of_all_layers(keys, a);
}

void gpt_oss(const ConfigKeys& keys, Architecture& a) {
  a.qkv_bias = a.output_bias = a.sinks = a.expert_bias = true;
  a.experts = keys.need("num_local_experts");
  a.experts_used =
      keys.has("num_experts_per_tok") ? keys.need("num_experts_per_tok") : keys.whole("experts_per_token", 4);
  a.expert_inner = a.inner;
  if (keys.texts("layer_types").empty())
    for (std::int64_t i = 0; i < std::min<std::int64_t>(a.layers, 65536); ++i)
      a.windows.push_back(i % 2 == 0 ? keys.whole("sliding_window", 128) : 0);
}

constexpr Family families[] = {
    {"llama", "llama", no_rules},
    {"mistral", "llama", window_of_all_layers},
    {"mixtral", "llama", mixtral},
    {"qwen2", "qwen2", qwen2},
    {"qwen2_moe", "qwen2moe", qwen2_moe},
    {"qwen3", "qwen3", qwen3},
    {"qwen3_moe", "qwen3moe", qwen3_moe},
    {"gemma", "gemma", no_rules},
    {"gemma2", "gemma2", gemma2},
    {"gemma3_text", "gemma3", gemma3},
    {"gemma3", "gemma3", gemma3},
    {"deepseek_v2", "deepseek2", deepseek},
    {"deepseek_v3", "deepseek2", deepseek_v3},
    {"kimi_k2", "deepseek2", deepseek_v3},
    {"gpt2", "gpt2", gpt2},
    {"phi3", "phi3", phi3},
    {"gpt_oss", "gpt-oss", gpt_oss},
};

const Family& family_of(const std::string& model_type, const std::string& path) {
  const auto found = std::ranges::find_if(families, [&](const Family& each) { return model_type == each.model_type; });
  if (found != std::end(families)) return *found;
  std::vector<std::string> known;
  for (const Family& each : families) known.emplace_back(each.model_type);
  throw InputError(path, "is a model of the type {}, which is not known here{}; known: {}", quote(model_type),
                   did_you_mean(model_type, known), join(known, ", "));
}

bool is_gemma(const std::string& model_type) { return model_type.starts_with("gemma"); }

// What transformers takes where a config.json leaves a key out, as Gemma's do.
std::int64_t or_default(const ConfigKeys& keys, const std::string& model_type, const char* key, std::int64_t of_gemma3,
                        std::vector<std::string>& notes) {
  if (keys.has(key) || !model_type.starts_with("gemma3")) return keys.need(key);
  notes.push_back(
      fmt::format("{} is {}, as transformers takes it where the file does not say", keys.where(key), of_gemma3));
  return of_gemma3;
}

void read_heads(const ConfigKeys& keys, const std::string& model_type, Architecture& a,
                std::vector<std::string>& notes) {
  const bool is_gpt2 = model_type == "gpt2";
  const char* key = is_gpt2 ? "n_head" : "num_attention_heads";
  a.heads = or_default(keys, model_type, key, 8, notes);
  a.kv_heads = is_gpt2                            ? a.heads
               : model_type.starts_with("gemma3") ? or_default(keys, model_type, "num_key_value_heads", 4, notes)
                                                  : keys.whole("num_key_value_heads", a.heads);
  if (a.heads < 1 || a.kv_heads < 1 || a.heads % a.kv_heads != 0)
    throw InputError(keys.where("num_key_value_heads"), "{} key-value heads do not divide {} heads ({})", a.kv_heads,
                     a.heads, key);
  const auto given = keys.whole("head_dim");
  if (!given && !is_gemma(model_type) && !model_type.starts_with("qwen3") && model_type != "gpt_oss" &&
      a.hidden % a.heads != 0 && !keys.has("kv_lora_rank"))
    throw InputError(keys.where(key), "{} heads do not divide the width {}, and there is no head_dim", a.heads,
                     a.hidden);
  const std::int64_t fallback = is_gemma(model_type)              ? 256
                                : model_type.starts_with("qwen3") ? 128
                                : model_type == "gpt_oss"         ? 64
                                                                  : a.hidden / a.heads;
  a.key_size = a.value_size = given.value_or(fallback);
}

// "layer_types": ["sliding_attention", "full_attention", ...] says it for each layer.
void read_layer_types(const ConfigKeys& keys, Architecture& a) {
  const std::vector<std::string> types = keys.texts("layer_types");
  if (types.empty()) return;
  if (static_cast<std::int64_t>(types.size()) != a.layers)
    throw InputError(keys.where("layer_types"), "names {} layers, but there are {}", types.size(), a.layers);
  a.windows.clear();
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == "sliding_attention")
      a.windows.push_back(keys.whole("sliding_window", 4096));
    else if (types[i] == "full_attention")
      a.windows.push_back(0);
    else
      throw InputError(json::Place(json::Place(keys.place(), "layer_types"), i).str(),
                       "{} is not known; known: full_attention, sliding_attention", quote(types[i]));
  }
}

// The type in which matrices are stored.
std::string stored_type(const ConfigKeys& keys, std::vector<std::string>& notes) {
  const std::string plain = keys.text("torch_dtype", keys.text("dtype", "float32"));
  const std::pair<const char*, const char*> names[] = {
      {"float32", "F32"}, {"float16", "F16"}, {"bfloat16", "BF16"}, {"float8_e4m3fn", "FP8"}, {"float64", "F64"}};
  const auto named = std::ranges::find_if(names, [&](const auto& each) { return plain == each.first; });
  if (named == std::end(names)) throw InputError(keys.where("torch_dtype"), "{} is no type of weights", quote(plain));
  if (!keys.has("torch_dtype") && !keys.has("dtype"))
    notes.push_back(fmt::format("{} is missing: weights are taken as float32", keys.where("torch_dtype")));
  const auto quantised = keys.find("quantization_config");
  if (!quantised) return named->second;
  const json::Place place(keys.place(), "quantization_config");
  const ConfigKeys inner(*quantised, place);
  const std::string method = inner.text("quant_method", inner.has("load_in_4bit") ? "bitsandbytes" : "");
  if (method == "fp8" || method == "fbgemm_fp8") return "FP8";
  if (method == "mxfp4") return "MXFP4";
  if (method == "bitsandbytes") return inner.flag("load_in_4bit", false) ? "NF4" : "I8";
  if (method == "gptq" || method == "awq") {
    const std::int64_t bits = inner.need("bits");
    if (bits == 4 || bits == 8) return bits == 4 ? "INT4" : "INT8";
    throw InputError(inner.where("bits"), "{} bits are not known here; known: 4, 8", bits);
  }
  throw InputError(inner.where("quant_method"), "{} is not known here; known: awq, bitsandbytes, fp8, gptq, mxfp4",
                   quote(method));
}

Architecture read_numbers(const ConfigKeys& keys, const ConfigKeys& outer, const std::string& model_type,
                          const std::string& path, std::vector<std::string>& notes) {
  const Family& family = family_of(model_type, path);
  const bool is_gpt2 = model_type == "gpt2";
  Architecture a;
  const std::filesystem::path file(path);
  a.name = file.has_parent_path() ? file.parent_path().filename().string() : model_type;
  if (a.name.empty()) a.name = model_type;
  a.architecture = family.architecture;
  a.layers = keys.need(is_gpt2 ? "n_layer" : "num_hidden_layers");
  a.hidden = keys.need(is_gpt2 ? "n_embd" : "hidden_size");
  a.inner = is_gpt2 ? keys.whole("n_inner", 4 * a.hidden) : keys.need("intermediate_size");
  a.vocabulary = or_default(keys, model_type, "vocab_size", 262208, notes);
  a.trained_context = keys.whole("max_position_embeddings", 0);
  a.tied = keys.flag("tie_word_embeddings", outer.flag("tie_word_embeddings", is_gpt2 || is_gemma(model_type)));
  a.qkv_bias = keys.flag("attention_bias", false);
  if (a.layers < 1 || a.layers > 65536 || a.hidden < 1)
    throw InputError(path, "has {} layers of width {}", a.layers, a.hidden);
  read_heads(keys, model_type, a, notes);
  family.rules(keys, a);
  read_layer_types(keys, a);
  a.type = stored_type(keys.has("torch_dtype") || keys.has("dtype") || keys.has("quantization_config") ? keys : outer,
                       notes);
  const bool is_plain = a.type == "F32" || a.type == "F16" || a.type == "BF16" || a.type == "F64";
  a.vector_type = is_plain ? a.type : "BF16";
  if (!is_plain) a.embedding_type = a.output_type = "BF16";
  if (a.experts_used > a.experts)
    throw InputError(keys.where("num_experts_per_tok"), "{} experts are used of {}", a.experts_used, a.experts);
  return a;
}

}  // namespace

bool is_model_config(const std::string& path, std::string_view head) {
  const bool is_object =
      head.find_first_not_of(" \t\r\n") != std::string_view::npos && head[head.find_first_not_of(" \t\r\n")] == '{';
  return is_object && (head.find("\"model_type\"") != std::string_view::npos ||
                       std::filesystem::path(path).filename() == "config.json");
}

Architecture read_model_config(const std::string& path, std::vector<std::string>& notes) {
  return model_config(read_file(path, largest_config), path, notes);
}

Architecture model_config(std::string_view text, const std::string& path, std::vector<std::string>& notes) {
  const json::Document document = json::parse(text, path);
  const json::Place place(path);
  const ConfigKeys outer(document.root(), place);
  const std::string type = outer.text("model_type", "");
  if (type.empty()) throw InputError(path, "has no model_type; a config.json of a Hugging Face model has one");
  const auto inner = outer.find("text_config");
  // Models that read images keep the numbers of their language model apart.
  if (!inner || outer.has("hidden_size")) return read_numbers(outer, outer, type, path, notes);
  const json::Place inner_place(place, "text_config");
  const ConfigKeys keys(*inner, inner_place);
  notes.push_back(fmt::format("{} is read for its language model alone, without the parts that read images", path));
  return read_numbers(keys, outer, keys.text("model_type", type), path, notes);
}

}  // namespace emplace::formats
