// The incremental engine: computes the outcome of a placement after one op or group has moved to another device,
// without simulating the whole step again. It is exact, for `in-order` with a fixed order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::simulate {

// Whether only one device sends over each channel with contention. If several do, the start of a transfer depends on
// ops that run at the same time on other devices, and make_incremental_engine throws.
bool incremental_supports(const Problem& problem);

// The result of trying a move. Makespan and feasibility equal those of the exact engine under in-order, except that
// memory may not have been checked.
struct MoveEvaluation {
  Outcome outcome;
  // True if the outcome is exact in memory too, because no device's limit can be exceeded whatever the times are. If
  // false, `outcome` never reports an overflow, and IncrementalEngine::settle() must be called before the move may be
  // treated as feasible.
  bool memory_settled = true;
  // About how many ops were simulated again: the cost of trying the move.
  std::uint64_t walked = 0;
};

// Ops (op ids) that move to one device.
struct Relocation {
  std::span<const std::uint32_t> ops;
  std::uint8_t device = 0;
};

// Has one base placement with its run, so every thread needs its own engine. Nothing is allocated after the first base.
// The Problem must outlive the engine.
class IncrementalEngine {
 public:
  virtual ~IncrementalEngine() = default;

  // Simulates the whole placement, which must have passed check_placement and needs an order (InputError without one).
  // The outcome is exact, memory included. The last move tried is dropped.
  virtual Outcome set_base(const Placement& placement) = 0;
  // The same for a placement whose outcome is known, which is not computed again.
  virtual void set_base(const Placement& placement, const Outcome& known) = 0;

  // Evaluates the base with these ops on other devices, at the same positions in the order; no op may be in two
  // relocations. The base itself does not change.
  virtual MoveEvaluation try_moves(std::span<const Relocation> relocations) = 0;
  MoveEvaluation try_move(std::span<const std::uint32_t> ops, std::uint8_t device) {
    const Relocation only{ops, device};
    return try_moves({&only, 1});
  }
  // The exact outcome of the last move tried, memory included. Simulates the whole step if memory_settled is false.
  virtual Outcome settle() = 0;
  // Makes the last move tried the base; the outcome is exact, memory included. A move must have been tried since the
  // last change of the base.
  virtual Outcome commit() = 0;

  Outcome move(std::span<const std::uint32_t> ops, std::uint8_t device) {
    try_move(ops, device);
    return commit();
  }

  [[nodiscard]] virtual const Placement& base() const = 0;
  [[nodiscard]] virtual const Outcome& outcome() const = 0;  // of the base, exact
  // Fills in the N start times of the base's ops; empty if the base is not timed.
  virtual void read_starts(std::vector<Ticks>& starts) const = 0;
};

// InputError if incremental_supports() is false.
std::unique_ptr<IncrementalEngine> make_incremental_engine(const Problem& problem);

}  // namespace emplace::simulate
