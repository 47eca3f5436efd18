// The ideals of an acyclic graph: sets of classes that contain all predecessors of their members
// (docs/papers/tarnawski.md section 2.4), with their links: ideals with one class less.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

// M ideals by size: 0 is the empty set, M - 1 everything.
struct Ideals {
  Lists smaller;                       // M rows of ideals
  std::vector<std::uint32_t> removed;  // the class that each item of `smaller` lacks

  [[nodiscard]] std::size_t count() const { return smaller.rows(); }
};

// Memory linear in ideals x width (sets of members are kept for two sizes at a time). Nothing beyond `limit` ideals or
// if stop(), asked now and then, says so. Equal for equal graphs.
std::optional<Ideals> enumerate_ideals(const Lists& before, const Lists& after, std::size_t limit,
                                       const std::function<bool()>& stop = {});

// The prefixes of an order of all classes, which are its only ideals once neighbours are joined by edges.
Ideals prefixes_of(std::span<const std::uint32_t> order);

}  // namespace emplace::search
