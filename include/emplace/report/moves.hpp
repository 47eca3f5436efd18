// Which single op, or co-location group, would help most if it ran somewhere else.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/critical_path.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace {

struct Move {
  std::vector<std::uint32_t> ops;  // ids, ascending: one op, or all of a co-location group
  DeviceId to;
  Outcome outcome;  // of the placement after the move
};

struct MoveSearch {
  std::vector<Move> best;       // better than the placement, of different units, the best first
  std::uint64_t evaluated = 0;  // moves simulated
  std::uint64_t possible = 0;   // moves there are: every unit to every other device that can run it
};

struct MoveLimits {
  std::size_t wanted = 5;
  std::uint64_t evaluations = 20'000;
  // Ops and edges simulated, at some 10 to 30 ns each: bounds the time on large problems, at the same moves on any
  // machine. At least 64 moves are evaluated however large the problem is.
  std::uint64_t work = 100'000'000;
};

// Each move is simulated on the exact engine, under the same schedule (and order, if any). Units on the critical path
// come first, the ones with most time on it before the others (transfers count for the op that made the tensor), then
// the other units by how long they run: where the limits end the search, it has seen the likeliest.
//
// `timeline` and `path` are those of `placement`; both are empty where it has no times, and then an op that cannot run
// or send where it is comes first. `now` is its outcome.
MoveSearch find_moves(const Problem& problem, const Placement& placement, Schedule schedule, const Outcome& now,
                      const Timeline& timeline, std::span<const PathStep> path, const MoveLimits& limits = {});

}  // namespace emplace
