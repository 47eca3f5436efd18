// Earliest times that count the choice between staying together and a transfer: ops whose results could not reach
// another device in time run on one device, one after the other, and transfers wait for each other on its channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "search/common/deadline.hpp"
#include "search/common/earliest.hpp"

namespace emplace::search {

struct JointEffort {
  std::size_t near_ops;  // producers (consumers), direct or not, that are looked at for each op and device
  double margin;         // ops are near although v can wait for them, if it loses at most this share of a transfer
  int branches;          // ops whose sides are tried, for each start that is not refuted at once
};

// Times at least as large as `given`, which must be those of earliest_times() or of this function. Proof that op v on
// device d cannot start before T (Papadimitriou and Yannakakis 1990, Towards an architecture-independent analysis of
// parallel algorithms, for unlike devices and without copies of ops): let A(u) be a time before which v cannot start if
// the op u, which v needs directly or not, is not on d. If v starts before all A(u) of a set of such u, all of the set
// are on d, where they run one after the other: v cannot start before the preemptive schedule of the set on one machine
// ends, in which u begins at its earliest start or later and is followed by the least time from its end to v. So v
// starts at or after
//   min over T of max(T, end of the schedule of all u with A(u) > T).
// A(u) is u's earliest end on another device + the least time from there to v, by a recursion along the paths from u to
// v over two states, "on d" and "elsewhere"; a tensor between them takes its quickest transfer into (out of) d. If u is
// known to be on d, or elsewhere, the times of the ops around it grow, and they may be decided in turn (JointRegion).
// Then the transfers between d and elsewhere are known too, which take turns where they share a channel with
// contention (R3; joint_transfers.cpp).
// Tails are the same on the reversed graph. After the deadline, ops have only what their neighbours' times give them.
EarliestTimes joint_times(const Problem& problem, const std::vector<std::uint8_t>& possible, const EarliestTimes& given,
                          const Deadline& deadline, const JointEffort& effort);

}  // namespace emplace::search
