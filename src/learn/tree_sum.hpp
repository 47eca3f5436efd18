// The sum of vectors in a fixed binary tree, so that it has the same bits however its parts are divided among
// processes.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace emplace::learn {

// The sum of leaves 0 .. N - 1. A node of level 0 is a leaf; node i of level l + 1 is node 2i + node 2i + 1 of level l,
// the latter only if it has leaves. Nodes are added in double, in which sums of a few floats are hardly ever rounded.
class TreeSum {
 public:
  explicit TreeSum(std::size_t leaves);

  // Adds a node. Nodes can be added in any order, and must together contain each leaf once.
  void add(unsigned level, std::size_t index, std::span<const float> values) { take<float>({level, index}, values); }
  void add(unsigned level, std::size_t index, std::span<const double> values) { take<double>({level, index}, values); }

  // Whether all leaves have been added.
  [[nodiscard]] bool complete() const;
  // The sum, which must be complete.
  [[nodiscard]] std::span<const double> total() const;

  // Number of leaves of a complete node: 2^level.
  [[nodiscard]] static std::size_t width(unsigned level) { return std::size_t{1} << level; }

 private:
  using Node = std::pair<unsigned, std::size_t>;  // level, index

  template <class T>
  void take(Node node, std::span<const T> values);
  // The highest ancestor that equals the node, because each parent on the way has only one child.
  [[nodiscard]] Node highest(Node node) const;

  std::size_t leaves_;
  std::map<Node, std::vector<double>> waiting_;  // nodes whose siblings are missing
  std::vector<std::vector<double>> free_;        // memory of nodes that have been added
};

}  // namespace emplace::learn
