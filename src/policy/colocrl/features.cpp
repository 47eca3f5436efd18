#include "policy/colocrl/features.hpp"

namespace emplace::policy {

ColocrlFeatures colocrl_features(const PolicyProblem& problem, std::span<const std::string> op_types,
                                 const ShapeSlots& slots) {
  const Grouping& units = problem.grouping;
  const std::size_t width = slots.size() + units.count();
  ColocrlFeatures features;
  features.rows.assign(units.count() * width, 0.0F);
  const std::vector<std::uint32_t> types = type_ids(*problem.problem, op_types);
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    for (const std::uint32_t op : units.members[unit]) {
      if (types[op] != no_type) features.types.items.push_back(types[op]);
      add_shape_logs(problem.shapes, op, slots, std::span(features.rows).subspan(unit * width, slots.size()));
    }
    features.types.begin.push_back(static_cast<std::uint32_t>(features.types.items.size()));
  }
  for_each_edge_between<std::uint32_t>(*problem.problem, units.unit_of_op, [&](std::uint32_t a, std::uint32_t b) {
    features.rows[a * width + slots.size() + b] = 1;
    features.rows[b * width + slots.size() + a] = 1;
  });
  return features;
}

}  // namespace emplace::policy
