// The groups of a partition: its parts, then one group for each op that is in no part.
#pragma once

#include <string>
#include <vector>

#include "graph/passes/merge.hpp"
#include "graph/passes/neighbours.hpp"

namespace emplace {

struct MergeGroups {
  std::uint32_t count = 0;
  std::vector<std::uint32_t> of_op;
  IdLists members;                 // ops, ascending; a part may have none
  std::vector<char> stated;        // true if it becomes a `<Class>Layer`: parts, and ops costed by a merged forward op
  std::vector<std::string> names;  // of the new ops, unique
  std::vector<std::string> colocate;  // of the new ops; co-location groups that share a merged op have one name
  std::vector<std::uint32_t> order;   // topological; of several possible groups, the one with the smallest op first
};

// BugError if a path leaves a part and comes back.
MergeGroups merge_groups(const Graph& graph, const Partition& partition);

}  // namespace emplace
