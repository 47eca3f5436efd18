// Earliest times without waiting: how soon an op can end on each device, and how long the rest of the step then takes
// at least.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

inline constexpr Ticks never = std::numeric_limits<Ticks>::max();

// Sums of one path's op times and transfers stay below total_limit, so only `never` needs care.
inline Ticks later(Ticks time, Ticks by) { return time == never || by == never ? never : time + by; }

// N x D: 1 where a feasible placement may put the op: all of its group can run there, and none of it needs more memory
// than the device has (resident bytes of the whole group; scratch, inputs and outputs of an op while it runs: R5).
std::vector<std::uint8_t> possible_devices(const Problem& problem);

// Each row a device; `never` where the op cannot be or cannot be reached by its inputs.
struct EarliestTimes {
  std::vector<Ticks> end;   // N x D: no feasible schedule ends op v on device d sooner
  std::vector<Ticks> tail;  // N x D: from the end of op v on d to the end of the step, at least
};

// Proof, by induction along the graph: if v runs on d, each input tensor t is on d before v starts (R1). Its producer u
// ran on some device e, ended at end[u][e] or later, and if e is not d, t was sent then at the earliest (R2) and took
// its route's time or longer (R3), where there is a route at all. So v ends at or after
//   time(v, d) + max over t of min over e of (end[u][e] + transfer(t, e, d)).
// Members of one co-location group are on one device, so there e = d. Tails: the same on the reversed graph; a tensor's
// consumers are all waited for, so the maximum is over consumers. An op that no device can end is a proof that nothing
// is feasible. Time: edges x D^2; beyond `exact_pairs` of these the quickest transfer into (out of) each device stands
// in for that of each pair, which bounds it from below.
EarliestTimes earliest_times(const Problem& problem, const std::vector<std::uint8_t>& possible,
                             double exact_pairs = 4e8);

}  // namespace emplace::search
