// Input features of single ops for networks: types, shapes of outputs, neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emplace/policy/policy.hpp"

namespace emplace::policy {

// N: the position of each op's type in `op_types` (PolicySetup), or no_type if it is not there.
inline constexpr std::uint32_t no_type = ~std::uint32_t{0};
std::vector<std::uint32_t> type_ids(const Problem& problem, std::span<const std::string> op_types);

// Output shapes in a vector of fixed size: log(1 + dimension) for a fixed number of outputs and of dimensions of each,
// 0 where absent; further ones are left out.
struct ShapeSlots {
  std::size_t outputs = 0, dimensions = 0;
  [[nodiscard]] std::size_t size() const { return outputs * dimensions; }
};
// Adds the op's vector to `sum` (slots.size() values, output by output).
void add_shape_logs(const OutputShapes& shapes, std::size_t op, const ShapeSlots& slots, std::span<float> sum);

// N: the position of each op in the problem's topological order.
std::vector<std::uint32_t> topological_positions(const Problem& problem);

// The op's first `slots` distinct producers, then its first `slots` distinct consumers, both in topological order:
// (position + 1) / N, 0 where absent. `into` has 2 x slots values.
void set_neighbour_slots(const Problem& problem, std::span<const std::uint32_t> position, std::uint32_t op,
                         std::size_t slots, std::span<float> into);

// Position encoding of item `index` of `count`: with x = (index + 1/2) / count, sin(pi k x) and cos(pi k x) for k = 1,
// 2, ... With it a network can distinguish neighbours that have the same features (after Vaswani et al. 2017, section
// 3.5).
void set_position_waves(std::size_t index, std::size_t count, std::span<float> into);

// `rows` has a row of `width` values for each unit. Throws InputError, naming the problem, the unit's first op and
// `what`, if a value in the columns [begin, begin + count) is not finite.
void check_features(const PolicyProblem& problem, std::string_view what, std::span<const float> rows, std::size_t width,
                    std::size_t begin, std::size_t count);

// Calls visit(a, b) at least once for each pair a = part_of[producer], b = part_of[consumer] with a != b.
template <class Part, class Visit>
void for_each_edge_between(const Problem& problem, std::span<const Part> part_of, Visit&& visit) {
  for (std::size_t tensor = 0; tensor < problem.tensor_count(); ++tensor) {
    const Part from = part_of[problem.producer[tensor].index()];
    for (const std::uint32_t consumer : problem.consumers[tensor])
      if (part_of[consumer] != from) visit(from, part_of[consumer]);
  }
}

// The distinct pairs (producer's unit, consumer's unit) of different units, ascending.
std::vector<std::pair<std::uint32_t, std::uint32_t>> unit_edges(const PolicyProblem& problem);

}  // namespace emplace::policy
