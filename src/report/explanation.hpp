// What takes the step time and the memory of one placement, and which moves would help.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"
#include "report/head.hpp"
#include "report/limits.hpp"
#include "report/moves.hpp"
#include "simulate/timeline/critical_path.hpp"
#include "simulate/timeline/memory_timeline.hpp"

namespace emplace::report {

// Consecutive steps of the critical path on the same device, or of transfers between the same pair of devices.
struct PathStretch {
  std::size_t first = 0, count = 0;  // positions in the path
  std::size_t longest = 0;           // position of the longest step
  Ticks start = 0, end = 0;
};

struct TensorCost {
  TensorId tensor;
  std::size_t transfers = 0;
  Bytes bytes = 0;  // bytes moved: the tensor's size times the number of transfers
  Ticks moving = 0, waiting = 0;
};

struct PeakMemory {
  Bytes resident = 0, scratch = 0, outputs = 0, copies = 0;  // add up to the peak
  std::vector<simulate::Holding> alive;                      // the largest first
};

// If the placement has no times, only the outcome, its reason and the moves are set.
struct Explanation {
  Schedule schedule = Schedule::fifo;
  Outcome outcome;
  std::string reason;  // "" if feasible
  Usage usage;
  simulate::Timeline timeline;
  std::vector<simulate::PathStep> path;
  simulate::PathShares shares;
  std::vector<Limit> limits;                   // of the step, the first limit first
  std::vector<PathStretch> stretches;          // of the path, in order of time
  std::vector<std::size_t> ops_on;             // D
  Bytes moved_bytes = 0;                       // summed over transfers; each counts once, even over several channels
  std::vector<OpId> costly_ops;                // the ten that last longest
  std::vector<TensorCost> costly_tensors;      // the ten with the longest transfer time; fewer if fewer moved
  std::vector<simulate::DeviceMemory> memory;  // D
  std::vector<PeakMemory> at_peak;             // D
  MoveSearch moves;
};

// Simulates the placement, which must have passed check_placement, and moves within `limits`. InputError if the
// schedule needs an order and the placement has none.
Explanation explain(const Problem& problem, const Placement& placement, Schedule schedule,
                    const MoveLimits& limits = {}, const MoveProgress& progress = {});

// Text for people: some 80 lines and a few more for each device, whatever the size of the problem and of its names. The
// head, if there is one, comes after the first line.
std::string explanation_text(const Problem& problem, const Placement& placement, const Explanation& explanation,
                             const verdict::Verdict& head = {});
// For programs: one JSON object and a newline. Times of the path are exact picoseconds; the levels of memory over time
// are thinned to 200 for each device.
std::string explanation_json(const Problem& problem, const Placement& placement, const Explanation& explanation,
                             const verdict::Verdict& head = {});

}  // namespace emplace::report
