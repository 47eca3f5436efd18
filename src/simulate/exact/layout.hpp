// A Problem in the memory layout of the exact engine, computed once; and the state of a run, one record per op.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "simulate/exact/network.hpp"

namespace emplace::simulate {

// The largest scratch of an op; a device runs one op at a time.
Bytes most_scratch(const Problem& problem);
// False if every device has room for everything at once, so that no placement can exceed a memory.
bool memory_can_overflow(const Problem& problem);

struct Edge {
  std::uint32_t consumer;
  std::uint32_t tensor;
  std::uint32_t row;  // where the tensor's row of transfer times begins
};

struct Layout {
  explicit Layout(const Problem& problem);

  const Problem& problem;
  Network network;
  // The consumers of an op's tensors, in order of (producer, tensor, consumer); row v is [edge_begin[v],
  // edge_begin[v+1]).
  std::vector<std::uint32_t> edge_begin;
  std::vector<Edge> edges;
  std::vector<std::uint32_t> input_count;  // N
  std::vector<std::uint32_t> tensor_edge;  // T: position in `edges` of the tensor's first consumer
  std::size_t most_edges = 0;              // largest number of edges of one op
  std::vector<Ticks> transfer_time;        // T x columns, column 0 (no transfer) is 0
  std::size_t columns;
  std::vector<std::uint32_t> roots;  // ops without inputs, ascending

  [[nodiscard]] std::uint32_t edges_end(std::uint32_t tensor) const {
    return tensor_edge[tensor] + static_cast<std::uint32_t>(problem.consumers[tensor].size());
  }
  [[nodiscard]] const Ticks* transfers_of(std::uint32_t tensor) const { return &transfer_time[tensor * columns]; }
};

// Half a cache line with all data of an op that an engine needs when the op's producers end and when it starts.
struct alignas(32) OpState {
  Ticks start;            // before the op starts, the latest arrival of its inputs so far; then its start
  Ticks time;             // duration on its device
  std::uint32_t missing;  // inputs whose arrival is not known yet
  std::uint32_t edge_begin, edge_end;
  std::uint32_t device;

  [[nodiscard]] Ticks end() const { return start + time; }
};

inline constexpr Ticks not_sent = -1;

// The state of one evaluation; a core fills in starts, the makespan and, on request, the sends.
struct Run {
  explicit Run(const Layout& layout);

  // Sets the ops' devices; returns false if an op cannot run on its device.
  bool place(const std::vector<std::uint8_t>& device);
  // Restores the state after place().
  void rewind();

  const Layout& layout;
  std::vector<OpState> ops;
  // Per edge: the start of the transfer, for the first of a tensor's consumers on another device; for all other edges
  // not_sent.
  std::vector<Ticks> send_start;
  Ticks makespan = 0;
};

}  // namespace emplace::simulate
