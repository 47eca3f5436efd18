// The walk of the batch engine for one placement, in plain integers. The kernels are tested against it, and it is used
// where routes share channels in a way that the kernels do not support, or there are too many devices for them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "simulate/exact/network.hpp"

namespace emplace::simulate {

class BatchScalar {
 public:
  BatchScalar(const Problem& problem, const Network& network, std::span<const std::uint32_t> order);

  // The makespan, or Outcome::unknown if an op cannot run where it is placed or a route is missing.
  Ticks makespan(const std::uint8_t* device);

 private:
  const Problem& problem_;
  const Network& network_;
  const std::vector<std::uint32_t> order_;  // N
  std::vector<Ticks> ready_;                // N
  std::vector<Ticks> device_free_;          // D
  std::vector<Ticks> channel_free_;         // C
  std::vector<Ticks> arrival_;              // D: of the tensor being sent
};

}  // namespace emplace::simulate
