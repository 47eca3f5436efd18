// Merges several ops into one, for every contracting pass and for the zoo's detail = "layer".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "graph/ops/op_table.hpp"
#include "graph/passes/passes.hpp"

namespace emplace {

struct Part {
  // The name of the merged op; '#2' is added if the name is taken. If empty, the name of the member with the most FLOPs
  // (then the most bytes, then the smallest id).
  std::string name;
  std::optional<OpClass> cls;  // none: the class with the most FLOPs among the members, or most bytes without any FLOPs
};

struct Partition {
  static constexpr std::uint32_t alone = std::numeric_limits<std::uint32_t>::max();
  std::vector<Part> parts;
  std::vector<std::uint32_t> part_of;  // per op: its part, or `alone` if it stays as it is
  // Whether the ops of a part are one kernel, in which case a tensor that only they read is neither written nor read.
  bool fused = false;
};

// Merges each part into one op of type `<Class>Layer` with the sums of its members' FLOPs, traffic and state, and with
// their types in `merged_types`. Its operands are the parameters of all members, then the tensors from outside, each
// once; its outputs are the members' outputs that are read outside, and those of members that no op reads. Tensors
// between members are removed. Members' co-location groups become one group. Parameters of one dtype that are used by
// the same merged ops, and by no other ops, become one buffer. The value of a Variable is counted once: as its output
// tensor if that leaves the part, otherwise as state (or parameter) of the part. A part has phase forward if any member
// has. Throws BugError if a path leaves a part and comes back; split_cycles prevents that. Takes near-linear time.
PassResult merge_ops(const Graph& graph, const Partition& partition);

// Splits parts until no path leaves a part and comes back. Within a cycle of parts, the stage of an op is the largest
// number of times that a path to it goes against the order of the parts' first ops; the ops of a part with the same
// stage above 0 form a new part with the same name and class. Parts that are in no cycle are not split. Takes
// near-linear time.
void split_cycles(const Graph& graph, Partition& partition);

}  // namespace emplace
