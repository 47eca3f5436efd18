// What limits the step of one placement: a device, a link, a memory, or a chain of ops that need one another's results.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "simulate/timeline/critical_path.hpp"

namespace emplace::report {

enum class LimitKind : std::uint8_t {
  device,  // it computes for nearly all of the step
  link,    // a channel that carries transfers for nearly all of the step
  memory,  // a device is (nearly) full, and ops that would be faster there do not fit; or its memory is too small
  chain,   // ops and transfers that need one another's results take nearly all of the step, without any waiting
};
std::string_view name_of(LimitKind kind);  // "device", "link", "memory", "chain"

struct Limit {
  LimitKind kind = LimitKind::device;
  std::string name;  // of the device or channel; "" for a chain
  // Device and link: the share of the step for which it is busy. Chain: its length divided by the step time. Memory:
  // the peak divided by the capacity, above 1 if the memory is too small.
  double share = 0;
  Ticks slack = 0;     // step time minus busy time or length: by at most so much can the step become shorter without it
  Bytes free = 0;      // memory only: capacity minus peak; below 0 if the memory is too small
  bool fills = false;  // the share is at least 90 %
  std::string sentence = {};  // without a full stop
  // Chain only: for what the critical path waits, and for which share of the step; the longest wait first.
  std::vector<std::pair<std::string, double>> waits = {};
};

// From this share on, a resource fills the step.
inline constexpr double filling_share = 0.9;

// What limits the step, the first limit first: a memory that is too small, then every device, link and chain that fills
// the step, by share; if there is none, the busiest device, the busiest link and the longest chain, by share; then
// memories that are nearly full and too small for all ops that would be faster there. Links without contention never
// limit. Empty if the outcome is not timed. `path` is the step's critical path; `usage` must be filled in. Takes time
// linear in ops and edges, and one simulation for each nearly full memory.
std::vector<Limit> limits_of(const Problem& problem, const Placement& placement, Schedule schedule,
                             const Outcome& outcome, const Usage& usage, std::span<const simulate::PathStep> path);
// The same after a simulation of the placement, which must have passed check_placement. InputError if the schedule
// needs an order and the placement has none.
std::vector<Limit> limits_of(const Problem& problem, const Placement& placement, Schedule schedule);

// The limits as one sentence without a full stop; "" if there are none.
std::string limits_sentence(std::span<const Limit> limits);

}  // namespace emplace::report
