// Megatron-Core's layout of a pipeline: E the embedding, t a layer, L the output; stages are parted by '|'.
#include <fmt/core.h>

#include "fit/runtimes/runtime_text.hpp"

namespace emplace::fit {

namespace {

Saying say_megatron(const Said& said) {
  const std::vector<Piece> pieces = pieces_of(said);
  std::string layout = "E";
  for (std::size_t i = 0; i < pieces.size(); ++i) layout += fmt::format("{}t*{}", i == 0 ? "" : "|", pieces[i].layers);
  const std::string tensor =
      said.parallel.tensor > 1 ? fmt::format("--tensor-model-parallel-size {} ", said.parallel.tensor) : "";
  Saying saying{fmt::format("{}--pipeline-model-parallel-size {} --pipeline-model-parallel-layout '{}L'\n", tensor,
                            pieces.size(), layout),
                {}};
  const std::vector<Parallel::Accelerator> ranks = ranks_of(said);
  if (!are_of_one_host(ranks))
    saying.notes.push_back("ranks in the order of the stages: " + ranks_text(ranks));
  else if (const std::string visible = visible_devices(ranks); !visible.empty())
    saying.notes.push_back("ranks in the order of the stages: " + visible);
  return saying;
}

}  // namespace

RuntimeEntry megatron_runtime() {
  RuntimeEntry entry;
  entry.name = "megatron";
  entry.summary = "Megatron-Core's --pipeline-model-parallel-layout and --tensor-model-parallel-size.";
  entry.reference = "Megatron-Core, user guide, custom pipeline model parallel layout";
  entry.rules = {.whole_layers = true, .in_pieces = true, .uses_hosts = false, .tensor_parallel = true};
  entry.say = say_megatron;
  return entry;
}

}  // namespace emplace::fit
