#include "language/architecture.hpp"

#include <fmt/core.h>

#include "emplace/base/error.hpp"
#include "language/weight_type.hpp"

namespace emplace::language {

namespace {

class Builder {
 public:
  Builder(const Architecture& a, const std::string& place)
      : a_(a), place_(place), matrix_(weight_type(a.type, place)), vector_(weight_type(a.vector_type, place)) {}

  LanguageModel build() {
    check_numbers();
    model_.name = a_.name;
    model_.architecture = a_.architecture;
    model_.hidden = a_.hidden;
    model_.vocabulary = a_.vocabulary;
    model_.trained_context = a_.trained_context;
    model_.experts = a_.experts;
    model_.experts_used = a_.experts_used;
    const WeightType& embedding = a_.embedding_type.empty() ? matrix_ : weight_type(a_.embedding_type, place_);
    add(model_.input, "token_embd.weight", {a_.hidden, a_.vocabulary}, embedding);
    if (a_.positions > 0) add(model_.input, "position_embd.weight", {a_.hidden, a_.positions}, vector_);
    for (std::int64_t i = 0; i < a_.layers; ++i) model_.layers.push_back(layer(i));
    norm(model_.output, "output_norm", a_.hidden);
    const WeightType& output = a_.output_type.empty() ? matrix_ : weight_type(a_.output_type, place_);
    if (!a_.tied) add(model_.output, "output.weight", {a_.hidden, a_.vocabulary}, output);
    check(model_, place_);
    return std::move(model_);
  }

 private:
  void check_numbers() const {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const std::pair<const char*, std::int64_t> needed[] = {
        {"layers", a_.layers},     {"hidden", a_.hidden},     {"vocabulary", a_.vocabulary}, {"heads", a_.heads},
        {"kv_heads", a_.kv_heads}, {"key_size", a_.key_size}, {"value_size", a_.value_size}};
    for (const auto& [name, value] : needed)
      if (value < 1 || value > most) throw InputError(place_, "{} is {}; it must be 1 to 2^31", name, value);
    const std::pair<const char*, std::int64_t> optional[] = {
        {"inner", a_.inner},         {"experts", a_.experts},          {"expert_inner", a_.expert_inner},
        {"rotated", a_.rotated},     {"query_rank", a_.query_rank},    {"kv_rank", a_.kv_rank},
        {"positions", a_.positions}, {"shared_inner", a_.shared_inner}};
    for (const auto& [name, value] : optional)
      if (value < 0 || value > most) throw InputError(place_, "{} is {}; it must be 0 to 2^31", name, value);
    if (a_.layers > 65536) throw InputError(place_, "has {} layers; at most 65536 are read", a_.layers);
    if (a_.expert_period < 1) throw InputError(place_, "experts are in one of {} layers", a_.expert_period);
    for (std::int64_t i = 0; i < a_.layers; ++i)
      if (a_.has_experts(i) ? a_.expert_inner == 0 : a_.inner == 0)
        throw InputError(place_, "layer {} has {} of width 0", i,
                         a_.has_experts(i) ? "experts" : "a feed-forward part");
    if (a_.kv_rank > 0 && a_.rotated >= a_.key_size)
      throw InputError(place_, "of a key of {} values {} are rotated", a_.key_size, a_.rotated);
  }

  void add(std::vector<Weight>& to, std::string name, std::vector<std::int64_t> sizes, const WeightType& type) const {
    Weight weight{std::move(name), std::move(sizes), std::string(type.name), 0};
    std::int64_t rows = 1;
    bool fits = true;
    for (std::size_t i = 1; i < weight.sizes.size(); ++i)
      fits = fits && !__builtin_mul_overflow(rows, weight.sizes[i], &rows);
    std::int64_t elements = 0;
    fits = fits && !__builtin_mul_overflow(rows, weight.sizes[0], &elements) && elements <= total_limit;
    const auto bytes = fits ? bytes_of_rows(type, weight.sizes[0], rows) : std::nullopt;
    if (!bytes) throw InputError(place_, "{} would have more than 2^62 values or bytes", weight.name);
    weight.bytes = *bytes;
    to.push_back(std::move(weight));
  }

  void norm(std::vector<Weight>& to, const std::string& name, std::int64_t width) const {
    add(to, name + ".weight", {width}, vector_);
    if (a_.all_bias) add(to, name + ".bias", {width}, vector_);
  }

  // A product from `columns` to `rows` values.
  void product(Layer& to, const std::string& name, std::int64_t columns, std::int64_t rows, bool bias = false) const {
    add(to.weights, name + ".weight", {columns, rows}, matrix_);
    if (bias || a_.all_bias) add(to.weights, name + ".bias", {rows}, vector_);
  }

