// What networks read of single ops: types, shapes of outputs, neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::policy {

// N: the position of each op's type in `op_types` (PolicySetup), no_type for another.
inline constexpr std::uint32_t no_type = ~std::uint32_t{0};
std::vector<std::uint32_t> type_ids(const Problem& problem, std::span<const std::string> op_types);

// A fixed number of outputs, each of a fixed number of dimensions, as log(1 + dimension), 0 where absent; what is
// beyond is left out.
struct ShapeSlots {
  std::size_t outputs = 0, dimensions = 0;
  [[nodiscard]] std::size_t size() const { return outputs * dimensions; }
};
// Adds the op's vector to `sum` (slots.size() values, output by output).
void add_shape_logs(const OutputShapes& shapes, std::size_t op, const ShapeSlots& slots, std::span<float> sum);

// N: where each op stands in the problem's topological order.
std::vector<std::uint32_t> topological_positions(const Problem& problem);

// The op's first `slots` distinct producers, then as many consumers, both in topological order: (position + 1) / N, 0
// where absent. `into` has 2 slots values.
void set_neighbour_slots(const Problem& problem, std::span<const std::uint32_t> position, std::uint32_t op,
                         std::size_t slots, std::span<float> into);

// Where the `index`th of `count` stands among them, x in (0, 1), as sin(pi k x) and cos(pi k x) for k = 1, 2, ...: a
// network can tell neighbours apart by them that have the same features (after Vaswani et al. 2017, section 3.5).
void set_position_waves(std::size_t index, std::size_t count, std::span<float> into);

// InputError naming the problem, the unit's first op and `what` where one of the columns [begin, begin + count) of rows
// of `width` is not finite; a row is a unit of the problem.
void check_features(const PolicyProblem& problem, std::string_view what, std::span<const float> rows, std::size_t width,
                    std::size_t begin, std::size_t count);

// visit(a, b) once or more for each pair of part_of[producer] and part_of[consumer] that differ.
template <class Part, class Visit>
void for_each_edge_between(const Problem& problem, std::span<const Part> part_of, Visit&& visit) {
  for (std::size_t tensor = 0; tensor < problem.tensor_count(); ++tensor) {
    const Part from = part_of[problem.producer[tensor].index()];
    for (const std::uint32_t consumer : problem.consumers[tensor])
      if (part_of[consumer] != from) visit(from, part_of[consumer]);
  }
}

// The pairs (producer's unit, consumer's unit) that differ, ascending, each once.
std::vector<std::pair<std::uint32_t, std::uint32_t>> unit_edges(const PolicyProblem& problem);

}  // namespace emplace::policy
