// HSDAG's input for a problem (Duan et al. 2024, docs/papers/hsdag.md, sections 2.1 and 2.2): the graph of its units,
// which are the nodes, and their features.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "policy/hsdag/graph_parsing.hpp"
#include "policy/hsdag/options.hpp"

namespace emplace::policy {

// For each unit the number of distinct other units that it reads tensors of (in) and that read its tensors (out).
struct UnitDegrees {
  std::vector<std::uint32_t> in, out;
};

struct HsdagGraph {
  NodeGraph graph;
  UnitDegrees degrees;
};
HsdagGraph hsdag_graph(const PolicyProblem& problem);

// The features that are switched on, and their widths. Each degree that `options` lists, or else that occurs in these
// problems, has a one-hot column; for a node with another degree all columns are 0.
struct HsdagColumns {
  std::size_t types = 0;
  bool node_number = false;  // features = code
  bool shape = false, structure = false;
  std::vector<std::uint32_t> in_degrees, out_degrees;  // ascending
  std::size_t position = 0;                            // sines and cosines

  [[nodiscard]] std::size_t width() const;
};
// Throws InputError for degrees that are not whole numbers in ascending order.
HsdagColumns hsdag_columns(const HsdagOptions& options, const PolicySetup& setup, std::span<const HsdagGraph> graphs);

// N x F. `index` keys the random stream for estimates on large graphs. Throws InputError, naming the feature and the
// unit, for a value that is not finite.
std::vector<float> hsdag_features(const PolicyProblem& problem, const HsdagGraph& graph, const HsdagColumns& columns,
                                  std::span<const std::string> op_types, std::uint64_t seed, std::uint32_t index);

// The options with the degrees written out.
ConfigTable freeze_degrees(const ConfigTable& table, const PolicySetup& setup);

}  // namespace emplace::policy
