// How a machine's accelerators work together: groups of several equal devices that have a part of every layer each
// (tensor parallelism), and replicas of the whole model on as many groups each. The planner sees the groups of one
// replica as the devices of a machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/machine/machine.hpp"
#include "emplace/problem/problem.hpp"
#include "fit/relaxation.hpp"
#include "fit/runtime.hpp"
#include "language/language_model.hpp"
#include "language/scenario.hpp"

namespace emplace::fit {

// The devices of a group exchange results around a ring, whose slowest step counts.
struct Ring {
  double latency_s = 0;
  double s_per_byte = 0;
};

struct Formation {
  Parallel parallel;
  machine::Machine machine;  // the hosts, and the groups of the first replica, each as fast as one of its devices
  std::vector<Ring> rings;   // of each device of `machine`
  // Entry r * D + d: positions in the original machine of what device d of `machine` stands for in replica r.
  std::vector<std::vector<std::size_t>> members;
};

// Every device for itself and one replica come first, then what the runtime can do besides: devices of one host that
// are equal and have routes to each other form groups, those after one another in the machine's order; their number
// divides the model's heads. Replicas have equal groups, as many of each kind as there can be, and at least one of the
// `sequences`; for latency there is one replica.
[[nodiscard]] std::vector<Formation> formations_of(const machine::Machine& machine,
                                                   const language::LanguageModel& model, const Rules& rules, Aim aim,
                                                   std::int64_t sequences);

// Adds to the times of a step's ops on each device what its group's devices exchange: all-reduces of what comes after
// an embedding, an attention and a feed-forward part (2(k - 1) steps with a k-th of the result around a ring,
// Patarasuk and Yuan 2009), and the parts of the logits.
void add_exchanges(Problem& problem, const Formation& formation);

// The scenario of the replica that has the most sequences.
[[nodiscard]] language::Scenario of_one_replica(language::Scenario scenario, std::size_t replicas);

// "layers in order", "tensor-parallel over 2 devices each, 3 replicas".
[[nodiscard]] std::string name_of(std::int64_t tensor, std::size_t replicas);
// The part of a device's name before its last '/': "host0" of "host0/gpu:1"; "" without one.
[[nodiscard]] std::string host_of(const std::string& device);

}  // namespace emplace::fit
