// What a language model is asked to do: one step for some sequences, each with room for some context.
#pragma once

#include <cstdint>
#include <string>

#include "emplace/base/options.hpp"
#include "language/language_model.hpp"

namespace emplace::language {

enum class Phase : std::uint8_t {
  prefill,  // a part of a prompt, as many tokens as are computed at once
  decode    // one new token of each sequence
};
[[nodiscard]] const char* name_of(Phase phase);

struct Scenario {
  Phase phase = Phase::decode;
  std::int64_t context = 4096;  // tokens of each sequence for which the KV cache has room
  std::int64_t sequences = 1;   // sequences in the cache; a step of decode computes a token of each
  std::int64_t batch = 512;     // tokens of a prompt that are computed at once (llama.cpp's --ubatch-size)
  std::int64_t length = 0;      // of a sequence at decode, of the prompt at prefill; 0: the context
  std::string kv_type = "F16";  // of keys and values in the cache
  bool operator==(const Scenario&) const = default;
};

// The options after '?' of a model, such as "phase=prefill&context=8192".
void describe(Scenario& scenario, OptionVisitor& visit);
// InputError with `place`: a length beyond the context, a type that no KV cache has, or a number out of bounds.
void check(const Scenario& scenario, const std::string& place);

[[nodiscard]] std::int64_t length_of(const Scenario& scenario);
// Tokens that the step computes: `sequences` at decode, at prefill at most `batch` of one prompt.
[[nodiscard]] std::int64_t tokens_of(const Scenario& scenario);
// How many such steps there are: 1 at decode, and until the end of the prompt at prefill (4 for 2048 tokens of which
// 512 are computed at once). The graph of prefill is the mean of them.
[[nodiscard]] double steps_of(const Scenario& scenario);

// Tokens of one sequence for which the layer's cache has room. llama.cpp gives a layer with a window no more than the
// window and one batch, and rounds up to 256.
[[nodiscard]] std::int64_t cache_cells(const Layer& layer, const Scenario& scenario);
// Keys and values of one token, and all that the cache of the layer takes. InputError above 2^62.
[[nodiscard]] Bytes bytes_of_cell(const Layer& layer, const Scenario& scenario);
[[nodiscard]] Bytes cache_bytes(const Layer& layer, const Scenario& scenario);
[[nodiscard]] Bytes cache_bytes(const LanguageModel& model, const Scenario& scenario);

// How many tokens a token of the step attends to, itself included; at prefill the mean over the prompt.
[[nodiscard]] double attended(const Layer& layer, const Scenario& scenario);
// Bytes that the layer's attention reads of the cache in the step: every cell that some token attends to, once.
[[nodiscard]] Bytes cache_read(const Layer& layer, const Scenario& scenario);

}  // namespace emplace::language
