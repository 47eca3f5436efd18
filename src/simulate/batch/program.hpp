// A Problem and an order compiled for the batch kernels: what they read, op after op, in the order in which they read
// it.
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

  // All but the scratch memory and the placements.
  [[nodiscard]] batch::View view() const;

  std::size_t devices;
  std::vector<std::uint32_t> code;
  std::vector<batch::Stretch> stretches;
  std::vector<double> op_time;                 // N x D
  std::vector<double> transfer;                // tensors with consumers x columns
  std::size_t columns;                         // of route classes, and one for missing routes where there are any
  std::vector<std::int64_t> column;            // D x D
  std::vector<std::int64_t> contended;         // D x D
  std::vector<std::int64_t> line, line_after;  // D x D
  bool uniform, shared_lines;
  // Ready times live in slots that are handed out like registers, from an op's first producer to its own start: the
  // slots in use at a time stay in the nearest cache.
  std::size_t slots = 2;
};

}  // namespace emplace::simulate
