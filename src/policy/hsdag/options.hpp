// Options of HSDAG's policy (docs/papers/hsdag.md, section 3).
#pragma once

#include <string>
#include <vector>

#include "emplace/base/options.hpp"

namespace emplace::policy {

struct HsdagOptions {
  std::string grouping = "parsed";
  int groups = 0;
  int update_timestep = 20;
  int parsing_passes = 1;
  int hidden = 128;
  std::string encoder = "gcn";
  int score_layers = 2;
  int pool_layers = 1;
  double dropout = 0.2;
  std::string features = "paper";
  bool shape_feature = true;
  bool structure_features = true;
  bool position_feature = true;
  int position_width = 16;
  std::vector<std::string> in_degrees;
  std::vector<std::string> out_degrees;
};
void describe(HsdagOptions& options, OptionVisitor& visit);

// Throws InputError for options that contradict each other.
HsdagOptions read_hsdag_options(const ConfigTable& table);

}  // namespace emplace::policy
