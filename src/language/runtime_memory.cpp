#include "language/runtime_memory.hpp"

#include <algorithm>

#include "language/buffer_plan.hpp"
#include "language/weight_type.hpp"

namespace emplace::language {

namespace {

constexpr std::int64_t padded_to(std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; }

constexpr Bytes f32 = 4, i32 = 4, i64 = 8, f16 = 2;
constexpr int micro_batches_at_a_time = 4;

// The graph of a micro-batch, layer by layer, as llama.cpp's models build it. Weights have places of their own and do
// not appear. Sizes are bytes of all tokens of the micro-batch.
class MicroBatch {
 public:
  using Tensor = BufferPlan::Tensor;

  MicroBatch(const LanguageModel& model, const Scenario& scenario, const DeviceOfParts& placed,
             const ComputeOptions& options)
      : model_(model),
        scenario_(scenario),
        options_(options),
        placed_(placed),
        plan_(placed.devices, options.pipelined ? micro_batches_at_a_time : 1),
        quantised_cache_(is_quantised(weight_type(scenario.kv_type, "kv_type"))) {
    tokens_ = std::min(scenario.batch, padded_to(scenario.context * scenario.sequences, 256));
    rows_ = tokens_;
    for (const Layer& layer : model.layers)
      rotates_ = rotates_ && layer.key_size % 64 == 0 && layer.key_size == model.layers[0].key_size;
  }

  std::vector<Bytes> bytes() {
    Tensor stream = embedding();
    for (std::size_t i = 0; i < model_.layers.size(); ++i) stream = layer(i, stream);
    const Tensor last = first_norm(stream, placed_.output);
    plan_.keep(last);
    plan_.keep(plan_.result(values(model_.vocabulary), {last}));
    return plan_.totals();
  }

 private:
  struct Inputs {
    Tensor keys_at = -1, values_at = -1, mask = -1;
  };

  [[nodiscard]] Bytes values(std::int64_t of_a_token) const { return of_a_token * rows_ * f32; }
  [[nodiscard]] std::int64_t cells(const Layer& layer) const { return cache_cells(layer, scenario_); }
  [[nodiscard]] bool is_gemma() const { return model_.architecture.starts_with("gemma"); }

  // Made at its first use.
  Tensor input(Tensor& made, Bytes bytes) {
    if (made < 0) made = plan_.input(bytes);
    return made;
  }
  Tensor positions() { return input(positions_, tokens_ * i32); }
  Tensor rows_out() { return input(rows_out_, outputs() * i32); }
  [[nodiscard]] std::int64_t outputs() const {
    return options_.outputs > 0 ? std::min(options_.outputs, tokens_) : tokens_;
  }

  Tensor embedding() {
    const Tensor tokens = plan_.input(tokens_ * i32);
    plan_.unread_input(values(model_.hidden));  // for callers who give embeddings instead of tokens
    Tensor stream = plan_.result(values(model_.hidden), {tokens});
    if (model_.input.size() > 1) {  // learned embeddings of positions
      const Tensor places = plan_.result(values(model_.hidden), {positions()});
      stream = plan_.in_place(values(model_.hidden), {stream, places});
    }
    return stream;
  }

  // A root-mean-square norm may overwrite its input, a norm with means (GPT-2) does not.
  Tensor norm(Tensor of, std::int64_t width) {
    return model_.architecture == "gpt2" ? plan_.result(values(width), {of}) : plan_.in_place(values(width), {of});
  }

  // The norm at the beginning of a device's part. What has no weights stays on the device before, unless that is the
  // host: only the product with the norm's weights is on the device itself.
  Tensor first_norm(Tensor of, std::size_t device) {
    plan_.on(plan_.device(of) == 0 ? device : plan_.device(of));
    const Tensor normed = norm(of, model_.hidden);
    plan_.on(device);
    return plan_.in_place(values(model_.hidden), {normed});
  }

  Tensor layer(std::size_t number, Tensor stream) {
    const Layer& layer = model_.layers[number];
    const Tensor normed = first_norm(stream, placed_.attention[number]);
    Tensor out =
        layer.find("attn_kv_a_mqa.weight") != nullptr ? latent_attention(layer, normed) : attention(layer, normed);
    const bool last = number + 1 == model_.layers.size();
    if (last) {  // only tokens with outputs go on
      rows_ = outputs();
      out = plan_.result(values(model_.hidden), {out, rows_out()});
    }
    if (layer.find("post_attention_norm.weight") != nullptr) out = norm(out, model_.hidden);
    if (last) stream = plan_.result(values(model_.hidden), {stream, rows_out()});
    const Tensor middle = plan_.in_place(values(model_.hidden), {out, stream});
    const Tensor from = first_norm(middle, placed_.feed_forward[number]);
    const Tensor inner =
        layer.find("ffn_gate_inp.weight") != nullptr ? experts(layer, from, number) : feed_forward(layer, from, "");
    return plan_.in_place(values(model_.hidden), {inner, middle});
  }

  Tensor rotated(const Layer&, Tensor tensor) {
    return plan_.result(plan_.bytes(tensor), {plan_.view(tensor), positions()});
  }

