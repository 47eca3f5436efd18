// Several ops made one: what every contracting pass, and the zoo's detail = "layer", stand on.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "emplace/graph/op_table.hpp"
#include "emplace/graph/passes.hpp"

namespace emplace {

struct Part {
  // Of the op that the part becomes; '#2' is added where the name is taken. Empty: that of the member with the most
  // FLOPs (then bytes, then the smallest id).
  std::string name;
  std::optional<OpClass> cls;  // none: the class with the most FLOPs among the members, or bytes where none computes
};

struct Partition {
  static constexpr std::uint32_t alone = std::numeric_limits<std::uint32_t>::max();
  std::vector<Part> parts;
  std::vector<std::uint32_t> part_of;  // per op: its part, or `alone`: it stays as it is
  // The ops of a part are one kernel: a tensor that only they read is neither written nor read back.
  bool fused = false;
};

// Each part becomes one op of type `<Class>Layer` with its members' FLOPs, traffic and state summed, and their types in
// `merged_types`. Its operands are the parameters of all members, then the tensors from outside, each once; its outputs
// are those of members that are read outside, or by nobody. Tensors between members vanish. Members' co-location groups
// become one group. Parameters that merged ops alone use, the same ones and of one dtype, become one buffer. What a
// Variable holds stays counted once: by its tensor where that leaves the part, as state (or parameter) of the part
// where not. A part has phase forward if any member has.
// BugError where a path leaves a part and comes back; split_cycles prevents that. Near-linear.
PassResult merge_ops(const Graph& graph, const Partition& partition);

// Splits parts until no path leaves one and comes back: within a cycle of parts an op starts a further part of its own
// part's kind each time when a path to it has run against the order of the parts' first ops. Parts that are in no
// cycle stay whole. Linear.
void split_cycles(const Graph& graph, Partition& partition);

}  // namespace emplace
