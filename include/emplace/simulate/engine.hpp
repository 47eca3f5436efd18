// Engines compute the outcome of one placement by the rules R1-R6 (docs/simulation.md), all equal to the tick.
#pragma once

#include <memory>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::simulate {

// Every start and end, on request.
struct Timeline {
  struct Transfer {
    TensorId tensor;
    DeviceId from, to;
    Ticks requested, start, end;
    friend bool operator==(const Transfer&, const Transfer&) = default;
  };
  std::vector<Ticks> op_start, op_end;  // N
  std::vector<Transfer> transfers;      // in order of (start, tensor, destination)
  friend bool operator==(const Timeline&, const Timeline&) = default;
};

// What a caller wants beyond the outcome; null pointers cost nothing. Left empty where the outcome is not timed.
struct Want {
  Usage* usage = nullptr;
  Timeline* timeline = nullptr;
  std::vector<Ticks>* starts = nullptr;  // N: Timeline::op_start alone
};

// Holds scratch memory for one Problem and one schedule: one engine a thread, no allocation after the first evaluation
// unless a timeline is wanted, or a step is for the first time too long for 64-bit keys (2^63 ps / number of ops, or
// so). The Problem must outlive the engine.
class Engine {
 public:
  virtual ~Engine() = default;
  // The placement must have passed check_placement. `priority` and `in-order` need an order: InputError without one.
  virtual Outcome evaluate(const Placement& placement, const Want& want = {}) = 0;
};

// The plain event queue that the others are tested against: one page, obviously right, slow.
std::unique_ptr<Engine> make_reference_engine(const Problem& problem, Schedule schedule);

// One heap entry an op under fifo and none in-order, plus one a tensor sent over a channel that several devices feed;
// under priority one more an op. Equal to the reference to the tick, in every outcome, usage and timeline.
std::unique_ptr<Engine> make_exact_engine(const Problem& problem, Schedule schedule);

}  // namespace emplace::simulate
