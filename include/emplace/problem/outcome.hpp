// The result of simulating a placement (R6).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace {

// Why a placement is infeasible: the first of these reasons, in this order, that applies (R6).
enum class Infeasible : std::uint8_t {
  no,              // it is feasible
  unsupported_op,  // `subject`: smallest op id, `device`: its device
  missing_route,   // `subject`: smallest tensor id, `device`: smallest destination device
  split_group,     // `subject`: smallest group id
  memory,          // `device`: smallest device whose peak exceeds its memory
  circular_wait,   // `device`: smallest of the devices that wait for each other (tarnawski-latency only)
  not_measured,    // a measurement gave no time; the reason is in the evaluator's message
  // `subject`: how many tensors are sent between devices, more than Problem::max_cuts. It comes before `memory` in the
  // order of reasons, but last here, because files store these values.
  too_many_cuts,
};

// Small and without pointers, because workers send arrays of it.
struct Outcome {
  static constexpr Ticks unknown = -1;

  Ticks makespan = unknown;  // unknown after unsupported_op, missing_route, circular_wait and not_measured
  Bytes overflow = 0;        // sum over devices of max(0, peak - memory)
  Infeasible why = Infeasible::no;
  std::uint8_t device = 0;
  std::uint32_t subject = 0;

  [[nodiscard]] bool feasible() const { return why == Infeasible::no; }
  [[nodiscard]] bool timed() const { return makespan != unknown; }
  // Tensors sent between devices if they are too many, otherwise 0.
  [[nodiscard]] std::uint32_t excess_cuts() const { return why == Infeasible::too_many_cuts ? subject : 0; }
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// Feasible before infeasible, then timed before untimed, then smaller overflow, then fewer tensors above the limit on
// cuts, then smaller time (docs/simulation.md, "nothing feasible"). False for equal outcomes, so that of several the
// first is kept.
[[nodiscard]] bool better(const Outcome& a, const Outcome& b);

// Figures per device and per channel, filled in on request. Empty vectors if the outcome is not timed.
struct Usage {
  std::vector<Ticks> device_busy;    // D: sum of durations
  std::vector<Bytes> device_peak;    // D
  std::vector<Ticks> channel_busy;   // C: sum of durations of the transfers that used it
  std::vector<Bytes> channel_bytes;  // C

  friend bool operator==(const Usage&, const Usage&) = default;
};

// The reason as a sentence without a full stop, or "" if the outcome is feasible. It names the op, pair of devices,
// group or device concerned, or the number of cuts. `usage` has the peak of a memory overflow; it may be empty.
std::string reason_text(const Problem& problem, const Outcome& outcome, const std::vector<std::uint8_t>& devices,
                        const Usage& usage);

}  // namespace emplace
