// A simulated step as trace events: JSON that Perfetto (ui.perfetto.dev) and chrome://tracing open.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::report {

// The largest number of each. Beyond it, only the longest slices and arrows are written, and of the memory the highest
// level of each stretch of time. Viewers fail at more than a few million events.
struct TraceLimits {
  std::size_t slices = 1'000'000;  // ops and transfers
  std::size_t arrows = 250'000;    // three events each
  std::size_t levels = 500'000;    // steps of the memory counters
};

struct TraceSummary {
  std::size_t slices = 0, arrows = 0, levels = 0;                 // written
  std::size_t slices_left = 0, arrows_left = 0, levels_left = 0;  // left out
  std::size_t slices_too_short = 0;  // part of slices_left: below 1 ns, in a row of many such slices
  [[nodiscard]] std::size_t left_out() const { return slices_left + arrows_left + levels_left; }
};

// A process for each device with one track of ops ("compute") and one counter ("memory", bytes held), and a process
// "channels" with a track for each channel; a transfer shows on every channel of its route. A channel without
// contention has as many tracks as it has transfers at once. An arrow leads from the op that made a tensor over the
// transfer (on the first channel of its route) to the first op that read it on the other device.
//
// Times are microseconds. Slices and arrows are on a grid of nanoseconds, the resolution of viewers, and last at least
// one (src/report/viewer_times.hpp), within 3 ns of the simulated times; their arguments have the exact picoseconds. If
// many slices below 1 ns follow each other, some are left out to stay within 3 ns. The text is passed to `write` in
// pieces and is never in memory as a whole. Names longer than 200 characters are shortened.
TraceSummary write_trace(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline,
                         const std::function<void(std::string_view)>& write, const TraceLimits& limits = {});

// Writes the same to a file, which appears under its name only when it is complete.
TraceSummary write_trace_file(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline,
                              const std::string& path, const TraceLimits& limits = {});

}  // namespace emplace::report
