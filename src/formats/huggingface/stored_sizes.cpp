#include "formats/huggingface/stored_sizes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/huggingface/safetensors.hpp"
#include "formats/json/members.hpp"
#include "language/weight_type.hpp"

namespace emplace::formats {

namespace {

// Modules of transformers and the weights of which they are, in GGUF's names. A module may hold several of them in one.
struct ModuleNames {
  const char* module;
  const char* weights;  // with commas between them
};
constexpr ModuleNames modules_of_layer[] = {
    {"input_layernorm", "attn_norm"},
    {"ln_1", "attn_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.qkv_proj", "attn_qkv"},
    {"attn.c_attn", "attn_qkv"},
    {"self_attn.o_proj", "attn_output"},
    {"attn.c_proj", "attn_output"},
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"self_attn.q_a_proj", "attn_q_a"},
    {"self_attn.q_a_layernorm", "attn_q_a_norm"},
    {"self_attn.q_b_proj", "attn_q_b"},
    {"self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"},
    {"self_attn.kv_a_layernorm", "attn_kv_a_norm"},
    {"self_attn.kv_b_proj", "attn_k_b,attn_v_b"},
    {"post_attention_layernorm", "ffn_norm,post_attention_norm"},  // the last that the model has
    {"pre_feedforward_layernorm", "ffn_norm"},
    {"post_feedforward_layernorm", "post_ffw_norm"},
    {"ln_2", "ffn_norm"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.gate_up_proj", "ffn_gate,ffn_up"},
    {"mlp.c_fc", "ffn_up"},
    {"mlp.c_proj", "ffn_down"},
    {"mlp.gate", "ffn_gate_inp"},
    {"mlp.router", "ffn_gate_inp"},
    {"block_sparse_moe.gate", "ffn_gate_inp"},
    {"mlp.experts.*.gate_proj", "ffn_gate_exps"},
    {"mlp.experts.*.up_proj", "ffn_up_exps"},
    {"mlp.experts.*.down_proj", "ffn_down_exps"},
    {"block_sparse_moe.experts.*.w1", "ffn_gate_exps"},
    {"block_sparse_moe.experts.*.w3", "ffn_up_exps"},
    {"block_sparse_moe.experts.*.w2", "ffn_down_exps"},
    {"mlp.experts.gate_up_proj", "ffn_gate_exps,ffn_up_exps"},
    {"mlp.experts.down_proj", "ffn_down_exps"},
    {"mlp.shared_expert.gate_proj", "ffn_gate_shexp"},
    {"mlp.shared_expert.up_proj", "ffn_up_shexp"},
    {"mlp.shared_expert.down_proj", "ffn_down_shexp"},
    {"mlp.shared_experts.gate_proj", "ffn_gate_shexp"},
    {"mlp.shared_experts.up_proj", "ffn_up_shexp"},
    {"mlp.shared_experts.down_proj", "ffn_down_shexp"},
};
constexpr ModuleNames modules_outside[] = {{"embed_tokens", "token_embd"}, {"wte", "token_embd"},
                                           {"wpe", "position_embd"},       {"norm", "output_norm"},
                                           {"ln_f", "output_norm"},        {"lm_head", "output"}};

// "3" and "self_attn.q_proj.weight" of "model.layers.3.self_attn.q_proj.weight"; -1 and the rest outside of layers.
std::pair<std::int64_t, std::string> split_name(std::string_view name) {
  for (const std::string_view prefix :
       {"model.language_model.", "language_model.model.", "language_model.", "model.", "transformer."})
    if (name.starts_with(prefix)) {
      name.remove_prefix(prefix.size());
      break;
    }
  for (const std::string_view prefix : {"layers.", "h."}) {
    const std::size_t dot = name.starts_with(prefix) ? name.find('.', prefix.size()) : std::string_view::npos;
    std::int64_t layer = -1;
    if (dot != std::string_view::npos && parse_number(name.substr(prefix.size(), dot - prefix.size()), layer))
      return {layer, std::string(name.substr(dot + 1))};
  }
  return {-1, std::string(name)};
}

// The name without the number of an expert: "mlp.experts.7.up_proj" becomes "mlp.experts.*.up_proj".
std::string any_expert(const std::string& name) {
  constexpr std::string_view list = "experts.";
  const std::size_t at = name.find(list);
  if (at == std::string::npos) return name;
  const std::size_t begin = at + list.size(), end = name.find_first_not_of("0123456789", begin);
  return end == begin || end == std::string::npos ? name : name.substr(0, begin) + "*" + name.substr(end);
}

const ModuleNames* find_module(std::span<const ModuleNames> names, const std::string& tensor) {
  const ModuleNames* best = nullptr;  // the longest that is the tensor's name or followed by '.' or '_'
  for (const ModuleNames& each : names) {
    const std::string_view module = each.module;
    if (!tensor.starts_with(module)) continue;
    const char next = tensor.size() > module.size() ? tensor[module.size()] : '.';
    if ((next == '.' || next == '_') && (best == nullptr || module.size() > std::string_view(best->module).size()))
      best = &each;
  }
  return best;
}

struct Stored {
  Bytes bytes = 0, largest = 0;
  std::string type;  // of the largest tensor
};
using StoredByNames = std::map<std::string, Stored>;

class StoredSizes {
 public:
  explicit StoredSizes(language::LanguageModel& model) : model_(model), of_layer_(model.layers.size()) {}

