// Times of ops and transfers for a viewer, on a grid of whole nanoseconds.
#pragma once

#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::report {

// Viewers have a resolution of a nanosecond. Perfetto rounds the beginning and the duration of a slice separately,
// drops a slice that then begins before the previous one has ended, and stacks slices of length zero. Therefore the
// timeline is rounded here: every item begins and ends at a whole nanosecond, lasts at least one, and begins after its
// device, its channels and its inputs are free. Times are rounded down. An item shorter than a nanosecond delays the
// items after it by as much as it was lengthened; it is left out if the delay would become more than 2 ns. So no item
// is shown more than 3 ns late.
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
