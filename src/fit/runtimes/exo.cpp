// exo runs a shard, consecutive whole layers, on each device.
#include <nlohmann/json.hpp>

#include "fit/runtimes/runtime_text.hpp"

namespace emplace::fit {

namespace {

Saying say_exo(const Said& said) {
  nlohmann::ordered_json shards = nlohmann::ordered_json::object();
  for (const Piece& piece : pieces_of(said))
    shards[said.chain.devices[piece.device]] = {{"model_id", said.file},
                                                {"start_layer", piece.first},
                                                {"end_layer", piece.first + piece.layers - 1},
                                                {"n_layers", layers_of(said)}};
  return {shards.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n",
          {"exo chooses shards by memory unless a partitioning strategy of your own returns these"}};
}

}  // namespace

RuntimeEntry exo_runtime() {
  RuntimeEntry entry;
  entry.name = "exo";
  entry.summary = "The shard of each device: its first and last layer, as JSON.";
  entry.reference = "exo, exo/inference/shard.py";
  entry.rules = {.whole_layers = true, .in_pieces = true};
  entry.say = say_exo;
  return entry;
}

}  // namespace emplace::fit
