#include "language/scenario.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "language/weight_type.hpp"

namespace emplace::language {

namespace {

constexpr std::int64_t most_context = std::int64_t{1} << 30, most_sequences = std::int64_t{1} << 20,
                       most_batch = std::int64_t{1} << 20;
constexpr std::int64_t cell_block = 256;

// Those of llama.cpp's --cache-type-k (common/arg.cpp).
constexpr std::array<std::string_view, 9> kv_types = {"F32",  "F16",    "BF16", "Q8_0", "Q4_0",
                                                      "Q4_1", "IQ4_NL", "Q5_0", "Q5_1"};

std::int64_t in_blocks(std::int64_t cells) { return (cells + cell_block - 1) / cell_block * cell_block; }

void check_bounds(const char* name, std::int64_t value, std::int64_t least, std::int64_t most,
                  const std::string& place) {
  if (value < least || value > most) throw InputError(place, "{} is {}; it must be {} to {}", name, value, least, most);
}

Bytes product_of(Bytes a, Bytes b) {
  Bytes product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > total_limit)
    throw InputError("KV cache", "would take more than 2^62 bytes");
  return product;
}

}  // namespace

const char* name_of(Phase phase) { return phase == Phase::prefill ? "prefill" : "decode"; }

void describe(Scenario& s, OptionVisitor& visit) {
  std::string phase = name_of(s.phase);
  visit("phase", phase,
        {.choices = {"decode", "prefill"}, .help = "One new token of each sequence, or a part of a prompt."});
  s.phase = phase == "prefill" ? Phase::prefill : Phase::decode;
  visit("context", s.context,
        {.min = 1,
         .max = double{most_context},
         .unit = "tokens",
         .help = "Tokens of each sequence for which the KV cache has room."});
  visit("sequences", s.sequences,
        {.min = 1, .max = double{most_sequences}, .help = "Sequences in the cache; decode computes a token of each."});
  visit("batch", s.batch,
        {.min = 1, .max = double{most_batch}, .unit = "tokens", .help = "Tokens of a prompt computed at once."});
  visit("length", s.length,
        {.min = 1,
         .max = double{most_context},
         .unit = "tokens",
         .help = "Length of the sequences at decode, of the prompt at prefill; without it that of the context."});
  visit("kv_type", s.kv_type, {.help = "Type of keys and values in the cache: F16, Q8_0, ..."});
}

void check(const Scenario& s, const std::string& place) {
  check_bounds("context", s.context, 1, most_context, place);
  check_bounds("sequences", s.sequences, 1, most_sequences, place);
  check_bounds("batch", s.batch, 1, most_batch, place);
  if (s.length < 0 || s.length > s.context)
    throw InputError(place, "length is {}, but the context has {} tokens", s.length, s.context);
  const WeightType* type = find_weight_type(s.kv_type);
  if (type != nullptr && std::ranges::find(kv_types, type->name) != kv_types.end()) return;
  const std::vector<std::string> known(kv_types.begin(), kv_types.end());
  throw InputError(place, "{} is no type of a KV cache{}; known: {}", quote(s.kv_type), did_you_mean(s.kv_type, known),
                   join(known, ", "));
}

std::int64_t length_of(const Scenario& s) { return s.length > 0 ? s.length : s.context; }

std::int64_t tokens_of(const Scenario& s) {
  return s.phase == Phase::decode ? s.sequences : std::min(s.batch, length_of(s));
}

double steps_of(const Scenario& s) {
  return s.phase == Phase::decode ? 1 : static_cast<double>(length_of(s)) / static_cast<double>(tokens_of(s));
}

std::int64_t cache_cells(const Layer& layer, const Scenario& s) {
  const std::int64_t all = in_blocks(s.context);
  return layer.window == 0 || layer.window >= all ? all : std::min(all, in_blocks(layer.window + s.batch));
}

Bytes bytes_of_cell(const Layer& layer, const Scenario& s) {
  const WeightType& type = weight_type(s.kv_type, "kv_type");
  const auto keys = bytes_of_rows(type, layer.cached_keys, 1), values = bytes_of_rows(type, layer.cached_values, 1);
  if (!keys || !values) throw InputError("KV cache", "would take more than 2^62 bytes");
  return product_of(*keys + *values, 1);
}

Bytes cache_bytes(const Layer& layer, const Scenario& s) {
  return product_of(bytes_of_cell(layer, s), s.sequences * cache_cells(layer, s));
}

Bytes cache_bytes(const LanguageModel& model, const Scenario& s) {
  Bytes sum = 0;
  for (const Layer& layer : model.layers) sum = product_of(sum + cache_bytes(layer, s), 1);
  return sum;
}

double attended(const Layer& layer, const Scenario& s) {
  const auto length = static_cast<double>(length_of(s));
  const double window = layer.window == 0 ? length : std::min(length, static_cast<double>(layer.window));
  if (s.phase == Phase::decode) return window;
  // The first `window` tokens attend to 1, 2, ... tokens, each of the others to `window`.
  return (window * (window + 1) / 2 + (length - window) * window) / length;
}

Bytes cache_read(const Layer& layer, const Scenario& s) {
  const Bytes cell = bytes_of_cell(layer, s);
  if (s.phase == Phase::decode) return product_of(cell, s.sequences * static_cast<std::int64_t>(attended(layer, s)));
  // After step k of a prompt the cache holds k batches: half of the prompt and half a batch in the mean.
  const std::int64_t length = length_of(s), tokens = tokens_of(s);
  const std::int64_t held = (length + tokens) / 2;
  return product_of(cell, layer.window == 0 ? held : std::min(held, layer.window + tokens));
}

}  // namespace emplace::language
