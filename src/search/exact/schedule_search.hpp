// Depth-first branch and bound over the schedules of a StepModel.
//
// A node is a partial schedule; a child puts one more op at the end of a device, as early as its inputs allow, and
// never earlier than the op before it in time. So each schedule without needless waiting is met exactly once, and every
// op that is left starts no sooner than the last one. What prunes, each valid on its own and together:
//   - the critical path of what is left: earliest ends by the recursion of earliest.hpp, from the devices' ready times
//     and the data of the partial schedule, plus the static tail;
//   - the load of what is left in what the devices have left before the best makespan (load_weights.hpp);
//   - of exchangeable devices that hold the same, one is tried; of exchangeable ops the first goes first;
//   - a state met before: its future depends only on which ops are left and, for each device, on when it and the data
//   of
//     each op left are ready, whichever of the exchangeable devices it is. The one met first is searched already.
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
  std::function<bool()> stop;  // asked at every node
};

struct SearchResult {
  Ticks best = never;         // makespan of the best schedule, `below` if none is shorter
  Ticks lower_bound = never;  // no schedule is shorter; equal to `best` if the search is complete
  bool complete = false;
  std::uint64_t nodes = 0;
};

// `found(placement, makespan)` is told of every schedule that is shorter than all before it and than `below`; the
// search stops where it returns false.
SearchResult search_schedules(const StepModel& model, Ticks below, const SearchLimits& limits,
                              const std::function<bool(const Placement& placement, Ticks makespan)>& found);

}  // namespace emplace::search
