// The critical path of a simulated step: the chain of ops and transfers that the step time is made of.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::simulate {

// Why a step did not begin earlier than it did, and so what the step before it on the path was needed for.
enum class Reason : std::uint8_t {
  none,          // it began at 0
  input,         // its last input arrived just then (an op), or its producer ended (a transfer)
  device_busy,   // its inputs were there, but its device ran other ops
  channel_busy,  // it was requested, but a channel of its route carried, or was kept for, other transfers
  turn,  // in-order: its inputs were there and its device idle at times, but ops before it in the order were not
         // ready
};
std::string_view name_of(Reason reason);  // "none", "input", "device busy", "channel busy", "turn"

struct PathStep {
  OpId op;                 // none: a transfer
  std::uint32_t transfer;  // position in Timeline::transfers where `op` is none
  Ticks ready;             // when all inputs were on the op's device; when the transfer was requested
  Ticks start, end;
  Reason reason;
  TensorId tensor;    // input of an op: the tensor that arrived last (ties: the smallest id)
  ChannelId channel;  // channel busy: the first channel of the route that the step before held

  [[nodiscard]] bool is_op() const { return !op.is_none(); }
  [[nodiscard]] Ticks wait() const { return start - ready; }
  [[nodiscard]] Ticks duration() const { return end - start; }
};

// In order of time. Nothing happens in a simulation but at 0 or when something ends (R4), so each step begins exactly
// when the one before it ends: together they fill [0, makespan] without a gap. The arcs are those of the disjunctive
// graph of job-shop scheduling (Roy and Sussmann 1964): inputs, and the previous user of a device or channel.
//
// Begins at the op that ends last (ties: the smallest id). `timeline` must be that of `placement` under `schedule` and
// the rules R1-R6; empty for an empty timeline. Time and memory are linear in ops, edges and transfers, up to a
// logarithm.
std::vector<PathStep> critical_path(const Problem& problem, const Placement& placement, Schedule schedule,
                                    const Timeline& timeline);

// What the path's time went into. The three parts add up to the makespan: steps whose result the next step waited for,
// split in computing and transferring (the last op counts as computing), and steps that only held the device, channel
// or turn that the next step waited for although its inputs were there.
struct PathShares {
  Ticks computing = 0, transferring = 0, waiting = 0;
};
PathShares shares_of(const std::vector<PathStep>& path);

}  // namespace emplace::simulate
