// The network of cells found by architecture search that NASNet and AmoebaNet share (Zoph et al. 2018, sections 3 and
// 3.1; Real et al. 2018): two stem cells, then three stacks of normal cells with a reduction cell before the second and
// the third.
#pragma once

#include <array>

#include "zoo/model_builder.hpp"

namespace emplace::zoo {

// A cell has seven states: the projected output of the previous cell (0), that of the cell before it (1), and five sums
// of two operations each on earlier states. States for which `used` is false are concatenated.
struct CellPlan {
  std::array<const char*, 10> operations;
  std::array<int, 10> inputs;
  std::array<bool, 7> used;
};

struct CellNetworkOptions : ImageOptions {
  CellNetworkOptions() { image = 331; }
  std::int64_t layers = 18;    // normal cells in all three stacks
  std::int64_t filters = 168;  // of the first stack's cells; each reduction doubles them
  StepOptions step;
};
void describe_cell_network(CellNetworkOptions& options, OptionVisitor& visit);

struct CellNetwork {
  std::string name;
  CellPlan normal, reduction;
  std::int64_t stem_filters;
  // Whether the second input of the cell after a reduction comes from before the reduction.
  bool skips_reduction;
};
Graph build_cell_network(const CellNetwork& network, const CellNetworkOptions& options);

}  // namespace emplace::zoo
