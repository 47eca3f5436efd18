// What the keys and tensors of a GGUF file say about a language model. Keys and names of tensors are those of llama.cpp
// (gguf-py/gguf/constants.py); periods of sliding windows that no key gives are those of its source.
#include "formats/gguf/gguf.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/gguf/header.hpp"
#include "formats/gguf/parts.hpp"

namespace emplace::formats {

namespace {

constexpr std::int64_t most_layers = 65536;

// Every how many layers one attends to all tokens, where the file does not say so. Other architectures ignore the
// window.
struct WindowPeriod {
  const char* architecture;
  std::int64_t period;
};
constexpr WindowPeriod window_periods[] = {{"gemma2", 2},  {"gemma3", 6},  {"gemma3n", 5}, {"gpt-oss", 2},
                                           {"cohere2", 4}, {"exaone4", 4}, {"olmo2", 4},   {"afmoe", 4}};

class ModelFromGguf {
 public:
  ModelFromGguf(const GgufHeader& header, std::vector<GgufTensor> tensors)
      : header_(header), path_(header.path()), tensors_(std::move(tensors)) {}

  language::LanguageModel build() {
    model_.architecture = header_.text("general.architecture", "");
    if (model_.architecture.empty()) throw InputError(path_, "has no key general.architecture");
    if (const std::string kind = header_.text("general.type", "model"); kind != "model")
      throw InputError(path_, "holds {}, not a model (general.type)", quote(kind));
    model_.name = std::filesystem::path(path_).stem().string();
    read_facts();
    sort_tensors();
    for (std::size_t i = 0; i < model_.layers.size(); ++i) cache_of(model_.layers[i]);
    language::check(model_, path_);
    return std::move(model_);
  }

 private:
  [[nodiscard]] std::string key(const std::string& name) const { return model_.architecture + "." + name; }
  [[nodiscard]] std::int64_t need(const std::string& name) const {
    const auto value = header_.whole(key(name));
    if (!value) throw InputError(path_, "has no key {}", key(name));
    return *value;
  }
  [[nodiscard]] std::int64_t positive(const std::string& name, std::int64_t most = std::int64_t{1} << 31) const {
    const std::int64_t value = need(name);
    if (value < 1 || value > most) throw InputError(path_, "{} is {}; it must be 1 to {}", key(name), value, most);
    return value;
  }

  void read_facts() {
    model_.hidden = positive("embedding_length");
    const std::int64_t layers = positive("block_count", most_layers);
    model_.trained_context = std::max<std::int64_t>(0, header_.whole(key("context_length")).value_or(0));
    model_.experts = header_.whole(key("expert_count")).value_or(0);
    model_.experts_used = header_.whole(key("expert_used_count")).value_or(0);
    model_.layers.resize(static_cast<std::size_t>(layers));
    const std::size_t count = model_.layers.size();
    const auto heads = header_.wholes(key("attention.head_count"), count);
    if (!heads)
      throw InputError(path_, "has no key {}; only transformers with attention are read", key("attention.head_count"));
    const auto kv_heads = header_.wholes(key("attention.head_count_kv"), count).value_or(*heads);
    for (std::size_t i = 0; i < count; ++i) {
      language::Layer& layer = model_.layers[i];
      layer.heads = (*heads)[i];
      layer.kv_heads = kv_heads[i];
      if (layer.heads < 1 || layer.kv_heads < 1 || layer.heads > (1 << 20) || layer.kv_heads > (1 << 20))
        throw InputError(
            path_, "layer {} has {} heads and {} key-value heads; only models with attention in every layer are read",
            i, layer.heads, layer.kv_heads);
      layer.key_size = size_of_head("attention.key_length", layer.heads);
      layer.value_size = size_of_head("attention.value_length", layer.heads);
    }
    read_windows();
  }

  [[nodiscard]] std::int64_t size_of_head(const char* name, std::int64_t heads) const {
    const std::int64_t size = header_.whole(key(name)).value_or(model_.hidden / heads);
    if (size < 1 || size > (1 << 24)) throw InputError(path_, "{} is {}", key(name), size);
    return size;
  }

