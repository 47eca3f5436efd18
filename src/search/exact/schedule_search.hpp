// Depth-first branch and bound over the schedules of a StepModel.
//
// A node is a partial schedule; a child puts one more op at the end of a device, as early as its inputs allow, and
// never earlier than the last op that was added. So each schedule without needless waiting is visited exactly once, and
// all remaining ops start no earlier than the last one. These rules prune nodes; each is valid, and they can be
// combined:
//   - the critical path of the remaining ops: earliest ends by the recursion of earliest.hpp, from the devices' ready
//     times and the arrivals of the partial schedule, plus the static tail;
//   - the work of the remaining ops must fit in the devices' time before the best makespan (load_weights.hpp);
//   - of exchangeable devices in the same state only one is tried; exchangeable ops start in a fixed order;
//   - a state that was visited before is not searched again. Its future depends only on which ops remain and, for each
//     device, on when it and the inputs of each remaining op are ready; exchangeable devices may be swapped.
// (Kwok and Ahmad 2005; Sinnen 2014; Orr and Sinnen 2020.)
#pragma once

#include <cstdint>
#include <functional>

#include "search/exact/state_table.hpp"
#include "search/exact/step_model.hpp"

namespace emplace::search {

struct SearchLimits {
  std::uint64_t nodes = 0;
  std::size_t table_bytes = 0;
  std::function<bool()> stop;  // called at every node; true ends the search
};

struct SearchResult {
  Ticks best = never;         // makespan of the best schedule; `below` if none is shorter
  Ticks lower_bound = never;  // no schedule is shorter; equal to `best` if the search is complete
  bool complete = false;
  std::uint64_t nodes = 0;
};

// `found(placement, makespan)` is called for every schedule that is shorter than all before it and than `below`; the
// search stops if it returns false.
SearchResult search_schedules(const StepModel& model, Ticks below, const SearchLimits& limits,
                              const std::function<bool(const Placement& placement, Ticks makespan)>& found);

}  // namespace emplace::search
