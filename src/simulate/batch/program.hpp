// A Problem and an order compiled for the batch kernels: all data that they read, op after op, in the order in which
// they read it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "simulate/batch/view.hpp"
#include "simulate/exact/network.hpp"

namespace emplace::simulate {

struct BatchProgram {
  BatchProgram(const Problem& problem, const Network& network, std::span<const std::uint32_t> order);

  // Everything but the scratch memory and the placements.
  [[nodiscard]] batch::View view() const;

  std::size_t devices;
  std::vector<std::uint32_t> code;
  std::vector<batch::Stretch> stretches;
  std::vector<double> op_time;                 // N x D
  std::vector<double> transfer;                // tensors with consumers x columns
  std::size_t columns;                         // number of route classes, plus one if routes are missing
  std::vector<std::int64_t> column;            // D x D
  std::vector<std::int64_t> contended;         // D x D
  std::vector<std::int64_t> line, line_after;  // D x D
  bool uniform, shared_lines;
  // Ready times are kept in slots, allocated like registers: an op has a slot from the end of its first producer to its
  // own start. So the slots in use stay in the L1 cache.
  std::size_t slots = 2;
};

}  // namespace emplace::simulate