  void read_windows() {
    const std::int64_t window = header_.whole(key("attention.sliding_window")).value_or(0);
    if (window <= 0) return;
    const std::size_t count = model_.layers.size();
    const auto of_architecture = std::ranges::find_if(
        window_periods, [&](const WindowPeriod& each) { return model_.architecture == each.architecture; });
    std::int64_t period = of_architecture == std::end(window_periods) ? 1 : of_architecture->period;
    const std::string pattern = key("attention.sliding_window_pattern");
    const bool is_list = header_.is_list(pattern);
    if (!is_list) period = header_.whole(pattern).value_or(period);
    const auto flags = is_list ? header_.wholes(pattern, count) : std::nullopt;
    for (std::size_t i = 0; i < count; ++i) {
      // As llama.cpp: of each period the last layer attends to all tokens; period 0: none does.
      const bool slides = flags ? (*flags)[i] != 0 : period == 0 || static_cast<std::int64_t>(i) % period < period - 1;
      if (slides) model_.layers[i].window = window;
    }
  }

  // Puts each tensor where it belongs: "blk.3.ffn_up.weight" in layer 3, the others into the input or the output.
  void sort_tensors() {
    std::vector<std::string> strange;
    for (GgufTensor& tensor : tensors_) {
      language::Weight weight{tensor.name, std::move(tensor.sizes), std::move(tensor.type), tensor.bytes};
      if (tensor.name.starts_with("blk.")) {
        add_to_layer(std::move(weight), strange);
      } else if (tensor.name.starts_with("token_embd") || tensor.name.starts_with("position_embd") ||
                 tensor.name.starts_with("token_types") || tensor.name.starts_with("per_layer_")) {
        model_.input.push_back(std::move(weight));
      } else if (tensor.name.starts_with("output") || tensor.name.starts_with("rope_")) {
        model_.output.push_back(std::move(weight));
      } else {
        strange.push_back(tensor.name);
      }
    }
    if (!strange.empty()) {
      const std::size_t all = strange.size();
      strange.resize(std::min<std::size_t>(all, 3));
      throw InputError(
          path_, "is a model of the architecture {} with {} tensors that are not of a transformer with attention: {}{}",
          quote(model_.architecture), all, join(strange, ", "), all > 3 ? ", ..." : "");
    }
    for (const language::Weight& weight : model_.input)
      if (weight.name == "token_embd.weight") model_.vocabulary = weight.rows();
    if (const auto given = header_.whole(key("vocab_size")).has_value() ? header_.whole(key("vocab_size"))
                                                                        : header_.length("tokenizer.ggml.tokens");
        given && *given > model_.vocabulary && model_.vocabulary > 0)
      throw InputError(path_, "has a vocabulary of {}, but token_embd.weight has {} rows", *given, model_.vocabulary);
  }

  void add_to_layer(language::Weight weight, std::vector<std::string>& strange) {
    const std::size_t dot = weight.name.find('.', 4);
    std::int64_t layer = -1;
    if (dot == std::string::npos || !parse_number(std::string_view(weight.name).substr(4, dot - 4), layer) || layer < 0)
      throw InputError(path_, "tensor {} is of no layer", quote(weight.name));
    if (layer >= static_cast<std::int64_t>(model_.layers.size()))
      throw InputError(path_, "tensor {} is of layer {}, but {} is {}", quote(weight.name), layer, key("block_count"),
                       model_.layers.size());
    const std::string name = weight.name.substr(dot + 1);
    for (const char* recurrent : {"ssm_", "time_mix_", "channel_mix_", "shortconv", "cross_attn", "enc."})
      if (name.starts_with(recurrent)) return strange.push_back(weight.name);
    weight.name = name;
    model_.layers[static_cast<std::size_t>(layer)].weights.push_back(std::move(weight));
  }

