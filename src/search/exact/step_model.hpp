// A step without contention, without memory over time and with free orders: every schedule of R1-R6 takes at least as
// long as some schedule of this model on the same devices, and as long as it exactly where the schedule is in-order, no
// channel has contention and memory is not limited. Branch and bound searches it.
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
  // Weights for the load are looked for until the deadline.
  StepModel(const Problem& problem, const Deadline& deadline);

  struct Arc {
    std::uint32_t op;        // the producer, or the consumer
    std::uint32_t transfer;  // row of `transfer`; equal for arcs that always take equally long
  };

  std::size_t ops = 0, devices = 0;
  std::vector<std::uint32_t> topological;
  std::vector<Ticks> time;                          // N x D, `never` where a feasible placement cannot put the op
  std::vector<Ticks> end;                           // N x D, of earliest_times
  std::vector<Ticks> tail;                          // N x D, of earliest_times
  std::size_t classes = 0;                          // R
  std::vector<std::int32_t> route_class;            // D x D, -1: no route
  std::vector<Ticks> transfer;                      // rows of R: the longest tensor of a pair of ops
  std::vector<std::vector<Arc>> inputs, consumers;  // N; parallel tensors are one arc
  std::vector<std::int32_t> group;                  // N, -1: none
  std::vector<Bytes> resident;                      // N
  std::vector<Bytes> memory;                        // D

  // Devices that can be exchanged for each other in every schedule have the same number: the smallest of them.
  std::vector<std::uint32_t> kind;  // D
  // An op that can be exchanged for this one (same times, inputs, consumers) and has to start first; -1: none.
  std::vector<std::int32_t> after;  // N

  std::vector<std::int64_t> weight;  // D: of the load bound (load_weights.hpp)
  std::vector<Wide> work;            // N: min over devices of weight x time

  [[nodiscard]] Ticks transfer_time(const Arc& arc, std::size_t from, std::size_t to) const {
    const std::int32_t cls = route_class[from * devices + to];
    if (cls < 0) return from == to ? 0 : never;
    return transfer[arc.transfer * classes + static_cast<std::size_t>(cls)];
  }
  // Its makespan with ops started as soon as they can be in the placement's order; `never` if it is not feasible here.
  [[nodiscard]] Ticks makespan(const Placement& placement) const;
};

// Why the best schedule of the model need not be one of the problem's: a list of what counts besides; "" if nothing
// does.
std::string left_out_of_model(const Problem& problem, Schedule schedule);

}  // namespace emplace::search
