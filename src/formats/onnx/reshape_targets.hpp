// Targets of Reshape in which the exporter's batch is fixed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

// A fixed size of an input and the size that the user gave instead of it.
using ReplacedSize = std::pair<std::int64_t, std::int64_t>;

// The target with sizes that keep all elements of `input`, for a target that has only those of the exported batch.
// Sizes that the user replaced are replaced in the target too; if that does not fit, sizes that the input and the
// target have in common at their ends stay and the sizes before them take the input's elements. nullopt if the target
// fits already or no such sizes exist.
std::optional<std::vector<std::int64_t>> fitted_target(const Shape& input, std::span<const std::int64_t> target,
                                                       std::span<const ReplacedSize> replaced);

}  // namespace emplace::formats
