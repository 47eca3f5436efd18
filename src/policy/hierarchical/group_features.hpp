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

// The columns of the grouper's input besides the type's, in this order.
struct OpColumns {
  ShapeSlots shapes;
  bool number_of_outputs = false;  // log(1 + outputs)
  std::size_t neighbours = 0;      // producers, and as many consumers
  std::size_t position_waves = 0;  // a sine and a cosine each

  [[nodiscard]] std::size_t size() const {
    return shapes.size() + (number_of_outputs ? 1 : 0) + 2 * neighbours + 2 * position_waves;
  }
};

// The grouper's input for each of U units, and the values that group features are summed from.
struct UnitTable {
  Lists first_type;             // U rows: the type of the unit's first op in topological order, if known
  std::vector<float> first_op;  // U x OpColumns::size(): of that op, and of the unit
  Lists types;                  // U rows: the type ids of all its ops
  std::vector<float> shapes;    // U x shapes: summed over its ops
  std::vector<float> order;     // U: (rank + 1/2) / U by layer of the model and then by position; without a layer: last
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  // distinct (producing unit, consuming unit)
  std::size_t shape_slots = 0;

  [[nodiscard]] std::size_t count() const { return types.rows(); }
};

UnitTable unit_table(const PolicyProblem& problem, std::span<const std::string> op_types, const OpColumns& columns);

// Writes G x (types + shapes + G) values to `rows`: counts of ops by type and sums of shape numbers, each as log(1 +
// value); then 1 in the columns of the groups that an edge leads to. An empty group has an all-zero row.
void set_group_features(const UnitTable& units, std::span<const std::uint32_t> group_of_unit, std::size_t groups,
                        std::size_t types, std::span<float> rows);

}  // namespace emplace::policy
