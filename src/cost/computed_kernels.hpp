// Finds what each kernel of a fused run computed.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cost/profile.hpp"
#include "graph/passes/passes.hpp"

namespace emplace::cost {

using Names = std::unordered_map<std::string_view, OpId>;

Names ops_by_name(const Graph& graph);
Names producers_by_tensor(const Graph& graph);
// The op that produces the tensor after which a kernel is called `name`; none if there is no such tensor.
OpId op_of_kernel(const Names& producers, std::string_view name);

struct RowOfRun {
  enum class Found : std::uint8_t { used, folded, beside, unmatched, other_type } found = Found::unmatched;
  std::vector<OpId> kernels;                     // ops of PassResult::graph that it computed; none if it is not `used`
  std::uint32_t counts_with = ProfileRow::none;  // if it is `beside`: the row of kernels to which its time is added
};

// One for each row of the profile. A row computes the ops that it names, by their own names or by those of their
// tensors. A kernel of the runtime's own (a change of the layout, an op that was put in the place of others) is beside
// the graph: its time is added to that of the kernel that reads its result. A kernel that computes more ops than it
// names is taken to compute also what was not measured and is read by its ops alone, and one to which time was added
// also what was not measured and is read by its ops.
std::vector<RowOfRun> computed_kernels(const Profile& profile, const PassResult& kernels, const Names& ops,
                                       const Names& producers);

// Sets of at least two kernels that one row computes. A kernel that several rows compute was computed several times,
// so that it binds none of them.
std::vector<std::vector<OpId>> ran_together(const std::vector<RowOfRun>& rows, std::size_t kernels);

}  // namespace emplace::cost
