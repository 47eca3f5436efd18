// Tensors between classes, as exact methods of the objective `pipeline` see them.
#pragma once

#include <cstdint>
#include <vector>

#include "search/pipeline/device_kinds.hpp"

namespace emplace::search {

// Those that leave their producer's class. Tensors between the same classes are one: they are always paid together.
struct SplitTensors {
  std::vector<std::uint32_t> producer;  // E: class
  Lists consumers;                      // E rows of classes other than the producer's, ascending
  std::vector<char> backward;           // E: 1 where a backward op produces it; kept apart from forward ones

  // E x kinds; 0 for hosts. Where a route is missing, the time is 0 and `no_out` or `no_in` is 1.
  std::vector<Ticks> out, in;
  std::vector<char> no_out, no_in;
  bool routes_missing = false;

  [[nodiscard]] std::size_t count() const { return producer.size(); }
};

SplitTensors split_tensors(const Problem& problem, const std::vector<DeviceKind>& kinds,
                           const std::vector<std::uint32_t>& class_of_op);

}  // namespace emplace::search
