// What HSDAG reads of a problem (Duan et al. 2024, docs/papers/hsdag.md, sections 2.1 and 2.2): the graph of its units,
// which are the nodes, and their features.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "policy/hsdag/graph_parsing.hpp"
#include "policy/hsdag/options.hpp"

namespace emplace::policy {

// Distinct other units that a tensor runs from and to, each once.
struct UnitDegrees {
  std::vector<std::uint32_t> in, out;
};

struct HsdagGraph {
  NodeGraph graph;
  UnitDegrees degrees;
};
HsdagGraph hsdag_graph(const PolicyProblem& problem);

// The features that are switched on, and their widths. Degrees are told apart that `options` name, or that occur in
// these problems; a node with another one has none of the columns.
struct HsdagColumns {
  std::size_t types = 0;
  bool node_number = false;  // features = code
  bool shape = false, structure = false;
  std::vector<std::uint32_t> in_degrees, out_degrees;  // ascending
  std::size_t position = 0;                            // sines and cosines

  [[nodiscard]] std::size_t width() const;
};
// InputError for degrees that are no ascending whole numbers.
HsdagColumns hsdag_columns(const HsdagOptions& options, const PolicySetup& setup, std::span<const HsdagGraph> graphs);

// N x F. `index` keys the searches that large graphs are sampled by. InputError naming the feature and the unit where
// one is no finite number.
std::vector<float> hsdag_features(const PolicyProblem& problem, const HsdagGraph& graph, const HsdagColumns& columns,
                                  std::span<const std::string> op_types, std::uint64_t seed, std::uint32_t index);

// The options with the degrees written out.
ConfigTable freeze_degrees(const ConfigTable& table, const PolicySetup& setup);

}  // namespace emplace::policy
