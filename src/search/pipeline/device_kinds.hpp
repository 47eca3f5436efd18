// A kind is a set of devices that are equal for the objective `pipeline`: the same op times, memory and transfers to
// and from hosts. Exact methods count devices of a kind instead of distinguishing them.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::search {

struct DeviceKind {
  std::vector<std::uint8_t> devices;  // ascending
  simulate::HostTransfers transfers;
  Bytes memory = no_memory_limit;

  // The op's time on a device of the kind.
  [[nodiscard]] Ticks time(const Problem& problem, std::size_t op) const {
    return problem.op_time[op * problem.device_count() + devices.front()];
  }
};

// The kinds in the order of their first devices.
std::vector<DeviceKind> device_kinds(const Problem& problem);

}  // namespace emplace::search
