// The attention part of a layer: with heads that share keys and values, or with a compressed cache.
#include "emplace/base/error.hpp"
#include "language/step_builder.hpp"

namespace emplace::language {

namespace {

// Rotates queries or keys by their positions, unless positions are learned.
Operand rotate(StepBuilder& step, const std::string& name, const Operand& x) {
  for (const Weight& weight : step.model.input)
    if (weight.name == "position_embd.weight") return x;
  return step.add(name, "RotaryEmbedding", {x}, step.sizes_of(x));
}

// Queries against the cache, which holds the new keys and values too.
Operand attend(StepBuilder& step, const Layer& layer, std::vector<Operand> operands, Sizes sizes) {
  for (const Operand& sinks : step.take_all("attn_sinks")) operands.push_back(sinks);
  const std::string& kv_type = step.scenario.kv_type;
  const Bytes written = bytes_of_cell(layer, step.scenario) * step.tokens;
  const OpId op =
      step.add_op("attn", "ggml.flash_attn_ext", std::move(operands),
                  {{"attended", attended(layer, step.scenario)},
                   {"cache_read", cache_read(layer, step.scenario)},
                   {"cache_written", written},
                   {"computes_in", std::string(kv_type == "BF16" || kv_type == "F32" ? computes_in(kv_type) : "f16")}});
  step.graph.ops[op.index()].state_bytes = cache_bytes(layer, step.scenario);
  return step.output(op, std::move(sizes));
}

Operand grouped_attention(StepBuilder& step, const Layer& layer, const Operand& x) {
  const Sizes queries = {step.tokens, layer.heads, layer.key_size},
              keys = {step.tokens, layer.kv_heads, layer.key_size};
  Operand q, k, v;
  if (step.has("attn_qkv")) {
    const Operand joint = step.product("attn_qkv", x);
    q = step.add("attn_q", "aten.slice", {joint}, queries);
    k = step.add("attn_k", "aten.slice", {joint}, keys);
    v = joint;
  } else {
    q = step.product("attn_q", x, queries);
    k = step.has("attn_k") ? step.product("attn_k", x, keys) : x;
    v = step.has("attn_v") ? step.product("attn_v", x) : k;
  }
  q = rotate(step, "attn_q_rope", step.norm("attn_q_norm", q));
  k = rotate(step, "attn_k_rope", step.norm("attn_k_norm", k));
  return attend(step, layer, {q, k, v}, {step.tokens, layer.heads * layer.value_size});
}

// DeepSeek-V2 (DeepSeek-AI 2024), section 2.1. With attn_k_b and attn_v_b queries are taken to the compressed space, in
// which all heads share the cache; with attn_kv_b each head has its keys and values.
Operand latent_attention(StepBuilder& step, const Layer& layer, const Operand& x) {
  const Sizes queries = {step.tokens, layer.heads, layer.key_size};
  Operand q = step.has("attn_q_a")
                  ? step.product("attn_q_b", step.norm("attn_q_a_norm", step.product("attn_q_a", x)), queries)
                  : step.product("attn_q", x, queries);
  q = rotate(step, "attn_q_rope", q);
  const std::int64_t cached = step.find("attn_kv_a_mqa.weight")->rows();
  const Weight* scales = step.find("attn_kv_a_norm.weight");
  if (scales == nullptr) throw InputError(step.place, "has attn_kv_a_mqa.weight, but no attn_kv_a_norm.weight");
  const std::int64_t rank = scales->columns(), rotated = cached - rank;
  const Operand compressed = step.norm("attn_kv_a_norm", step.product("attn_kv_a_mqa", x));
  if (!step.has("attn_k_b")) {
    const Operand kv = step.product("attn_kv_b", step.add("attn_kv", "aten.slice", {compressed}, {step.tokens, rank}));
    return attend(step, layer, {q, kv}, {step.tokens, layer.heads * layer.value_size});
  }
  const Operand plain =
      step.add("attn_q_plain", "aten.slice", {q}, {step.tokens, layer.heads, layer.key_size - rotated});
  const Operand absorbed = step.product("attn_k_b", plain, {step.tokens, layer.heads, rank});
  const Operand query = step.add("attn_q_latent", "Concat", {absorbed, q}, {step.tokens, layer.heads, cached});
  const Operand mixed = attend(step, layer, {query, compressed}, {step.tokens, layer.heads, rank});
  return step.product("attn_v_b", mixed, {step.tokens, layer.heads * layer.value_size});
}

}  // namespace

Operand add_attention(StepBuilder& step, const Layer& layer, Operand x) {
  const Operand normed = step.norm("attn_norm", x);
  Operand out =
      step.has("attn_kv_a_mqa") ? latent_attention(step, layer, normed) : grouped_attention(step, layer, normed);
  if (step.has("attn_sub_norm")) out = step.norm("attn_sub_norm", out);
  if (step.has("attn_output")) out = step.product("attn_output", out);
  out = step.norm("post_attention_norm", out);
  std::vector<Operand> operands = {x, out};
  for (const Operand& each : step.rest(normed, [](const Weight& w) { return part_of(w.name) == Part::attention; }))
    operands.push_back(each);
  return step.add("attn_residual", "Add", std::move(operands), step.sizes_of(x));
}

}  // namespace emplace::language