  [[nodiscard]] Layer layer(std::int64_t number) const {
    Layer out;
    out.heads = a_.heads;
    out.kv_heads = a_.kv_heads;
    out.key_size = a_.key_size;
    out.value_size = a_.value_size;
    if (!a_.windows.empty()) out.window = a_.windows[static_cast<std::size_t>(number)];
    norm(out.weights, "attn_norm", a_.hidden);
    if (a_.kv_rank > 0)
      latent_attention(out);
    else
      attention(out);
    if (a_.post_norms) norm(out.weights, "post_attention_norm", a_.hidden);
    norm(out.weights, "ffn_norm", a_.hidden);
    if (a_.has_experts(number))
      experts(out);
    else
      feed_forward(out, "", a_.inner);
    if (a_.post_norms) norm(out.weights, "post_ffw_norm", a_.hidden);
    return out;
  }

  void attention(Layer& out) const {
    const std::int64_t queries = a_.heads * a_.key_size, keys = a_.kv_heads * a_.key_size,
                       values = a_.kv_heads * a_.value_size;
    out.cached_keys = keys;
    out.cached_values = values;
    if (a_.joint_qkv) {
      product(out, "attn_qkv", a_.hidden, queries + keys + values, a_.qkv_bias);
    } else {
      product(out, "attn_q", a_.hidden, queries, a_.qkv_bias);
      product(out, "attn_k", a_.hidden, keys, a_.qkv_bias);
      product(out, "attn_v", a_.hidden, values, a_.qkv_bias);
    }
    if (a_.head_norms) {
      add(out.weights, "attn_q_norm.weight", {a_.key_size}, vector_);
      add(out.weights, "attn_k_norm.weight", {a_.key_size}, vector_);
    }
    product(out, "attn_output", a_.heads * a_.value_size, a_.hidden, a_.output_bias);
    if (a_.sinks) add(out.weights, "attn_sinks.weight", {a_.heads}, vector_);
  }

  // DeepSeek-V2 (DeepSeek-AI 2024), section 2.1: the cache has one compressed vector and one rotated key a token.
  void latent_attention(Layer& out) const {
    const std::int64_t plain = a_.key_size - a_.rotated;
    if (a_.query_rank > 0) {
      product(out, "attn_q_a", a_.hidden, a_.query_rank);
      add(out.weights, "attn_q_a_norm.weight", {a_.query_rank}, vector_);
      product(out, "attn_q_b", a_.query_rank, a_.heads * a_.key_size);
    } else {
      product(out, "attn_q", a_.hidden, a_.heads * a_.key_size);
    }
    product(out, "attn_kv_a_mqa", a_.hidden, a_.kv_rank + a_.rotated);
    add(out.weights, "attn_kv_a_norm.weight", {a_.kv_rank}, vector_);
    add(out.weights, "attn_k_b.weight", {plain, a_.kv_rank, a_.heads}, matrix_);
    add(out.weights, "attn_v_b.weight", {a_.kv_rank, a_.value_size, a_.heads}, matrix_);
    product(out, "attn_output", a_.heads * a_.value_size, a_.hidden);
    out.kv_heads = 1;
    out.cached_keys = a_.kv_rank + a_.rotated;
    out.cached_values = 0;
  }

  // `suffix`: "" or that of shared experts.
  void feed_forward(Layer& out, const std::string& suffix, std::int64_t inner) const {
    if (a_.gated) product(out, "ffn_gate" + suffix, a_.hidden, inner);
    product(out, "ffn_up" + suffix, a_.hidden, inner);
    product(out, "ffn_down" + suffix, inner, a_.hidden);
  }

  // A matrix for each expert.
  void expert_product(Layer& out, const std::string& name, std::int64_t columns, std::int64_t rows) const {
    add(out.weights, name + ".weight", {columns, rows, a_.experts}, matrix_);
    if (a_.expert_bias) add(out.weights, name + ".bias", {rows, a_.experts}, vector_);
  }

  void experts(Layer& out) const {
    add(out.weights, "ffn_gate_inp.weight", {a_.hidden, a_.experts}, vector_);
    if (a_.expert_bias) add(out.weights, "ffn_gate_inp.bias", {a_.experts}, vector_);
    if (a_.selection_bias) add(out.weights, "exp_probs_b.bias", {a_.experts}, vector_);
    if (a_.gated) expert_product(out, "ffn_gate_exps", a_.hidden, a_.expert_inner);
    expert_product(out, "ffn_up_exps", a_.hidden, a_.expert_inner);
    expert_product(out, "ffn_down_exps", a_.expert_inner, a_.hidden);
    if (a_.shared_inner > 0) feed_forward(out, "_shexp", a_.shared_inner);
  }

  const Architecture& a_;
  const std::string& place_;
  const WeightType &matrix_, &vector_;
  LanguageModel model_;
};

}  // namespace

LanguageModel make_language_model(const Architecture& a, const std::string& place) { return Builder(a, place).build(); }

}  // namespace emplace::language
