// The predecessors and successors of each op, each once, through tensors and control dependencies.
#pragma once

#include <span>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace {

// Rows of ascending ids, stored one after the other in `items`.
struct IdLists {
  std::vector<std::uint32_t> begin;  // rows + 1
  std::vector<std::uint32_t> items;

  [[nodiscard]] std::size_t rows() const { return begin.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t row) const {
    return std::span(items).subspan(begin[row], begin[row + 1] - begin[row]);
  }
};

// One row for each op: the distinct ops whose tensors it reads or that it has as control dependencies.
IdLists predecessors_of(const Graph& graph);
// `count` rows, one for each group: the positions at which `group_of` has that group.
IdLists members_of(std::span<const std::uint32_t> group_of, std::size_t count);
// The lists of the reversed edges.
IdLists reversed(const IdLists& lists);
// Replaces rows and items by their groups (`group_of`, `count` groups); items equal to their row are removed.
IdLists contracted(const IdLists& lists, std::span<const std::uint32_t> group_of, std::size_t count);

}  // namespace emplace