  // Latent attention (DeepSeek) keeps one vector for all heads, from which keys and values are computed: llama.cpp
  // caches it where the file has the matrices for that (attn_k_b, attn_v_b); files from before April 2025 have
  // attn_kv_b alone, of which the full keys and values are cached.
  void cache_of(language::Layer& layer) {
    layer.cached_keys = layer.kv_heads * layer.key_size;
    layer.cached_values = layer.kv_heads * layer.value_size;
    const auto rank = header_.whole(key("attention.kv_lora_rank"));
    if (!rank || layer.find("attn_kv_a_mqa.weight") == nullptr) return;
    const std::int64_t rotated = header_.whole(key("rope.dimension_count")).value_or(0);
    if (*rank < 1 || *rank > (1 << 24) || rotated < 0 || rotated > (1 << 24))
      throw InputError(path_, "{} is {} and {} is {}", key("attention.kv_lora_rank"), *rank,
                       key("rope.dimension_count"), rotated);
    if (layer.find("attn_k_b.weight") != nullptr) {
      layer.kv_heads = 1;
      layer.cached_keys = *rank + rotated;
      layer.cached_values = 0;
      layer.key_size = header_.whole(key("attention.key_length_mla")).value_or(layer.key_size);
      layer.value_size = header_.whole(key("attention.value_length_mla")).value_or(layer.value_size);
    } else {
      layer.kv_heads = layer.heads;
      layer.cached_keys = layer.heads * layer.key_size;
      layer.cached_values = layer.heads * layer.value_size;
    }
  }

  const GgufHeader& header_;
  const std::string& path_;
  std::vector<GgufTensor> tensors_;
  language::LanguageModel model_;
};

void append(std::vector<GgufTensor>& to, std::vector<GgufTensor>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// The tensors of all parts; what they say of each other must agree.
std::vector<GgufTensor> tensors_of_parts(GgufHeader& first, const std::vector<std::string>& parts, Bytes& claimed,
                                         Bytes& held) {
  const std::string& path = first.path();
  const std::int64_t stated = first.whole("split.count").value_or(1);
  if (stated > 1 && stated != static_cast<std::int64_t>(parts.size()))
    throw InputError(path, "is one of {} parts (split.count), but its name says {}", stated, parts.size());
  std::vector<GgufTensor> tensors = std::move(first.tensors);
  claimed = first.data_bytes;
  held = std::min(first.held_bytes, first.data_bytes);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    GgufHeader part(parts[i]);
    if (const auto number = part.whole("split.no"); !number || *number != static_cast<std::int64_t>(i))
      throw InputError(parts[i], "should be part {} (split.no), but says {}", i,
                       number ? fmt::format("{}", *number) : "nothing");
    claimed += part.data_bytes;
    held += std::min(part.held_bytes, part.data_bytes);
    append(tensors, std::move(part.tensors));
  }
  if (const auto count = first.whole("split.tensors.count");
      count && *count != static_cast<std::int64_t>(tensors.size()))
    throw InputError(path, "has {} tensors in all of its parts, but split.tensors.count is {}", tensors.size(), *count);
  std::vector<std::string> names;
  for (const GgufTensor& tensor : tensors) names.push_back(tensor.name);
  std::ranges::sort(names);
  if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
    throw InputError(path, "the tensor {} is in two parts", quote(*twice));
  return tensors;
}

}  // namespace

language::LanguageModel read_gguf(const std::string& path) {
  const std::vector<std::string> parts = gguf_parts(path);
  for (const std::string& part : parts)
    if (!file_exists(part))
      throw InputError(path, "is one of {} parts, of which {} is missing", parts.size(), quote(part));
  GgufHeader first(parts.front());
  if (parts.size() == 1 && first.whole("split.count").value_or(1) > 1)
    throw InputError(
        path,
        "is part {} of {} (split.no, split.count), but its name is not of the form NAME-00001-of-{:05}.gguf, "
        "from which the other parts follow",
        first.whole("split.no").value_or(0) + 1, *first.whole("split.count"), *first.whole("split.count"));
  Bytes claimed = 0, held = 0;
  std::vector<GgufTensor> tensors = tensors_of_parts(first, parts, claimed, held);
  language::LanguageModel model = ModelFromGguf(first, std::move(tensors)).build();
  if (held == 0)
    model.notes.push_back(fmt::format("{} holds the header alone, without weights", path));
  else if (held < claimed)
    model.notes.push_back(
        fmt::format("{} is not complete: it holds {} of {} of weights", path, human_bytes(held), human_bytes(claimed)));
  return model;
}

}  // namespace emplace::formats
