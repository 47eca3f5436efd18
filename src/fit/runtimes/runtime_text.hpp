// What the runtimes' texts have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fit/runtime.hpp"

namespace emplace::fit {

// A run of layers whose attention is on one device.
struct Piece {
  std::uint8_t device = 0;
  std::int64_t first = 0, layers = 0;
};
// In the order of the layers.
[[nodiscard]] std::vector<Piece> pieces_of(const Said& said);
[[nodiscard]] std::int64_t layers_of(const Said& said);
// The number of the device among those that are no hosts; -1 for hosts.
[[nodiscard]] int accelerator_number(const Said& said, std::uint8_t device);
// Device of the first unit of this kind; the first device if there is none.
[[nodiscard]] std::uint8_t device_of(const Said& said, UnitKind kind);
// The accelerators of the pieces in `count` replicas, in the order of the ranks: replicas, stages, parts of a layer.
[[nodiscard]] std::vector<Parallel::Accelerator> ranks_of(const Said& said, std::size_t first_replica = 0,
                                                          std::size_t count = 1);
// "CUDA_VISIBLE_DEVICES=1,0 " where these are not the first ones in their order; "" also if they are of several hosts.
[[nodiscard]] std::string visible_devices(const std::vector<Parallel::Accelerator>& ranks);
[[nodiscard]] bool are_of_one_host(const std::vector<Parallel::Accelerator>& ranks);
// "host0/0, host0/1, host1/0"
[[nodiscard]] std::string ranks_text(const std::vector<Parallel::Accelerator>& ranks);

// The entries that builtin.cpp lists.
RuntimeEntry llama_cpp_runtime();
RuntimeEntry ollama_runtime();
RuntimeEntry vllm_runtime();
RuntimeEntry exo_runtime();
RuntimeEntry accelerate_runtime();
RuntimeEntry megatron_runtime();
RuntimeEntry onnxruntime_runtime();
RuntimeEntry json_runtime();

}  // namespace emplace::fit
