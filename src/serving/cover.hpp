// What it costs to pass a rate through one layer. Every layer is in the intervals of nodes whose rates together reach
// the throughput; with a price for each node, divided evenly among the layers that it holds, each layer costs at least
// the cheapest such set. Certified: prices are whole numbers and the cheapest cost is a lower bound in integers.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "serving/cluster.hpp"

namespace emplace::serving {

using Price = std::int64_t;

// Nodes of equal speeds.
struct NodeType {
  std::vector<Rate> speed;
  std::int64_t count = 0;
};

// A node of a type that holds k layers.
struct CoverItem {
  std::size_t type = 0;
  Layers layers = 0;
  Rate rate = 0;    // at most the wanted rate
  Price price = 0;  // of one layer
};

// A set of items, with repetitions, as positions in a list of items.
using CoverSet = std::vector<std::uint32_t>;

// Items that can be in a cheapest set: of one type, more layers at no lower rate are better.
std::vector<CoverItem> cover_items(const std::vector<NodeType>& types, Rate wanted);

// Answers questions about the cheapest sets of items whose rates reach `wanted`.
class Cover {
 public:
  Cover(std::vector<CoverItem> items, const std::vector<NodeType>& types, Rate wanted);

  static constexpr Price none = std::int64_t{1} << 60;
  struct Cheapest {
    Price at_least = none;  // a lower bound on the price of every set; `none`: there is no set
    CoverSet set;           // the cheapest found; empty if none was
  };
  // The cheapest set that reaches `wanted` and has at least `least` items (0 to 2).
  [[nodiscard]] Cheapest cheapest(std::size_t least = 0) const;
  // A lower bound on the price of every set of at least two items, all of which are `allowed`.
  [[nodiscard]] Price cheapest_among(const std::function<bool(std::size_t item)>& allowed) const;
  // A lower bound on the price of every set that has the item.
  [[nodiscard]] Price at_least_with(std::size_t item) const;

  [[nodiscard]] const std::vector<CoverItem>& items() const { return items_; }

 private:
  static constexpr std::size_t cells = 512;
  struct Search;
  [[nodiscard]] std::size_t cell(Rate left) const;
  [[nodiscard]] Price estimate(std::size_t least, Rate left) const { return cost_[least * (cells + 1) + cell(left)]; }

  std::vector<CoverItem> items_;
  std::vector<NodeType> types_;
  Rate wanted_;
  std::vector<Price> cost_;  // 3 x (cells + 1): at least what it costs to add so many items and so many cells of rate
};

}  // namespace emplace::serving
