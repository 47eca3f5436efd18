// Networks of searched cells, as NASNet and AmoebaNet share them (Zoph et al. 2018, sections 3 and 3.1; Real et al.
// 2018): two stem cells, three stacks of normal cells with a reduction cell before the second and the third.
#pragma once

#include <array>

#include "zoo/model_builder.hpp"

namespace emplace::zoo {

// A cell has seven states: the projected output of the cell before (0), that of the one before it (1), and five sums,
// each of two operations on earlier states. States that `used` does not mark are concatenated.
struct CellPlan {
  std::array<const char*, 10> operations;
  std::array<int, 10> inputs;
  std::array<bool, 7> used;
};

struct CellNetworkOptions : ImageOptions {
  CellNetworkOptions() { image = 331; }
  std::int64_t layers = 18;    // normal cells in all three stacks
  std::int64_t filters = 168;  // of the first stack's cells; doubled by each reduction
  StepOptions step;
};
void describe_cell_network(CellNetworkOptions& options, OptionVisitor& visit);

struct CellNetwork {
  std::string name;
  CellPlan normal, reduction;
  std::int64_t stem_filters;
  // The cell after a reduction takes its second input from before the reduction.
  bool skips_reduction;
};
Graph build_cell_network(const CellNetwork& network, const CellNetworkOptions& options);

}  // namespace emplace::zoo
