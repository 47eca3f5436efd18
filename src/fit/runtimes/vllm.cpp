// vLLM's pipeline: whole layers in rank order; the first rank has the embedding, the last one the output.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "fit/runtimes/runtime_text.hpp"

namespace emplace::fit {

namespace {

Saying say_vllm(const Said& said) {
  std::vector<std::int64_t> layers;
  for (const Piece& piece : pieces_of(said)) layers.push_back(piece.layers);
  std::string line = visible_devices(said);
  if (layers.size() > 1) line += fmt::format("VLLM_PP_LAYER_PARTITION={} ", fmt::join(layers, ","));
  line += fmt::format("vllm serve {} --pipeline-parallel-size {} --max-model-len {} --max-num-seqs {}",
                      shell_word(said.file), layers.size(), said.scenario.context, said.scenario.sequences);
  Saying saying{line + "\n", {}};
  if (said.scenario.kv_type != "F16")
    saying.notes.emplace_back("vLLM has other types of KV caches: see its --kv-cache-dtype");
  return saying;
}

}  // namespace

RuntimeEntry vllm_runtime() {
  RuntimeEntry entry;
  entry.name = "vllm";
  entry.summary = "VLLM_PP_LAYER_PARTITION and the options of vllm serve.";
  entry.reference = "vLLM, vllm/distributed/utils.py";
  entry.rules = {.whole_layers = true, .in_pieces = true, .uses_hosts = false};
  entry.say = say_vllm;
  return entry;
}

}  // namespace emplace::fit
