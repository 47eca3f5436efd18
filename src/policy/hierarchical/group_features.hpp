// Input features of the Hierarchical Planner: of ops, and of groups of ops (docs/papers/hierarchical.md, sections 2.1
// and 2.3).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "policy/common/op_features.hpp"

namespace emplace::policy {

// The grouper's input for each of U units, and the values that group features are summed from.
struct UnitTable {
  Lists first_type;             // U rows: the type of the unit's first op in topological order, if known
  std::vector<float> first_op;  // U x (shapes, neighbours, position waves): of that op, and of the unit
  Lists types;                  // U rows: the type ids of all its ops
  std::vector<float> shapes;    // U x shapes: summed over its ops
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  // distinct (producing unit, consuming unit)
  std::size_t shape_slots = 0;

  [[nodiscard]] std::size_t count() const { return types.rows(); }
};

UnitTable unit_table(const PolicyProblem& problem, std::span<const std::string> op_types, const ShapeSlots& shapes,
                     std::size_t neighbours, std::size_t position_waves = 0);

// Writes G x (types + shapes + G) values to `rows`: counts of ops by type and sums of shape numbers, each as log(1 +
// value); then 1 in the columns of the groups that an edge leads to. An empty group has an all-zero row.
void set_group_features(const UnitTable& units, std::span<const std::uint32_t> group_of_unit, std::size_t groups,
                        std::size_t types, std::span<float> rows);

}  // namespace emplace::policy
