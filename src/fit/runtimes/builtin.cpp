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

std::vector<Parallel::Accelerator> ranks_of(const Said& said, std::size_t first_replica, std::size_t count) {
  const std::size_t devices = said.chain.device_count();
  std::vector<Parallel::Accelerator> ranks;
  for (std::size_t r = first_replica; r < first_replica + count; ++r)
    for (const Piece& piece : pieces_of(said)) {
      if (!said.parallel.accelerators.empty()) {
        const auto& behind = said.parallel.accelerators[r * devices + piece.device];
        ranks.insert(ranks.end(), behind.begin(), behind.end());
      } else if (const int number = accelerator_number(said, piece.device); number >= 0) {
        ranks.push_back({"", number});
      }
    }
  return ranks;
}

bool are_of_one_host(const std::vector<Parallel::Accelerator>& ranks) {
  return std::ranges::all_of(ranks, [&](const auto& rank) { return rank.host == ranks[0].host; });
}

std::string visible_devices(const std::vector<Parallel::Accelerator>& ranks) {
  std::vector<int> numbers;
  bool first_ones = true;
  for (const Parallel::Accelerator& rank : ranks) {
    first_ones = first_ones && rank.number == static_cast<int>(numbers.size());
    numbers.push_back(rank.number);
  }
  return first_ones || !are_of_one_host(ranks) ? "" : fmt::format("CUDA_VISIBLE_DEVICES={} ", fmt::join(numbers, ","));
}

std::string ranks_text(const std::vector<Parallel::Accelerator>& ranks) {
  std::string text;
  for (const Parallel::Accelerator& rank : ranks)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", rank.host, rank.host.empty() ? "" : "/", rank.number);
  return text;
}

std::span<const RuntimeEntry> runtimes() {
  static const std::vector<RuntimeEntry> entries = {llama_cpp_runtime(),   ollama_runtime(),     vllm_runtime(),
                                                    exo_runtime(),         accelerate_runtime(), megatron_runtime(),
                                                    onnxruntime_runtime(), json_runtime()};
  return entries;
}

}  // namespace emplace::fit
