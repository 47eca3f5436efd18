// Disjoint sets that can be joined (union-find), with the size and the smallest element of each set.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>
#include "base/text.hpp"

namespace emplace {

class UnionFind {
 public:
  explicit UnionFind(std::size_t count) : parent_(count), size_(count, 1), first_(count) {
    std::iota(parent_.begin(), parent_.end(), 0u);
    std::iota(first_.begin(), first_.end(), 0u);
  }

  [[nodiscard]] std::uint32_t find(std::uint32_t element) const {
    while (parent_[element] != element) {
      parent_[element] = parent_[parent_[element]];
      element = parent_[element];
    }
    return element;
  }
  // Joins the sets of both elements and returns the root of the union.
  std::uint32_t join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    if (a == b) return a;
    if (size_[a] < size_[b]) std::swap(a, b);
    parent_[b] = a;
    size_[a] += size_[b];
    first_[a] = first_[a] < first_[b] ? first_[a] : first_[b];
    return a;
  }
  // The smallest element of the element's set, and the number of elements in that set.
  [[nodiscard]] std::uint32_t first(std::uint32_t element) const { return first_[find(element)]; }
  [[nodiscard]] std::uint32_t size(std::uint32_t element) const { return size_[find(element)]; }

 private:
  mutable std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> size_, first_;
};

}  // namespace emplace