  // A product whose result goes through a norm of each head, if the layer has one, and is turned by its position.
  Tensor projected(const Layer& layer, Tensor from, std::int64_t width, const char* head_norm, bool turned) {
    Tensor out = plan_.result(values(width), {from});
    const bool normed = head_norm != nullptr && layer.find(head_norm) != nullptr;
    if (normed) out = plan_.result(values(width), {plan_.view(out)});
    if (!turned) return out;
    return normed ? plan_.in_place(values(width), {out, positions()}) : rotated(layer, out);
  }

  // Caches of quantised types keep keys and values multiplied with a Hadamard matrix.
  Tensor mixed(Tensor of, Tensor& matrix, std::int64_t size) {
    return plan_.result(plan_.bytes(of), {input(matrix, size * size * f32), plan_.view(of)});
  }
  [[nodiscard]] bool mixes() const { return quantised_cache_ && rotates_; }
  [[nodiscard]] static std::int64_t mixing_size(std::int64_t head) {
    std::int64_t size = 64;
    while (head % (2 * size) == 0) size *= 2;
    return size;
  }

  Inputs& inputs(const Layer& layer) { return layer.window > 0 ? window_ : full_; }

  void store_keys(const Layer& layer, Tensor keys) {
    Inputs& in = inputs(layer);
    plan_.read(plan_.view(keys));
    plan_.read(input(in.keys_at, tokens_ * i64));
  }

  void store_values(const Layer& layer, Tensor values) {
    Inputs& in = inputs(layer);
    const std::int64_t places = options_.flash_attention ? 1 : layer.cached_values;
    plan_.read(plan_.view(values));
    plan_.read(input(in.values_at, tokens_ * places * i64));
  }

  Tensor attention(const Layer& layer, Tensor normed) {
    const std::int64_t width = layer.heads * layer.key_size;
    const bool turns = model_.input.size() == 1;
    Tensor queries, keys, kept_values;
    if (layer.find("attn_qkv.weight") != nullptr) {
      const Tensor all = plan_.result(values(width + layer.cached_keys + layer.cached_values), {normed});
      queries = plan_.view(all);
      kept_values = plan_.view(all);
      keys = plan_.view(all);
      if (mixes()) {
        queries = mixed(plan_.result(values(width), {queries}), key_matrix_, mixing_size(layer.key_size));
        kept_values = mixed(plan_.result(values(layer.cached_values), {kept_values}), value_matrix_, 64);
        keys = mixed(plan_.result(values(layer.cached_keys), {keys}), key_matrix_, mixing_size(layer.key_size));
      }
      if (!options_.flash_attention) {
        store_keys(layer, keys);
        store_values(layer, plan_.result(values(layer.cached_values), {kept_values}));
        return attend(layer, queries, values(layer.heads * layer.value_size));
      }
    } else {
      queries = projected(layer, normed, width, "attn_q_norm.weight", turns);
      if (mixes()) queries = mixed(queries, key_matrix_, mixing_size(layer.key_size));
      const auto make_values = [&] {
        kept_values = projected(layer, normed, layer.cached_values, nullptr, false);
        if (mixes()) kept_values = mixed(kept_values, value_matrix_, 64);
      };
      if (!is_gemma()) make_values();
      keys = projected(layer, normed, layer.cached_keys, "attn_k_norm.weight", turns);
      if (mixes()) keys = mixed(keys, key_matrix_, mixing_size(layer.key_size));
      if (is_gemma()) make_values();
    }
    store_keys(layer, keys);
    store_values(layer, kept_values);
    return attend(layer, queries, values(layer.heads * layer.value_size));
  }

  // The heads' sums of values, and the product after them.
  Tensor attend(const Layer& layer, Tensor queries, Bytes size) {
    Tensor out = scores_and_sums(layer, queries, size);
    if (options_.flash_attention) {
      if (mixes()) out = mixed(out, value_matrix_, 64);
    } else {
      out = plan_.result(size, {plan_.view(out)});  // heads side by side
    }
    return plan_.result(values(model_.hidden), {plan_.view(out)});
  }

  Tensor scores_and_sums(const Layer& layer, Tensor queries, Bytes size, Tensor cached = -1) {
    Inputs& in = inputs(layer);
    const Tensor mask = input(in.mask, tokens_ * cells(layer) * (options_.flash_attention ? f16 : f32));
    const Tensor shaped = plan_.view(queries);
    if (options_.flash_attention) return plan_.result(size, {shaped, mask});
    const Bytes of_scores = values(layer.heads * cells(layer));
    Tensor scores = plan_.result(of_scores, {shaped});
    scores = plan_.in_place(of_scores, {scores, mask});
    return cached < 0 ? plan_.result(size, {scores}) : plan_.result(size, {cached, scores});
  }

