#include "language/shard.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "language/weight_type.hpp"

namespace emplace::language {

namespace {

using Names = std::span<const std::string_view>;

// Products whose results are divided, and products of results that are. In the last group each head has a matrix.
constexpr std::array<std::string_view, 9> divided_rows = {"attn_q_b",         "attn_kv_b",      "ffn_gate",
                                                          "ffn_up",           "ffn_gate_exps",  "ffn_up_exps",
                                                          "ffn_gate_up_exps", "ffn_gate_shexp", "ffn_up_shexp"};
constexpr std::array<std::string_view, 4> divided_columns = {"attn_output", "ffn_down", "ffn_down_exps",
                                                             "ffn_down_shexp"};
constexpr std::array<std::string_view, 2> of_heads = {"attn_k_b", "attn_v_b"};

bool is_in(Names names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

class Sharder {
 public:
  Sharder(const LanguageModel& model, std::int64_t parts, bool repeat_keys)
      : model_(model), parts_(parts), repeat_keys_(repeat_keys) {}

  std::optional<LanguageModel> shard() {
    LanguageModel out = model_;
    out.vocabulary = (model_.vocabulary + parts_ - 1) / parts_;
    for (std::vector<Weight>* weights : {&out.input, &out.output})
      for (Weight& weight : *weights) {
        if (weight.name != "token_embd.weight" && !weight.name.starts_with("output.")) continue;
        weight.sizes.back() = out.vocabulary;  // rows are padded
        count_bytes(weight);
      }
    for (Layer& layer : out.layers)
      if (!divide_heads(layer)) return std::nullopt;
    if (!fits_) return std::nullopt;
    return out;
  }

 private:
  bool divide_heads(Layer& layer) {
    const Layer whole = layer;
    if (layer.heads % parts_ != 0) return false;
    layer.heads /= parts_;
    if (layer.find("attn_kv_a_mqa.weight") == nullptr) {
      if (layer.kv_heads % parts_ != 0 && (!repeat_keys_ || parts_ % layer.kv_heads != 0)) return false;
      layer.kv_heads = std::max<std::int64_t>(1, layer.kv_heads / parts_);
      layer.cached_keys = whole.cached_keys / whole.kv_heads * layer.kv_heads;
      layer.cached_values = whole.cached_values / whole.kv_heads * layer.kv_heads;
    }
    for (Weight& weight : layer.weights) divide(weight, whole, layer);
    return true;
  }

  void divide(Weight& weight, const Layer& whole, const Layer& part) {
    const std::size_t dot = weight.name.rfind('.');
    const std::string_view stem = std::string_view(weight.name).substr(0, dot);
    const bool is_matrix = weight.is_matrix() && weight.name.ends_with(".weight");
    std::int64_t& rows = weight.sizes[is_matrix ? 1 : 0];
    if (stem == "attn_k" || stem == "attn_v")
      rows = rows / whole.kv_heads * part.kv_heads;
    else if (stem == "attn_q" || stem == "attn_sinks")
      rows = rows / whole.heads * part.heads;
    else if (stem == "attn_qkv")
      rows = part.heads * whole.key_size + part.kv_heads * (whole.key_size + whole.value_size);
    else if (is_in(divided_rows, stem))
      over_parts(rows);
    else if (is_in(of_heads, stem) && weight.sizes.size() == 3)
      over_parts(weight.sizes[2]);
    else if (is_in(divided_columns, stem) && is_matrix)
      divide_columns(weight);
    else
      return;
    count_bytes(weight);
  }

  void divide_columns(Weight& weight) {
    over_parts(weight.sizes[0]);
    const WeightType* type = find_weight_type(weight.type);
    fits_ = fits_ && type != nullptr && weight.sizes[0] % type->block == 0;
  }

  void over_parts(std::int64_t& size) {
    fits_ = fits_ && size % parts_ == 0;
    size = std::max<std::int64_t>(1, size / parts_);
  }

  void count_bytes(Weight& weight) {
    const WeightType* type = find_weight_type(weight.type);
    const auto bytes =
        type == nullptr ? std::nullopt : bytes_of_rows(*type, weight.columns(), weight.elements() / weight.columns());
    fits_ = fits_ && bytes.has_value();
    weight.bytes = bytes.value_or(0);
  }

  const LanguageModel& model_;
  std::int64_t parts_;
  bool repeat_keys_;
  bool fits_ = true;
};

}  // namespace

std::optional<LanguageModel> shard_of(const LanguageModel& model, std::int64_t parts, bool repeat_keys) {
  return Sharder(model, parts, repeat_keys).shard();
}

}  // namespace emplace::language
