// When ops and transfers show in a viewer: on a grid of whole nanoseconds.
#pragma once

#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::report {

// Viewers keep nanoseconds. Perfetto rounds the beginning and the duration of a slice each by itself, drops a slice
// that then begins before the one before it has ended, and stacks slices of no length. So the timeline is laid on the
// grid here: everything begins and ends at whole nanoseconds, lasts at least one, and begins when its device, its
// channels and what it waits for are done. Times are rounded down. What lasts less than a nanosecond pushes what
// follows back by as much as it gains, and is left out where that would become more than 2 ns: nothing shows more than
// 3 ns late.
struct ViewerTimes {
  struct Span {
    Ticks start, end;  // multiples of 1000
    [[nodiscard]] bool shown() const { return start < end; }
  };
  std::vector<Span> ops;        // N
  std::vector<Span> transfers;  // as in the timeline
};

ViewerTimes viewer_times(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline);

}  // namespace emplace::report
