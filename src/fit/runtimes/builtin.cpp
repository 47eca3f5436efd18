#include "fit/runtimes/runtime_text.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace emplace::fit {

std::vector<Piece> pieces_of(const Said& said) {
  std::vector<Piece> pieces;
  for (std::size_t u = 0; u < said.chain.size(); ++u) {
    if (said.chain.units[u].kind != UnitKind::attention) continue;
    if (pieces.empty() || pieces.back().device != said.assignment[u])
      pieces.push_back({said.assignment[u], said.chain.units[u].layer, 0});
    ++pieces.back().layers;
  }
  return pieces;
}

std::int64_t layers_of(const Said& said) { return static_cast<std::int64_t>(said.model.layers.size()); }

int accelerator_number(const Said& said, std::uint8_t device) {
  if (is_host_kind(said.kinds[device])) return -1;
  int number = 0;
  for (std::size_t d = 0; d < device; ++d) number += is_host_kind(said.kinds[d]) ? 0 : 1;
  return number;
}

std::uint8_t device_of(const Said& said, UnitKind kind) {
  for (std::size_t u = 0; u < said.chain.size(); ++u)
    if (said.chain.units[u].kind == kind) return said.assignment[u];
  return said.assignment.at(0);
}

std::string visible_devices(const Said& said) {
  std::vector<int> numbers;
  for (const Piece& piece : pieces_of(said))
    if (const int number = accelerator_number(said, piece.device); number >= 0) numbers.push_back(number);
  bool first_ones = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) first_ones = first_ones && numbers[i] == static_cast<int>(i);
  return first_ones ? "" : fmt::format("CUDA_VISIBLE_DEVICES={} ", fmt::join(numbers, ","));
}

std::span<const RuntimeEntry> runtimes() {
  static const std::vector<RuntimeEntry> entries = {llama_cpp_runtime(),   ollama_runtime(),     vllm_runtime(),
                                                    exo_runtime(),         accelerate_runtime(), megatron_runtime(),
                                                    onnxruntime_runtime(), json_runtime()};
  return entries;
}

}  // namespace emplace::fit
