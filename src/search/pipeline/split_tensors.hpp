// Tensors between classes, for the exact methods of the objective `pipeline`.
#pragma once

#include <cstdint>
#include <vector>

#include "search/pipeline/device_kinds.hpp"

namespace emplace::search {

// All tensors that leave their producer's class. Tensors between the same classes are merged into one, because they are
// always transferred together.
struct SplitTensors {
  std::vector<std::uint32_t> producer;  // E: class of the producer
  Lists consumers;                      // E rows of classes other than the producer's, ascending
  std::vector<char> backward;           // E: 1 if a backward op produces it; not merged with forward ones

  // E x kinds: transfer times in ticks, 0 for hosts. If a route is missing, the time is 0 and `no_out` or `no_in` is 1.
  std::vector<Ticks> out, in;
  std::vector<char> no_out, no_in;
  bool routes_missing = false;

  [[nodiscard]] std::size_t count() const { return producer.size(); }
};

SplitTensors split_tensors(const Problem& problem, const std::vector<DeviceKind>& kinds,
                           const std::vector<std::uint32_t>& class_of_op);

}  // namespace emplace::search
