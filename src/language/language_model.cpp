#include "language/language_model.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::language {

namespace {

const Weight* find_in(const std::vector<Weight>& weights, std::string_view name) {
  const auto found = std::ranges::find(weights, name, &Weight::name);
  return found == weights.end() ? nullptr : &*found;
}

template <class Visit>
void each_weight(const LanguageModel& model, Visit&& visit) {
  for (const Weight& weight : model.input) visit(weight);
  for (const Layer& layer : model.layers)
    for (const Weight& weight : layer.weights) visit(weight);
  for (const Weight& weight : model.output) visit(weight);
}

std::string sizes_of(const Weight& weight) {
  std::string text;
  for (const std::int64_t size : weight.sizes) text += fmt::format("{}{}", text.empty() ? "" : "x", size);
  return text;
}

void check_matrix(const Layer& layer, const char* name, std::int64_t columns, std::int64_t rows, const char* why,
                  const std::string& place) {
  const Weight* weight = layer.find(name);
  if (weight == nullptr || (weight->columns() == columns && weight->rows() == rows)) return;
  throw InputError(place, "{} has the sizes {}, but {} wants {}x{}", name, sizes_of(*weight), why, columns, rows);
}

void check_layer(const LanguageModel& model, const Layer& layer, const std::string& place) {
  if (layer.weights.empty()) throw InputError(place, "has no weights");
  if (layer.heads < 1 || layer.kv_heads < 1 || layer.key_size < 1 || layer.value_size < 1)
    throw InputError(place,
                     "needs at least one head with keys and values, got {} heads, {} key-value heads of {} and {}",
                     layer.heads, layer.kv_heads, layer.key_size, layer.value_size);
  if (layer.heads % layer.kv_heads != 0)
    throw InputError(place,
                     "{} heads cannot share {} key-value heads: the number of heads must be a multiple of theirs",
                     layer.heads, layer.kv_heads);
  check_matrix(layer, "attn_q.weight", model.hidden, layer.heads * layer.key_size, "heads x size of a key", place);
  check_matrix(layer, "attn_k.weight", model.hidden, layer.kv_heads * layer.key_size, "key-value heads x size of a key",
               place);
  check_matrix(layer, "attn_v.weight", model.hidden, layer.kv_heads * layer.value_size,
               "key-value heads x size of a value", place);
  for (const Weight& weight : layer.weights) {
    if (part_of(weight.name) != Part::experts || !weight.is_matrix()) continue;
    const std::size_t ranks = weight.name.ends_with(".weight") ? 3 : 2;  // biases have a vector for each expert
    if (weight.sizes.size() != ranks || weight.sizes.back() != model.experts)
      throw InputError(place, "{} has the sizes {}, but the model has {} experts", weight.name, sizes_of(weight),
                       model.experts);
  }
}

}  // namespace

std::int64_t Weight::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t size : sizes) product *= size;
  return product;
}

const Weight* Layer::find(std::string_view name) const { return find_in(weights, name); }

const char* name_of(Part part) {
  switch (part) {
    case Part::attention: return "attn";
    case Part::feed_forward: return "ffn";
    case Part::experts: return "exps";
  }
  return "";
}

Part part_of(std::string_view weight) {
  if (weight.find("_exps.") != std::string_view::npos) return Part::experts;
  if (weight.starts_with("ffn_") || weight.starts_with("exp_probs") || weight.starts_with("post_ffw"))
    return Part::feed_forward;
  return Part::attention;
}

bool LanguageModel::is_tied() const { return find_in(output, "output.weight") == nullptr; }

std::int64_t LanguageModel::parameters() const {
  std::int64_t sum = 0;
  each_weight(*this, [&](const Weight& weight) { sum += weight.elements(); });
  return sum;
}

Bytes LanguageModel::weight_bytes() const {
  Bytes sum = 0;
  each_weight(*this, [&](const Weight& weight) { sum += weight.bytes; });
  return sum;
}

void check(const LanguageModel& model, const std::string& place) {
  if (model.hidden < 1 || model.vocabulary < 1 || model.layers.empty())
    throw InputError(place, "is no language model: {} layers of width {}, a vocabulary of {}", model.layers.size(),
                     model.hidden, model.vocabulary);
  if (model.experts < 0 || model.experts_used < 0 || model.experts_used > model.experts)
    throw InputError(place, "each token uses {} experts of {}", model.experts_used, model.experts);
  if (model.experts > 0 && model.experts_used == 0)
    throw InputError(place, "has {} experts of which a token uses none", model.experts);
  const Weight* tokens = find_in(model.input, "token_embd.weight");
  if (tokens == nullptr) throw InputError(place, "has no embedding of tokens (token_embd.weight)");
  if (tokens->columns() != model.hidden || tokens->rows() != model.vocabulary)
    throw InputError(place, "token_embd.weight has the sizes {}, but the width and the vocabulary are {}x{}",
                     sizes_of(*tokens), model.hidden, model.vocabulary);
  if (const Weight* head = find_in(model.output, "output.weight");
      head != nullptr && (head->columns() != model.hidden || head->rows() != model.vocabulary))
    throw InputError(place, "output.weight has the sizes {}, but the width and the vocabulary are {}x{}",
                     sizes_of(*head), model.hidden, model.vocabulary);
  double bytes = 0, elements = 0;
  each_weight(model, [&](const Weight& weight) {
    bytes += static_cast<double>(weight.bytes);
    elements += static_cast<double>(weight.elements());
  });
  if (std::max(bytes, elements) > static_cast<double>(total_limit))
    throw InputError(place, "its weights have more than 2^62 values or bytes");
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    check_layer(model, model.layers[i], fmt::format("{}: layer {}", place, i));
}

}  // namespace emplace::language
