// Options of the Hierarchical Planner's policy (docs/papers/hierarchical.md, section 3), and the network sizes that
// follow from them for given problems.
#pragma once

#include <cstdint>
#include <string>

#include "emplace/policy/policy.hpp"
#include "policy/common/logit_noise.hpp"
#include "policy/hierarchical/group_features.hpp"
#include "policy/hierarchical/network.hpp"
#include "policy/hierarchical/placer.hpp"

namespace emplace::policy {

// learned: by the grouper. none: the placer places units, in topological order. random: groups are drawn uniformly. The
// last two are the paper's ablations (section 2.8).
enum class GroupingMode : std::uint8_t { learned, none, random };

struct HierarchicalOptions {
  std::string grouping = "learned";
  int groups = 0;
  int placements_per_grouping = 4;
  int grouper_hidden = 64;
  int hidden = 512;
  bool aligned = false;
  int type_width = 20;
  int adjacency = 20;
  int position_waves = 0;
  double order_prior = 0;
  double grouper_gain = 1;
  double grouper_entropy = 1;
  int shape_outputs = 5;
  int shape_dimensions = 5;
  bool number_of_outputs = false;
  double squash = 5;
  double temperature = 10;
  std::string noise = "uniform";
  double noise_size = 0.1;
  double noise_share = 0.5;
  int coarse_groups = 0;
  double coarse_share = 0.67;
};
void describe(HierarchicalOptions& options, OptionVisitor& visit);

GroupingMode mode_of(const HierarchicalOptions& options);
OpColumns op_columns(const HierarchicalOptions& options);
LogitNoise noise_of(const HierarchicalOptions& options);
GroupBlocks group_blocks_of(const HierarchicalOptions& options);
// Throws InputError for problems with different numbers of devices, for more groups than units in a training, and,
// without grouping, for problems with different numbers of units or more units than the encoder supports.
HierarchicalSizes hierarchical_sizes(const HierarchicalOptions& options, const PolicySetup& setup);
// The options with the default number of groups for these problems written out.
ConfigTable freeze_groups(const ConfigTable& options, const PolicySetup& setup);

}  // namespace emplace::policy
