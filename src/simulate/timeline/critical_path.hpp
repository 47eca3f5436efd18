// The critical path of a simulated step: the chain of ops and transfers whose times add up to the step time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::simulate {

// Why a step of the path did not begin earlier, which is also the reason why the step before it is on the path.
enum class Reason : std::uint8_t {
  none,          // it began at 0
  input,         // its last input arrived at that time (an op), or its producer ended (a transfer)
  device_busy,   // its inputs had arrived, but its device ran other ops
  channel_busy,  // it had been requested, but a channel of its route was in use by or reserved for others
  // in-order: its inputs had arrived and its device was idle at times, but ops before it in the order were not ready.
  turn,
};
std::string_view name_of(Reason reason);  // "none", "input", "device busy", "channel busy", "turn"

struct PathStep {
  OpId op;                 // none: a transfer
  std::uint32_t transfer;  // position in Timeline::transfers if `op` is none
  Ticks ready;             // when all inputs were on the op's device, or the transfer was requested
  Ticks start, end;
  Reason reason;
  TensorId tensor;    // input of an op: the tensor that arrived last (ties: the smallest id)
  ChannelId channel;  // channel busy: the first channel of the route that the step before held

  [[nodiscard]] bool is_op() const { return !op.is_none(); }
  [[nodiscard]] Ticks wait() const { return start - ready; }
  [[nodiscard]] Ticks duration() const { return end - start; }
};

// The steps of the path in order of time. In a simulation everything happens at 0 or when something ends (R4), so each
// step begins exactly when the one before it ends: together they fill [0, makespan] without a gap. The arcs are those
// of the disjunctive graph of job-shop scheduling (Roy and Sussmann 1964): inputs, and the previous user of a device or
// channel.
//
// The path is traced back from the op that ends last (ties: the smallest id). `timeline` must be that of `placement`
// under `schedule` and the rules R1-R6; the path of an empty timeline is empty. Time and memory are linear in ops,
// edges and transfers, up to a logarithm.
std::vector<PathStep> critical_path(const Problem& problem, const Placement& placement, Schedule schedule,
                                    const Timeline& timeline);

// How the path's time is divided, in ticks; the three parts add up to the makespan. Computing and transferring: steps
// for whose result the next step waited (the last op counts as computing). Waiting: steps that only occupied the
// device, the channel or the turn, while the inputs of the next step had already arrived.
struct PathShares {
  Ticks computing = 0, transferring = 0, waiting = 0;
};
PathShares shares_of(const std::vector<PathStep>& path);

}  // namespace emplace::simulate
