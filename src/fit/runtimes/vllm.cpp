// vLLM's pipeline: whole layers in rank order; the first rank has the embedding, the last one the output. Ranks of a
// stage divide its layers; replicas are servers with the same stages.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "base/text.hpp"
#include "fit/runtimes/runtime_text.hpp"

namespace emplace::fit {

namespace {

// One server for replicas that have every layer on one group and no experts, whose ranks would wait for each other in
// every layer; else one for each replica.
bool is_one_server(const Said& said) {
  return said.parallel.replicas == 1 || (pieces_of(said).size() == 1 && said.model.experts == 0 &&
                                         are_of_one_host(ranks_of(said, 0, said.parallel.replicas)));
}

std::string line_of(const Said& said, std::size_t replica, std::size_t replicas) {
  std::vector<std::int64_t> layers;
  for (const Piece& piece : pieces_of(said)) layers.push_back(piece.layers);
  std::string line = visible_devices(ranks_of(said, replica, replicas));
  if (layers.size() > 1) line += fmt::format("VLLM_PP_LAYER_PARTITION={} ", fmt::join(layers, ","));
  line += fmt::format("vllm serve {}", shell_word(said.file));
  if (said.parallel.tensor > 1) line += fmt::format(" --tensor-parallel-size {}", said.parallel.tensor);
  line += fmt::format(" --pipeline-parallel-size {}", layers.size());
  if (replicas > 1) line += fmt::format(" --data-parallel-size {}", replicas);
  return line + fmt::format(" --max-model-len {} --max-num-seqs {}", said.scenario.context, said.scenario.sequences);
}

void add_host_notes(const Said& said, std::size_t replica, std::size_t replicas, Saying& saying) {
  const std::vector<Parallel::Accelerator> ranks = ranks_of(said, replica, replicas);
  if (!are_of_one_host(ranks))
    saying.notes.push_back("vLLM takes devices of several hosts from a Ray cluster, here in the order " +
                           ranks_text(ranks));
  else if (!ranks.empty() && !ranks[0].host.empty())
    saying.notes.push_back(fmt::format("line {} is for {}", replica + 1, ranks[0].host));
}

Saying say_vllm(const Said& said) {
  const std::size_t replicas = said.parallel.replicas;
  const bool one = is_one_server(said);
  Saying saying;
  for (std::size_t r = 0; r < (one ? 1 : replicas); ++r) {
    saying.text += line_of(said, r, one ? replicas : 1) + (one ? "" : fmt::format(" --port {}", 8000 + r)) + "\n";
    add_host_notes(said, r, one ? replicas : 1, saying);
  }
  if (!one) saying.notes.emplace_back("each line is a server; requests are divided equally among their ports");
  if (said.scenario.kv_type != "F16")
    saying.notes.emplace_back("vLLM has other types of KV caches: see its --kv-cache-dtype");
  return saying;
}

}  // namespace

RuntimeEntry vllm_runtime() {
  RuntimeEntry entry;
  entry.name = "vllm";
  entry.summary = "VLLM_PP_LAYER_PARTITION and the options of vllm serve, tensor and data parallel.";
  entry.reference = "vLLM, vllm/distributed/utils.py";
  entry.rules = {.whole_layers = true,
                 .in_pieces = true,
                 .uses_hosts = false,
                 .tensor_parallel = true,
                 .repeats_keys = true,
                 .replicas = true};
  entry.say = say_vllm;
  return entry;
}

}  // namespace emplace::fit
