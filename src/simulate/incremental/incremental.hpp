// The incremental engine: what a placement's outcome becomes when one op or one group moves to another device, without
// simulating the whole step again. Exact for `in-order` with a fixed order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::simulate {

// Whether each channel with contention is fed by one device only. Elsewhere a transfer's turn depends on ops that run
// at the same time on other devices, and make_incremental_engine refuses.
bool incremental_supports(const Problem& problem);

// What a move would give. Makespan and feasibility are those of the exact engine, in-order, in all but memory.
struct MoveEvaluation {
  Outcome outcome;
  // True if the outcome is exact in memory too: no device has a limit that could be exceeded, whatever the times. If
  // false, `outcome` knows of no overflow, and IncrementalEngine::settle() must be asked before the move counts as
  // feasible.
  bool memory_settled = true;
  // How many ops were simulated again, about; what the trial cost.
  std::uint64_t walked = 0;
};

// Ops (op ids) that go to one device.
struct Relocation {
  std::span<const std::uint32_t> ops;
  std::uint8_t device = 0;
};

// Holds one base placement with its run; one engine a thread. Allocates nothing any more after the first base. The
// Problem must outlive the engine.
class IncrementalEngine {
 public:
  virtual ~IncrementalEngine() = default;

  // Simulates the whole placement, which must have passed check_placement and needs an order (InputError without one).
  // The outcome is exact, memory included. Forgets the last trial.
  virtual Outcome set_base(const Placement& placement) = 0;

  // The base with these ops on other devices, at their places in the order; no op is in two relocations. The base stays
  // as it is.
  virtual MoveEvaluation try_moves(std::span<const Relocation> relocations) = 0;
  MoveEvaluation try_move(std::span<const std::uint32_t> ops, std::uint8_t device) {
    const Relocation only{ops, device};
    return try_moves({&only, 1});
  }
  // The exact outcome of the last trial, memory included: a full simulation where the trial is not settled.
  virtual Outcome settle() = 0;
  // Makes the last trial the base; the outcome is exact, memory included. Needs a trial since the last change of base.
  virtual Outcome commit() = 0;

  Outcome move(std::span<const std::uint32_t> ops, std::uint8_t device) {
    try_move(ops, device);
    return commit();
  }

  [[nodiscard]] virtual const Placement& base() const = 0;
  [[nodiscard]] virtual const Outcome& outcome() const = 0;  // of the base, exact
  // N: when each op of the base starts; empty if it is not timed.
  virtual void read_starts(std::vector<Ticks>& starts) const = 0;
};

// InputError where incremental_supports() is false.
std::unique_ptr<IncrementalEngine> make_incremental_engine(const Problem& problem);

}  // namespace emplace::simulate