  // DeepSeek-V2's form with absorbed matrices: the cache's compressed vectors are keys and values.
  Tensor latent_attention(const Layer& layer, Tensor normed) {
    const std::int64_t compressed = layer.find("attn_kv_a_norm.weight")->columns(),
                       turned = layer.cached_keys - compressed;
    Tensor from = normed;
    if (const Weight* first = layer.find("attn_q_a.weight")) {
      from = norm(plan_.result(values(first->rows()), {normed}), first->rows());
    }
    const Tensor all = plan_.result(values(layer.heads * layer.key_size), {from});
    const Tensor plain = plan_.view(all);
    const Tensor absorbed = plan_.result(values(layer.heads * compressed), {plain});
    const Tensor other = plan_.view(absorbed);
    const Tensor turned_part = plan_.result(values(layer.heads * turned), {plan_.view(all), positions()});
    Tensor queries = plan_.result(values(layer.heads * layer.cached_keys), {other, turned_part});
    if (mixes()) queries = mixed(queries, key_matrix_, mixing_size(layer.cached_keys));
    const Tensor pair = plan_.result(values(layer.cached_keys), {normed});
    const Tensor vector = plan_.result(values(compressed), {plan_.view(pair)});
    const Tensor key_part = plan_.result(values(turned), {plan_.view(pair), positions()});
    Tensor keys = plan_.result(values(layer.cached_keys), {plan_.view(vector), key_part});
    if (mixes()) keys = mixed(keys, key_matrix_, mixing_size(layer.cached_keys));
    store_keys(layer, keys);
    Tensor cached = -1;
    if (!options_.flash_attention) cached = plan_.result(scenario_.sequences * cells(layer) * compressed * f16, {});
    const Tensor sums = scores_and_sums(layer, queries, values(layer.heads * compressed), cached);
    const Bytes size = values(layer.heads * layer.value_size);
    const Tensor raised = plan_.result(size, {options_.flash_attention ? plan_.view(sums) : sums});
    const Tensor side_by_side = plan_.result(size, {plan_.view(raised)});
    return plan_.result(values(model_.hidden), {plan_.view(side_by_side)});
  }

  Tensor feed_forward(const Layer& layer, Tensor from, const std::string& suffix) {
    const std::int64_t inner = layer.find("ffn_up" + suffix + ".weight")->rows();
    Tensor hidden;
    if (layer.find("ffn_gate" + suffix + ".weight") != nullptr) {
      const Tensor gate = plan_.result(values(inner), {from});
      const Tensor up = plan_.result(values(inner), {from});
      hidden = plan_.result(values(inner), {gate, up});
    } else {
      hidden = plan_.result(values(inner), {from});
    }
    Tensor out = plan_.result(values(model_.hidden), {hidden});
    if (layer.find("post_ffw_norm.weight") != nullptr) out = norm(out, model_.hidden);
    return out;
  }

  Tensor experts(const Layer& layer, Tensor from, std::size_t number) {
    const std::int64_t used = model_.experts_used, inner = layer.find("ffn_up_exps.weight")->rows();
    const Tensor scores = plan_.in_place(values(model_.experts), {plan_.result(values(model_.experts), {from})});
    const Tensor scores_of = plan_.view(scores);
    const Tensor order = plan_.view(plan_.result(values(model_.experts), {scores}));
    const Tensor weights = plan_.view(plan_.result(values(used), {scores_of, order}));
    const Tensor rows = plan_.view(from);
    plan_.on(placed_.experts[number]);
    const Tensor gate = plan_.result(values(inner * used), {rows, order});
    const Tensor up = plan_.result(values(inner * used), {rows, order});
    const Tensor hidden = plan_.result(values(inner * used), {gate, up});
    Tensor each = plan_.result(values(model_.hidden * used), {hidden, order});
    plan_.on(placed_.feed_forward[number]);
    each = plan_.in_place(plan_.bytes(each), {each, weights});
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < used; ++i) parts.push_back(plan_.view(each));
    Tensor sum = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) sum = plan_.in_place(values(model_.hidden), {sum, parts[i]});
    if (layer.find("ffn_up_shexp.weight") != nullptr) {
      const Tensor shared = feed_forward(layer, from, "_shexp");
      sum = plan_.in_place(values(model_.hidden), {sum, shared});
    }
    return sum;
  }

  const LanguageModel& model_;
  const Scenario& scenario_;
  const ComputeOptions& options_;
  const DeviceOfParts& placed_;
  BufferPlan plan_;
  std::int64_t tokens_ = 0;
  std::int64_t rows_ = 0;  // of the tensors: all tokens, or those with outputs
  bool quantised_cache_, rotates_ = true;
  Tensor positions_ = -1, rows_out_ = -1, key_matrix_ = -1, value_matrix_ = -1;
  Inputs full_, window_;
};

}  // namespace

DeviceOfParts all_on_host(const LanguageModel& model) {
  const std::vector<std::size_t> host(model.layers.size(), 0);
  return {1, host, host, host, 0};
}

std::vector<Bytes> compute_bytes(const LanguageModel& model, const Scenario& scenario, const DeviceOfParts& placed,
                                 const ComputeOptions& options) {
  return MicroBatch(model, scenario, placed, options).bytes();
}

Bytes output_bytes(const LanguageModel& model, const Scenario& scenario) {
  return model.vocabulary * scenario.sequences * f32;
}

}  // namespace emplace::language
