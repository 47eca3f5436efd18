#include "policy/common/op_features.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::policy {

std::vector<std::uint32_t> type_ids(const Problem& problem, std::span<const std::string> op_types) {
  std::vector<std::uint32_t> ids;
  ids.reserve(problem.op_count());
  for (const std::string& type : problem.op_types) {
    const auto at = std::ranges::lower_bound(op_types, type);
    ids.push_back(at != op_types.end() && *at == type ? static_cast<std::uint32_t>(at - op_types.begin()) : no_type);
  }
  return ids;
}

void add_shape_logs(const OutputShapes& shapes, std::size_t op, const ShapeSlots& slots, std::span<float> sum) {
  const std::size_t outputs = std::min(slots.outputs, shapes.output_count(op));
  for (std::size_t k = 0; k < outputs; ++k) {
    const std::span<const std::int64_t> shape = shapes.output(op, k);
    for (std::size_t j = 0; j < std::min(slots.dimensions, shape.size()); ++j)
      sum[k * slots.dimensions + j] += static_cast<float>(std::log1p(static_cast<double>(shape[j])));
  }
}

std::vector<std::uint32_t> topological_positions(const Problem& problem) {
  std::vector<std::uint32_t> position(problem.op_count());
  for (std::uint32_t i = 0; i < position.size(); ++i) position[problem.topological[i]] = i;
  return position;
}

void set_neighbour_slots(const Problem& problem, std::span<const std::uint32_t> position, std::uint32_t op,
                         std::size_t slots, std::span<float> into) {
  std::vector<std::uint32_t> found;
  const auto write = [&](std::span<float> part) {
    std::ranges::sort(found);
    found.erase(std::ranges::unique(found).begin(), found.end());
    std::ranges::fill(part, 0.0F);
    for (std::size_t i = 0; i < std::min(slots, found.size()); ++i)
      part[i] = static_cast<float>((found[i] + 1.0) / static_cast<double>(problem.op_count()));
    found.clear();
  };
  for (const std::uint32_t tensor : problem.inputs[op]) found.push_back(position[problem.producer[tensor].index()]);
  write(into.first(slots));
  for (const std::uint32_t tensor : problem.outputs[op])
    for (const std::uint32_t consumer : problem.consumers[tensor]) found.push_back(position[consumer]);
  write(into.subspan(slots, slots));
}

void set_position_waves(std::size_t index, std::size_t count, std::span<float> into) {
  const double x = std::numbers::pi * (static_cast<double>(index) + 0.5) / static_cast<double>(count);
  for (std::size_t i = 0; i < into.size(); ++i) {
    const auto k = static_cast<double>(i / 2 + 1);
    into[i] = static_cast<float>(i % 2 == 0 ? std::sin(k * x) : std::cos(k * x));
  }
}

void check_features(const PolicyProblem& problem, std::string_view what, std::span<const float> rows, std::size_t width,
                    std::size_t begin, std::size_t count) {
  for (std::size_t unit = 0; unit < problem.grouping.count(); ++unit)
    for (const float value : rows.subspan(unit * width + begin, count))
      if (!std::isfinite(value))
        throw InputError("problem " + problem.problem->name, "op {} has a {} feature of {}, wanted finite numbers",
                         quote(problem.problem->op_names[problem.grouping.members[unit].front()]), what, value);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> unit_edges(const PolicyProblem& problem) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for_each_edge_between<std::uint32_t>(*problem.problem, problem.grouping.unit_of_op,
                                       [&](std::uint32_t a, std::uint32_t b) { edges.emplace_back(a, b); });
  std::ranges::sort(edges);
  edges.erase(std::ranges::unique(edges).begin(), edges.end());
  return edges;
}

}  // namespace emplace::policy
