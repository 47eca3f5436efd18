// A serving problem: nodes of a cluster, each of which can hold an interval of a model's equal layers, and the links
// between them. A layout says which interval each node holds; its throughput is a maximum flow (flow.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace emplace::serving {

// Millionths of a token per second. Rates of files are rounded to whole ones when they are read, and never again, so
// that a throughput is exact and does not depend on the order of sums.
using Rate = std::int64_t;
inline constexpr double rate_unit = 1e-6;
inline constexpr double tokens_per_s(Rate rate) { return static_cast<double>(rate) / 1e6; }

using Layers = std::uint32_t;
using NodeIndex = std::uint32_t;

struct Node {
  std::string name;
  std::string type;         // may be empty
  std::vector<Rate> speed;  // speed[k - 1]: what it passes on when it holds k consecutive layers; no longer than needed
};

// The published plan of a file, if it has one.
struct Published {
  Rate throughput = 0;
  std::string note;
};

// Limits of what is read: they bound the time and memory that a file can cost.
inline constexpr std::size_t most_nodes = 2048;
inline constexpr Layers most_layers = 10'000;
inline constexpr Rate total_rate_limit = std::int64_t{1} << 61;

struct Cluster {
  std::string name, model;
  Layers layers = 0;
  std::vector<Node> nodes;  // N
  // N x N: the rate of the link from one node to another, the same in both directions; 0: no link.
  std::vector<Rate> link;
  std::vector<Rate> from_source, to_sink;  // N; 0: no link
  Published published;

  [[nodiscard]] std::size_t size() const { return nodes.size(); }
  [[nodiscard]] Rate between(std::size_t from, std::size_t to) const { return link[from * nodes.size() + to]; }
  // The most layers that the node can hold, at most those of the model.
  [[nodiscard]] Layers most(std::size_t node) const { return static_cast<Layers>(nodes[node].speed.size()); }
};

// The layers [first, end) of one node; empty where the node holds nothing.
struct Interval {
  Layers first = 0, end = 0;

  [[nodiscard]] Layers size() const { return end - first; }
  [[nodiscard]] bool empty() const { return first == end; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// N: what each node holds.
using Layout = std::vector<Interval>;

}  // namespace emplace::serving
