// Earliest task first: of all pairs of a ready op and a device, chooses the one that can start first. For m-ETF and
// m-SCT.
#pragma once

#include <cstdint>
#include <vector>

#include "search/common/deadline.hpp"
#include "search/common/units.hpp"
#include "search/list/partial_schedule.hpp"

namespace emplace::search {

// Accelerators are preferred as long as one can run the unit and has memory for it. Ops are appended to devices; ties
// go to the op with the longest way to the end (without transfers), then to the first device. Transfers do not wait for
// channels.
//
// An op is offered to its candidates (PartialSchedule) when it becomes ready. A device considers two of its ops: of
// those whose data had arrived when it became free, the one with the longest way to the end, and of the others the one
// whose data arrive first. An op that comes first, or whose data have arrived, but cannot go there any more, as its
// group is elsewhere or memory is short, is turned down; once all have turned it down, it is offered again.
//
// `favourite`: N, the consumer that should follow the op on its device (the number of ops: none). After an op with a
// favourite, the device is kept for it for the time of the longest transfer of the op's outputs. Another op may start
// there only if its data could be on every device by then, or when that time is over (the urgent tasks and awake
// processors of Hanen and Munier 1995). Empty: no op has a favourite.
ListPlacement earliest_task_first(const Problem& problem, const Units& units, MemoryView view, const Deadline& deadline,
                                  const std::vector<std::uint32_t>& favourite = {});

}  // namespace emplace::search