  void add(std::string_view name, std::string_view type, Bytes bytes) {
    const auto [layer, rest] = split_name(name);
    const bool is_of_layer = layer >= 0 && layer < static_cast<std::int64_t>(of_layer_.size());
    const ModuleNames* module = is_of_layer ? find_module(modules_of_layer, any_expert(rest))
                                : layer < 0 ? find_module(modules_outside, rest)
                                            : nullptr;
    if (module == nullptr) {
      other_ += bytes;
      return;
    }
    Stored& stored = (is_of_layer ? of_layer_[static_cast<std::size_t>(layer)] : outside_)[module->weights];
    stored.bytes += bytes;
    if (bytes > stored.largest) {
      stored.largest = bytes;
      stored.type = type;
    }
  }

  void apply(const std::string& place) {
    for (std::size_t i = 0; i < of_layer_.size(); ++i) {
      for (const auto& [names, stored] : of_layer_[i]) set(model_.layers[i].weights, names, stored);
      for (const language::Weight& weight : model_.layers[i].weights)
        if (weight.is_matrix() && !found_.contains(&weight))
          throw InputError(place, "its *.safetensors files hold no weight for {} of layer {}", weight.name, i);
    }
    for (const auto& [names, stored] : outside_) {
      set(model_.input, names, stored);
      set(model_.output, names, stored);
    }
    if (other_ > 0)
      model_.notes.push_back(fmt::format("{} of the stored weights are not of the language model, and are not counted",
                                         human_bytes(other_)));
  }

 private:
  // The weights that a module holds share its bytes as the sizes say that follow from the config.
  void set(std::vector<language::Weight>& weights, const std::string& names, const Stored& stored) {
    std::vector<language::Weight*> held;
    for (const std::string& name : split(names, ','))
      for (language::Weight& weight : weights)
        if (weight.name.substr(0, weight.name.rfind('.')) == name) held.push_back(&weight);
    if (held.empty()) return;
    if (names == "ffn_norm,post_attention_norm") held.erase(held.begin(), held.end() - 1);
    double expected = 0;
    for (const language::Weight* weight : held) expected += static_cast<double>(weight->bytes);
    Bytes left = stored.bytes;
    for (std::size_t i = 0; i < held.size(); ++i) {
      const double share = static_cast<double>(held[i]->bytes) / std::max(1.0, expected);
      const Bytes part =
          i + 1 == held.size() ? left : std::min(left, static_cast<Bytes>(share * static_cast<double>(stored.bytes)));
      held[i]->bytes = part;
      left -= part;
      found_.insert(held[i]);
      if (stored.type == "F32" || stored.type == "F16" || stored.type == "BF16") held[i]->type = stored.type;
      if (stored.type == "F8_E4M3" || stored.type == "F8_E5M2") held[i]->type = "FP8";
    }
  }

  language::LanguageModel& model_;
  std::vector<StoredByNames> of_layer_;
  StoredByNames outside_;
  std::set<const language::Weight*> found_;
  Bytes other_ = 0;
};

// The files that the index names, each once, and the bytes that it says all weights have; 0 if it does not.
std::pair<std::set<std::string>, Bytes> read_index(const std::string& index) {
  std::set<std::string> files;
  const std::string text = read_file(index, std::uint64_t{1} << 30);
  const json::Document document = json::parse(text, index);
  const json::Place place(index), map(place, "weight_map"), metadata(place, "metadata");
  Bytes total = 0;
  if (const auto facts = find_member(document.root(), place, "metadata"))
    if (const auto size = find_member(*facts, metadata, "total_size"))
      total = size->whole(json::Place(metadata, "total_size"), 0, total_limit);
  need_member(document.root(), place, "weight_map").each_member(map, [&](std::string_view weight, json::Value file) {
    const json::Place at(map, weight);
    const std::string name(file.text(at));
    if (name.empty() || name.find('/') != std::string::npos || name.find('\\') != std::string::npos)
      throw InputError(at.str(), "{} is no name of a file beside the index", quote(name));
    files.insert(name);
  });
  if (files.empty()) throw InputError(map.str(), "names no files");
  return {files, total};
}

}  // namespace

void take_stored_sizes(const std::string& config, language::LanguageModel& model) {
  const std::string folder = parent_folder(config), index = folder + "/model.safetensors.index.json";
  std::set<std::string> files;
  Bytes total = 0;
  if (file_exists(index))
    std::tie(files, total) = read_index(index);
  else if (file_exists(folder + "/model.safetensors"))
    files = {"model.safetensors"};
  const auto is_there = [&](const std::string& file) { return file_exists(folder + "/" + file); };
  if (std::ranges::none_of(files, is_there)) {
    std::string note =
        fmt::format("{}: sizes of weights follow from the config, as no *.safetensors file is beside it", config);
    if (total > 0)
      note += fmt::format("; the index has {} in all, the language model {} of them", human_bytes(total),
                          human_bytes(model.weight_bytes()));
    model.notes.push_back(std::move(note));
    return;
  }
  if (const auto missing = std::ranges::find_if_not(files, is_there); missing != files.end())
    throw InputError(index, "names {}, which is missing", quote(*missing));
  StoredSizes sizes(model);
  for (const std::string& file : files)
    read_safetensors(folder + "/" + file,
                     [&](std::string_view name, std::string_view type, Bytes bytes) { sizes.add(name, type, bytes); });
  sizes.apply(config);
}

}  // namespace emplace::formats
