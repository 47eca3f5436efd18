// The ideals of an acyclic graph: sets of classes that contain all predecessors of their members
// (docs/papers/tarnawski.md section 2.4). Each is linked to the ideals with one class less.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

// M ideals, sorted by size: 0 is the empty set, M - 1 has all classes.
struct Ideals {
  Lists smaller;                       // M rows of ideals with one class less
  std::vector<std::uint32_t> removed;  // the class that each item of `smaller` lacks

  [[nodiscard]] std::size_t count() const { return smaller.rows(); }
};

// Takes memory linear in ideals x width (sets of members are kept for two sizes at a time). Returns nothing if there
// are more than `limit` ideals, or if stop(), called from time to time, returns true. Equal for equal graphs.
std::optional<Ideals> enumerate_ideals(const Lists& before, const Lists& after, std::size_t limit,
                                       const std::function<bool()>& stop = {});

// The prefixes of an order of all classes: the ideals of a chain in that order.
Ideals prefixes_of(std::span<const std::uint32_t> order);

}  // namespace emplace::search
