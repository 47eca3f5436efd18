// Earliest times without waiting: the earliest end of an op on each device, and the least time that the rest of the
// step then takes.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

inline constexpr Ticks never = std::numeric_limits<Ticks>::max();

// time + by, or `never` if one of them is `never`. Sums along one path stay below total_limit, so nothing overflows.
inline Ticks later(Ticks time, Ticks by) { return time == never || by == never ? never : time + by; }

// N x D: 1 if a feasible placement may put the op on the device: its whole group can run there, and no op of the group
// needs more memory than the device has (resident bytes of the whole group; scratch, inputs and outputs of an op while
// it runs: R5).
std::vector<std::uint8_t> possible_devices(const Problem& problem);

// One column per device; `never` if the op cannot be on the device, or its inputs cannot reach it there.
struct EarliestTimes {
  std::vector<Ticks> end;   // N x D: no feasible schedule ends op v on device d sooner
  std::vector<Ticks> tail;  // N x D: from the end of op v on d to the end of the step, at least
};

// Proof, by induction along the graph: if v runs on d, each input tensor t is on d before v starts (R1). Its producer u
// ran on some device e, ended at end[u][e] or later, and if e is not d, t was sent then at the earliest (R2) and took
// its route's time or longer (R3), where there is a route at all. So v ends at or after
//   time(v, d) + max over t of min over e of (end[u][e] + transfer(t, e, d)).
// Members of one co-location group are on one device, so there e = d. Tails: the same on the reversed graph; a tensor's
// consumers are all waited for, so the maximum is over consumers. An op with `never` on all devices proves that no
// placement is feasible. Takes time edges x D^2; if that is above `exact_pairs`, the quickest transfer into (out of)
// each device is used in place of that of each pair, of which it is a lower bound.
inline constexpr double most_exact_pairs = 4e8;
EarliestTimes earliest_times(const Problem& problem, const std::vector<std::uint8_t>& possible,
                             double exact_pairs = most_exact_pairs);

// N each, the least over the devices on which the op can be: its start, the time after its end, and its own time; all
// `never` if it can be on none.
struct LeastTimes {
  std::vector<Ticks> head, tail, time;
};
LeastTimes least_times(const Problem& problem, const EarliestTimes& times);

// One direction of that recursion: the waiting times of an op for its producers or (backwards) for its consumers.
class EarliestSweep {
 public:
  EarliestSweep(const Problem& problem, bool forward, double exact_pairs = most_exact_pairs);

  // Raises there[d] to the earliest time at which the op can go on at device d after `other`, whose row of `times` (N x
  // D) must be filled in.
  void wait(const std::vector<Ticks>& times, std::uint32_t other, std::uint32_t tensor, bool same_device,
            std::vector<Ticks>& there) const;

 private:
  const Problem& p_;
  std::size_t devices_;
  bool forward_, exact_;
  std::vector<std::vector<std::int32_t>> classes_;  // D rows: classes of the routes into (out of) the device
};

}  // namespace emplace::search
