#include "policy/hierarchical/group_features.hpp"

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "problem/labels.hpp"

namespace emplace::policy {

namespace {

// The op's columns; those of the unit's position are left as they are.
void set_first_op(const PolicyProblem& problem, std::uint32_t op, std::span<const std::uint32_t> position,
                  const OpColumns& columns, std::span<float> row) {
  add_shape_logs(problem.shapes, op, columns.shapes, row.first(columns.shapes.size()));
  row = row.subspan(columns.shapes.size());
  if (columns.number_of_outputs) {
    row.front() = static_cast<float>(std::log1p(static_cast<double>(problem.shapes.output_count(op))));
    row = row.subspan(1);
  }
  set_neighbour_slots(*problem.problem, position, op, columns.neighbours, row.first(2 * columns.neighbours));
}

// Units are numbered by position.
std::vector<float> order_by_layer(const PolicyProblem& problem) {
  const std::size_t count = problem.grouping.count();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> units;  // layer, unit
  for (std::uint32_t unit = 0; unit < count; ++unit)
    units.emplace_back(first_label(problem.problem->layer, problem.grouping.members[unit]), unit);
  std::ranges::sort(units);
  std::vector<float> order(count);
  for (std::size_t rank = 0; rank < count; ++rank)
    order[units[rank].second] = (static_cast<float>(rank) + 0.5F) / static_cast<float>(count);
  return order;
}

}  // namespace

UnitTable unit_table(const PolicyProblem& problem, std::span<const std::string> op_types, const OpColumns& columns) {
  const Grouping& grouping = problem.grouping;
  const ShapeSlots& shapes = columns.shapes;
  const std::vector<std::uint32_t> types = type_ids(*problem.problem, op_types);
  const std::vector<std::uint32_t> position = topological_positions(*problem.problem);
  UnitTable table;
  table.shape_slots = shapes.size();
  table.first_op.assign(grouping.count() * columns.size(), 0.0F);
  table.shapes.assign(grouping.count() * shapes.size(), 0.0F);
  for (std::size_t unit = 0; unit < grouping.count(); ++unit) {
    const std::span<const std::uint32_t> ops = grouping.members[unit];
    const std::uint32_t first = *std::ranges::min_element(ops, {}, [&](std::uint32_t op) { return position[op]; });
    const std::span<float> row = std::span(table.first_op).subspan(unit * columns.size(), columns.size());
    set_first_op(problem, first, position, columns, row);
    set_position_waves(unit, grouping.count(), row.last(2 * columns.position_waves));
    if (types[first] != no_type) table.first_type.items.push_back(types[first]);
    table.first_type.begin.push_back(static_cast<std::uint32_t>(table.first_type.items.size()));
    for (const std::uint32_t op : ops) {
      add_shape_logs(problem.shapes, op, shapes, std::span(table.shapes).subspan(unit * shapes.size(), shapes.size()));
      if (types[op] != no_type) table.types.items.push_back(types[op]);
    }
    table.types.begin.push_back(static_cast<std::uint32_t>(table.types.items.size()));
  }
  table.order = order_by_layer(problem);
  table.edges = unit_edges(problem);
  return table;
}

void set_group_features(const UnitTable& units, std::span<const std::uint32_t> group_of_unit, std::size_t groups,
                        std::size_t types, std::span<float> rows) {
  const std::size_t width = types + units.shape_slots + groups;
  EMPLACE_CHECK(group_of_unit.size() == units.count() && rows.size() == groups * width);
  std::ranges::fill(rows, 0.0F);
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    const std::span<float> row = rows.subspan(group_of_unit[unit] * width, width);
    for (const std::uint32_t type : units.types[unit]) row[type] += 1;
    const float* shapes = units.shapes.data() + unit * units.shape_slots;
    for (std::size_t i = 0; i < units.shape_slots; ++i) row[types + i] += shapes[i];
  }
  for (std::size_t group = 0; group < groups; ++group)
    for (float& value : rows.subspan(group * width, types + units.shape_slots)) value = std::log1p(value);
  for (const auto& [a, b] : units.edges)
    if (group_of_unit[a] != group_of_unit[b])
      rows[group_of_unit[a] * width + types + units.shape_slots + group_of_unit[b]] = 1;
}

}  // namespace emplace::policy
