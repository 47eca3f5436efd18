// What contiguous splits of a pipeline move as one: the preprocessing of docs/papers/tarnawski.md, section 2.3.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

// C classes, numbered by their first op in topological order. The graph of classes has an edge where an edge between
// forward ops joins two classes, and where an edge between backward ops does, mirrored, if one of the classes has no
// forward op; what it joins in a cycle is one class, so it has none.
struct SplitClasses {
  std::vector<std::uint32_t> of_op;  // N
  Lists members;                     // C rows of op ids
  Lists before, after;               // C rows of classes, without repetitions

  [[nodiscard]] std::size_t count() const { return members.rows(); }
};

// Every op a member of one class (co-location groups and cycles are merged). `merge_idle` is step 4: a class that
// takes no time, with one neighbour, joins it; only where that loses no feasible split (it runs wherever its neighbour
// does, and it needs no memory or every device can hold all ops), so the optimum moves by less than a tick an op.
SplitClasses split_classes(const Problem& problem, bool merge_idle);

// A topological order of the classes, depth first: always the smallest of those made ready last (section 2.5).
std::vector<std::uint32_t> depth_first_order(const SplitClasses& classes);

}  // namespace emplace::search
