// A Problem with the switches of a published simulator applied to it, computed once.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "simulate/published/published.hpp"

namespace emplace::simulate::published {

// N ops, D devices, T tensors.
struct SwitchedProblem {
  SwitchedProblem(const Problem& problem, const Switches& switches);

  const Problem& problem;
  const std::size_t devices;

  std::vector<Ticks> op_time;  // N x D; cannot_run if the device cannot run the op (S10)
  std::vector<Ticks> op_hold;  // N x D: how long the op occupies its device, its gap included (S4)

  Ticks dispatch = 0;                     // S11; 0: none
  bool streams = false;                   // S12
  std::vector<std::uint8_t> accelerator;  // D: 1 if the device is not a CPU

  Lists sent;                         // T rows: the consumers that wait for the tensor, ascending (S6, S9)
  Lists released;                     // N rows: consumers that only wait for the op's end, on any device (S6)
  std::vector<std::uint32_t> inputs;  // N: how many releases an op waits for

  Lists lanes;  // D * D rows: the lanes that a transfer of the pair occupies (S2)
  std::size_t lane_count = 0;

  std::vector<std::int32_t> column;  // D * D: the pair's column in the times below; -1: no route
  std::size_t columns = 0;
  std::vector<Ticks> travel, hold;   // T x columns: time until arrival; time for which the lanes are busy (S3)
  std::vector<Bytes> message_bytes;  // T: bytes that are sent (S6)

  [[nodiscard]] Ticks time(std::size_t op, std::size_t device) const { return op_time[op * devices + device]; }
  [[nodiscard]] std::size_t pair(std::size_t from, std::size_t to) const { return from * devices + to; }

 private:
  void set_op_times(const Switches& switches);
  void set_edges(const Switches& switches);
  void set_lanes(const Switches& switches);
  void set_transfers(const Switches& switches);
  void check_totals(const Switches& switches) const;
};

}  // namespace emplace::simulate::published
