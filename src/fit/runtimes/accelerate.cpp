// accelerate's device_map: a device for each module of a transformers model. Layers must not be split: their residual
// connections would join tensors of two devices. What the map gives to "cpu" is computed on a GPU all the same.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "fit/runtimes/runtime_text.hpp"

namespace emplace::fit {

namespace {

struct ModuleNames {
  const char *tokens, *layers, *norm, *head;
};
constexpr ModuleNames llama_modules = {"model.embed_tokens", "model.layers", "model.norm", "lm_head"};
constexpr ModuleNames gpt2_modules = {"transformer.wte", "transformer.h", "transformer.ln_f", "lm_head"};

Saying say_accelerate(const Said& said) {
  const bool gpt2 = said.model.architecture == "gpt2";
  const ModuleNames names = gpt2 ? gpt2_modules : llama_modules;
  nlohmann::ordered_json map = nlohmann::ordered_json::object();
  const auto put = [&](const std::string& module, std::uint8_t device) {
    const int number = accelerator_number(said, device);
    map[module] = number < 0 ? nlohmann::ordered_json("cpu") : nlohmann::ordered_json(number);
  };
  const std::uint8_t input = device_of(said, UnitKind::input), output = device_of(said, UnitKind::output);
  put(names.tokens, input);
  if (gpt2)
    put("transformer.wpe", input);
  else
    put("model.rotary_emb", input);
  for (const Piece& piece : pieces_of(said))
    for (std::int64_t i = 0; i < piece.layers; ++i)
      put(fmt::format("{}.{}", names.layers, piece.first + i), piece.device);
  put(names.norm, output);
  put(names.head, output);
  Saying saying{map.dump(2) + "\n", {}};
  if (said.model.is_tied() && input != output)
    saying.notes.emplace_back("the output uses the embedding's weights: on two devices each has a copy");
  return saying;
}

}  // namespace

RuntimeEntry accelerate_runtime() {
  RuntimeEntry entry;
  entry.name = "accelerate";
  entry.summary = "A device_map for transformers' from_pretrained, as JSON.";
  entry.reference = "accelerate, docs/source/concept_guides/big_model_inference";
  entry.rules = {.whole_layers = true, .uses_hosts = false};
  entry.say = say_accelerate;
  return entry;
}

}  // namespace emplace::fit
