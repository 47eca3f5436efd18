// ollama is told how many layers are on GPUs, and divides them among these itself.
#include <fmt/core.h>

#include "fit/runtimes/runtime_text.hpp"

namespace emplace::fit {

namespace {

Saying say_ollama(const Said& said) {
  std::int64_t offloaded = 0, devices = 0;
  for (const Piece& piece : pieces_of(said))
    if (accelerator_number(said, piece.device) >= 0) {
      offloaded += piece.layers;
      ++devices;
    }
  Saying saying{fmt::format("PARAMETER num_ctx {}\nPARAMETER num_gpu {}\n", said.scenario.context,
                            offloaded == 0 ? 0 : offloaded + 1),
                {}};
  if (devices > 1) saying.notes.emplace_back("ollama divides the layers among the GPUs itself");
  if (said.scenario.sequences > 1)
    saying.notes.push_back(fmt::format("sequences: set OLLAMA_NUM_PARALLEL={}", said.scenario.sequences));
  if (said.scenario.kv_type != "F16")
    saying.notes.push_back(
        fmt::format("KV cache: set OLLAMA_FLASH_ATTENTION=1 and OLLAMA_KV_CACHE_TYPE to {}", said.scenario.kv_type));
  return saying;
}

}  // namespace

RuntimeEntry ollama_runtime() {
  RuntimeEntry entry;
  entry.name = "ollama";
  entry.summary = "Lines of a Modelfile: num_ctx and num_gpu.";
  entry.reference = "ollama, docs/modelfile";
  entry.rules = {.whole_layers = true, .in_pieces = true, .input_on_host = true};
  entry.say = say_ollama;
  return entry;
}

}  // namespace emplace::fit
