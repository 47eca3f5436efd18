// The sum of vectors in a fixed binary tree, so that it has the same bits whoever adds up which part of it.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace emplace::learn {

// Of leaves 0 .. N - 1. The node of level 0 is a leaf, node i of level l + 1 is node 2i + node 2i + 1 of level l, the
// latter only if it has leaves. Added in double: sums of a few floats then hardly ever round.
class TreeSum {
 public:
  explicit TreeSum(std::size_t leaves);

  // Any nodes in any order whose leaves are each leaf once.
  void add(unsigned level, std::size_t index, std::span<const float> values) { take<float>({level, index}, values); }
  void add(unsigned level, std::size_t index, std::span<const double> values) { take<double>({level, index}, values); }

  // All leaves are there.
  [[nodiscard]] bool complete() const;
  // Of a complete sum.
  [[nodiscard]] std::span<const double> total() const;

  // Leaves of a node that has its right part: 2^level.
  [[nodiscard]] static std::size_t width(unsigned level) { return std::size_t{1} << level; }

 private:
  using Node = std::pair<unsigned, std::size_t>;  // level, index

  template <class T>
  void take(Node node, std::span<const T> values);
  // The node, as high up as it is its parent's only child.
  [[nodiscard]] Node highest(Node node) const;

  std::size_t leaves_;
  std::map<Node, std::vector<double>> waiting_;  // for their siblings
  std::vector<std::vector<double>> free_;        // memory of nodes that have been added
};

}  // namespace emplace::learn
