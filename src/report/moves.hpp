// Finds the single ops, or co-location groups, whose move to another device shortens the step most.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/timeline/critical_path.hpp"

namespace emplace::report {

struct Move {
  std::vector<std::uint32_t> ops;  // ids, ascending: one op, or all of a co-location group
  DeviceId to;
  Outcome outcome;  // of the placement after the move
};

struct MoveSearch {
  std::vector<Move> best;      // moves that improve the placement, one for each unit, the best first
  std::uint64_t possible = 0;  // number of moves: every unit to every other device that can run it
  std::uint64_t guessed = 0;   // guesses of the incremental engine, to choose which to simulate; or 0
  std::uint64_t simulated = 0;
};

struct MoveLimits {
  std::size_t wanted = 5;
  std::uint64_t simulations = 2000;
  // Number of ops and edges simulated, at some 10 to 30 ns each. It bounds the time on large problems, and unlike a
  // limit in seconds it gives the same moves on every machine. At least 64 moves are simulated however large the
  // problem is.
  std::uint64_t work = 100'000'000;
  // Number of guesses, some 2 to 60 us each on problems of up to 10,000 ops. On larger ones a guess may simulate most
  // of the ops again, at some 20 ns each, so the number of these ops is bounded too.
  std::uint64_t guesses = 200'000;
  std::uint64_t guessed_ops = 100'000'000;
};

// Called from time to time with what is being done and which share of it is done, below 1.
using MoveProgress = std::function<void(std::string_view doing, double share)>;

// Each move that is reported was simulated on the exact engine, under the same schedule (and order, if any). The most
// promising units come first: those that make the placement infeasible, then the ones with most time on the critical
// path (transfers count for the op that made the tensor), then the others by how long they run. If the limits do not
// allow to simulate all moves, the incremental engine first guesses those of units on the path
// (search/neighbourhood.hpp has the error of a guess), and every second simulation is of the next best guess. There are
// no guesses if the placement is infeasible or if a channel is fed by several devices.
//
// `timeline` and `path` are those of `placement`; both are empty if it has no times. `now` is its outcome.
MoveSearch find_moves(const Problem& problem, const Placement& placement, Schedule schedule, const Outcome& now,
                      const simulate::Timeline& timeline, std::span<const simulate::PathStep> path,
                      const MoveLimits& limits = {}, const MoveProgress& progress = {});

}  // namespace emplace::report
