// Earliest task first: of all ready ops and devices, the pair that can start first. What m-ETF and m-SCT share.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "search/common/units.hpp"

namespace emplace::search {

// Accelerators are used as long as they can run a unit and hold it. Ops are appended to devices, ties go to the op of
// the longest way to the end (without transfers), then to the first device. Transfers wait for no channel.
//
// `favourite`: N, the consumer that an op wants behind it on its device, or the number of ops: none. After an op with a
// favourite the device is kept for that one for as long as the op's output would travel (the longest route): another op
// starts there only once its data could be on every device, or when that time is over (the urgent tasks and awake
// processors of Hanen and Munier 1995). Empty: nobody has one.
Placement earliest_task_first(const Problem& problem, const Units& units, MemoryView view,
                              const std::vector<std::uint32_t>& favourite = {});

}  // namespace emplace::search
