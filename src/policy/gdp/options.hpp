// GDP's options, and the network sizes and features that follow from them.
#pragma once

#include <string>
#include <vector>

#include "emplace/base/options.hpp"
#include "policy/gdp/features.hpp"
#include "policy/gdp/network.hpp"

namespace emplace::policy {

struct GdpOptions {
  int hidden = 128;
  int graph_layers = 4;
  int placer_layers = 3;
  int heads = 4;
  int feedforward = 512;
  int segment = 128;
  int type_width = 32;
  std::string superposition = "per_node";
  bool attention = true;
  bool memory = true;
  int rounds = 1;
  int schedule_levels = 0;
  bool neighbour_features = true;
  bool cost_features = false;
  std::vector<std::string> device_kinds;
  bool relative_costs = false;
  int position_waves = 0;
  bool centered = false;
  std::string device_head = "fixed";
  int devices = 0;
  double head_gain = 0.01;
  int coarse_units = 0;
  double coarse_share = 0.8;
};

void describe(GdpOptions& o, OptionVisitor& visit);
GdpOptions read_gdp_options(const ConfigTable& table);

// Sets device_kinds to the kinds of the setup's devices if cost_features is on and no kinds are given.
void settle_kinds(GdpOptions& options, const PolicySetup& setup);

GdpFeatureOptions gdp_feature_options(const GdpOptions& o);
GdpSizes gdp_sizes(const GdpOptions& o, const PolicySetup& setup);

}  // namespace emplace::policy
