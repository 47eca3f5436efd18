// Engines compute the outcome of one placement by the rules R1-R6 (docs/simulation.md). The reference, exact, batch and
// incremental engines give the same ticks; others are for the objective `pipeline` and for published simulators.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::simulate {

// All start and end times of one step, in ticks, filled in on request.
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

// What a caller wants beyond the outcome; a null pointer means that it is not computed. All are left empty if the
// outcome is not timed.
struct Want {
  Usage* usage = nullptr;
  Timeline* timeline = nullptr;
  std::vector<Ticks>* starts = nullptr;  // N: Timeline::op_start alone
  // An engine need not look whether an outcome with this makespan, or a longer one, exceeds memory.
  Ticks memory_below = std::numeric_limits<Ticks>::max();
};

// Has scratch memory for one Problem and one schedule, so every thread needs its own engine. Nothing is allocated after
// the first evaluation, except for timelines, and for the first step that needs more than 64-bit keys (longer than
// about 2^63 ps / number of ops). The Problem must outlive the engine.
class Engine {
 public:
  virtual ~Engine() = default;
  // The placement must have passed check_placement. `priority` and `in-order` need an order; InputError if there is
  // none.
  virtual Outcome evaluate(const Placement& placement, const Want& want = {}) = 0;
};

// A plain event queue, against which the other engines are tested: short enough to be checked by reading, and slow.
std::unique_ptr<Engine> make_reference_engine(const Problem& problem, Schedule schedule);

// The fast engine. Its heap gets one entry per op under fifo, two under priority and none in-order, and one per tensor
// sent over a channel that several devices feed. Every outcome, usage and timeline equals the reference's to the tick.
std::unique_ptr<Engine> make_exact_engine(const Problem& problem, Schedule schedule);

// How the objective `pipeline` computes a load (docs/papers/tarnawski.md, sections 2.1 to 2.3).
struct PipelineOptions {
  // A device computes and transfers at the same time: its load is the larger of the two, not the sum.
  bool overlap = false;
  // Training: all forwards, then all backwards (the `diffmaxima` of section 2.3): the largest forward load plus the
  // largest backward load, in place of the largest sum. A tensor belongs to the phase of its producer.
  bool separate_phases = false;
};

}  // namespace emplace::simulate
