// A model of a step without contention, without memory over time and with free orders. Every schedule under R1-R6 takes
// at least as long as some schedule of this model on the same devices; it takes exactly as long if the schedule is
// in-order, no channel has contention and memory is not limited. Branch and bound searches this model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "search/bounds/load_weights.hpp"
#include "search/common/deadline.hpp"
#include "search/common/earliest.hpp"

namespace emplace::search {

struct StepModel {
  // Weights of the load bound are improved until the deadline.
  StepModel(const Problem& problem, const Deadline& deadline);

  struct Arc {
    std::uint32_t op;        // the producer, or the consumer
    std::uint32_t transfer;  // row of `transfer`; equal for arcs whose times are always equal
  };

  std::size_t ops = 0, devices = 0;
  std::vector<std::uint32_t> topological;
  std::vector<Ticks> time;                          // N x D; `never` if no feasible placement has the op there
  std::vector<Ticks> end;                           // N x D, of earliest_times
  std::vector<Ticks> tail;                          // N x D, of earliest_times
  std::size_t classes = 0;                          // R
  std::vector<std::int32_t> route_class;            // D x D, -1: no route
  std::vector<Ticks> transfer;                      // rows of R: the longest tensor of a pair of ops
  std::vector<std::vector<Arc>> inputs, consumers;  // N; tensors between the same ops are one arc
  std::vector<std::int32_t> group;                  // N, -1: none
  std::vector<Bytes> resident;                      // N
  std::vector<Bytes> memory;                        // D

  // Devices that can be exchanged for each other in every schedule have the same kind: the smallest of their ids.
  std::vector<std::uint32_t> kind;  // D
  // An op that is exchangeable with this one (same times, inputs, consumers) and is made to start before it; -1: none.
  std::vector<std::int32_t> after;  // N

  std::vector<std::int64_t> weight;  // D: weights of the load bound (load_weights.hpp)
  std::vector<Wide> work;            // N: min over devices of weight x time

  [[nodiscard]] Ticks transfer_time(const Arc& arc, std::size_t from, std::size_t to) const {
    const std::int32_t cls = route_class[from * devices + to];
    if (cls < 0) return from == to ? 0 : never;
    return transfer[arc.transfer * classes + static_cast<std::size_t>(cls)];
  }
  // The placement's makespan in this model, with ops started as early as possible in its order; `never` if it is
  // infeasible.
  [[nodiscard]] Ticks makespan(const Placement& placement) const;
};

// Why the best schedule of the model may not be optimal for the problem: a list of the effects that the model leaves
// out; "" if there are none.
std::string left_out_of_model(const Problem& problem, Schedule schedule);

}  // namespace emplace::search
