// Classes of ops that contiguous splits of a pipeline never separate: the preprocessing of docs/papers/tarnawski.md,
// section 2.3.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

// C classes, numbered by their first op in topological order. The graph of classes has an edge for each edge between
// forward ops of two classes, and, in the opposite direction, for each edge between backward ops of two classes of
// which one has no forward op. Classes on a cycle are merged into one, so the graph is acyclic.
struct SplitClasses {
  std::vector<std::uint32_t> of_op;  // N
  Lists members;                     // C rows of op ids
  Lists before, after;               // C rows of classes, without repetitions

  [[nodiscard]] std::size_t count() const { return members.rows(); }
};

// Every op is in one class (co-location groups and cycles are merged). `merge_idle` is step 4: a class that takes no
// time and has only one neighbour is merged with it, but only if that loses no feasible split (it can run wherever its
// neighbour can, and it needs no memory or every device can hold all ops). So the optimum changes by less than one tick
// per op.
SplitClasses split_classes(const Problem& problem, bool merge_idle);
// The same, beginning with other classes than the co-location groups, which they must keep together.
SplitClasses split_classes(const Problem& problem, std::vector<std::uint32_t> of_op, bool merge_idle);

// The classes of the PipeDream-like baseline (section 2.8): before strongly connected classes are merged, those are
// that have the tails of edges in one biconnected component of the graph of forward and backward super-nodes. Edges
// that leave the classes of the ops `ignored` are not looked at.
SplitClasses block_classes(const Problem& problem, const std::vector<OpId>& ignored, bool merge_idle);

// A depth-first topological order of the classes: always takes the smallest of those that became ready last (section
// 2.5).
std::vector<std::uint32_t> depth_first_order(const SplitClasses& classes);

}  // namespace emplace::search
