// Which ops follow and precede each op, each once: through tensors and control dependencies alike.
#pragma once

#include <span>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace {

// Rows of ascending ids, one after the other in `items`.
struct IdLists {
  std::vector<std::uint32_t> begin;  // rows + 1
  std::vector<std::uint32_t> items;

  [[nodiscard]] std::size_t rows() const { return begin.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t row) const {
    return std::span(items).subspan(begin[row], begin[row + 1] - begin[row]);
  }
};

// N rows: the distinct ops whose tensors the op reads or for which it waits.
IdLists predecessors_of(const Graph& graph);
// `count` rows: the positions that `group_of` gives to each group.
IdLists members_of(std::span<const std::uint32_t> group_of, std::size_t count);
// The other direction of such lists.
IdLists reversed(const IdLists& lists);
// Rows and items renamed by `group_of`, `count` rows; an item equal to its row vanishes.
IdLists contracted(const IdLists& lists, std::span<const std::uint32_t> group_of, std::size_t count);

}  // namespace emplace
