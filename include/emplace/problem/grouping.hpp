// Units that a policy or placer moves as one: single ops, co-location groups, or chains.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace {

// op: one unit an op; colocation: ops of one co-location group together; chain: colocation, and then every edge whose
// producer unit has no other consumer unit and whose consumer unit has no other producer unit contracted (HSDAG's
// rule). `op` ignores co-location, so that a policy can split groups and be told that it is infeasible.
enum class GroupingKind : std::uint8_t { op, colocation, chain };

GroupingKind grouping_of(std::string_view name, const std::string& place);
std::string_view name_of(GroupingKind kind);
const std::vector<std::string>& grouping_names();

// U units, numbered by their first op in topological order.
struct Grouping {
  std::vector<std::uint32_t> unit_of_op;  // N
  Lists members;                          // U rows of op ids, ascending
  std::vector<std::uint8_t> allowed;      // U x D: 1 where every member can run

  [[nodiscard]] std::size_t count() const { return members.rows(); }
  // The placement of ops for one device a unit.
  [[nodiscard]] Placement expand(const std::vector<std::uint8_t>& device_of_unit) const;
};

// `at_most` above 0: units are merged further, the one of least work into the neighbour with which it exchanges most
// bytes (Placeto sheet, section 2.1), until at most that many remain; InputError if it exceeds the number of ops.
// A merge never leaves a unit without a device that can run it.
Grouping make_grouping(const Problem& problem, GroupingKind kind, std::size_t at_most = 0,
                       const std::string& place = {});

}  // namespace emplace
