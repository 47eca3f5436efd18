// Turns joined sets of ops into the partition that merge_ops takes.
#pragma once

#include <vector>

#include "graph/passes/merge.hpp"
#include "graph/passes/union_find.hpp"

namespace emplace {

// Every set of two or more ops becomes a part; parts are numbered in the order of their smallest ops.
inline Partition partition_of(const UnionFind& sets, std::size_t ops) {
  Partition partition;
  partition.part_of.assign(ops, Partition::alone);
  std::vector<std::uint32_t> part(ops, Partition::alone);  // by root
  for (std::uint32_t op = 0; op < ops; ++op) {
    if (sets.size(op) == 1) continue;
    std::uint32_t& of_root = part[sets.find(op)];
    if (of_root == Partition::alone) {
      of_root = static_cast<std::uint32_t>(partition.parts.size());
      partition.parts.emplace_back();
    }
    partition.part_of[op] = of_root;
  }
  return partition;
}

}  // namespace emplace
