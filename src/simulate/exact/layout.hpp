// A Problem laid out for the exact engine, resolved once; and the run's state, one record an op.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "simulate/exact/network.hpp"

namespace emplace::simulate {

struct Edge {
  std::uint32_t consumer;
  std::uint32_t tensor;
  std::uint32_t row;  // of the tensor's transfer times
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
  std::vector<std::uint32_t> tensor_edge;  // T: where the tensor's consumers begin in edges
  std::size_t most_edges = 0;              // of one op
  std::vector<Ticks> transfer_time;        // T x columns, column 0 (no transfer) is 0
  std::size_t columns;
  std::vector<std::uint32_t> roots;  // ops without inputs, ascending

  [[nodiscard]] std::uint32_t edges_end(std::uint32_t tensor) const {
    return tensor_edge[tensor] + static_cast<std::uint32_t>(problem.consumers[tensor].size());
  }
  [[nodiscard]] const Ticks* transfers_of(std::uint32_t tensor) const { return &transfer_time[tensor * columns]; }
};

// Half a cache line: all that an engine touches of an op, as its producers end and as it starts.
struct alignas(32) OpState {
  Ticks start;            // the latest arrival of its inputs so far; once it has started, its start
  Ticks time;             // on its device
  std::uint32_t missing;  // inputs whose arrival is not known yet
  std::uint32_t edge_begin, edge_end;
  std::uint32_t device;

  [[nodiscard]] Ticks end() const { return start + time; }
};

inline constexpr Ticks not_sent = -1;

// The state of one evaluation; a core fills in starts, the makespan and, on request, the sends.
struct Run {
  explicit Run(const Layout& layout);

  // Places the ops; false if one cannot run where it is placed.
  bool place(const std::vector<std::uint8_t>& device);
  // Back to the state after place().
  void rewind();

  const Layout& layout;
  std::vector<OpState> ops;
  // Per edge: when the copy starts on its way, at the first of a tensor's consumers on another device; else not_sent.
  std::vector<Ticks> send_start;
  Ticks makespan = 0;
};

}  // namespace emplace::simulate
