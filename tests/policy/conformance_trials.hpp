// Problems and options of the conformance tests (policy_on_trial.hpp), with at least one row of small options for each
// policy.
#pragma once

#include <vector>

#include "tests/problem/tiny.hpp"

namespace emplace::test {

inline const Problem& three_devices() {  // 3 units, two forbidden devices
  static const Problem problem =
      tiny(plain_devices(3), {{"a", {1, 2, 3}}, {"b", {1, no, 2}}, {"c", {1, 2, no}, "g"}, {"d", {1, 1, 1}, "g"}},
           {{0, 1}, {1, 2}, {2, 3}}, 1);
  return problem;
}

// Several problems, so that a policy cannot rely on there being only one: with equal numbers of units and of devices,
// with equal numbers of devices, or with neither.
inline std::vector<Problem> same_sizes() {
  return {three_devices(),
          tiny(plain_devices(3), {{"x", {1, 2, 3}}, {"y", {no, 1, 2}}, {"z", {2, 2, 2}}}, {{0, 2}, {1, 2}}, 1)};
}
inline std::vector<Problem> same_devices() {
  return {three_devices(), tiny(plain_devices(3), {{"x", {1, 2, 3}}, {"y", {1, 1, 2}}}, {{0, 1}}, 1)};
}
inline std::vector<Problem> different() { return {three_devices(), chain_5(2)}; }

// Of two ops each, because every op has a level too, and every round all decisions.
inline std::vector<Problem> schedulable() {
  return {tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}}, {{0, 1}}, 1),
          tiny(plain_devices(2), {{"x", {2, 1}}, {"y", {1, 1}}}, {}, 1)};
}

// A path that is parsed into several clusters, and a pair of ops with an unconnected third. Every two ops have a device
// that runs both.
inline std::vector<Problem> sparse_graphs() {
  return {tiny(plain_devices(3),
               {{"a", {1, 2, 3}}, {"b", {1, no, 2}}, {"c", {1, 2, 1}}, {"d", {1, 1, 1}}, {"e", {2, 1, 1}}},
               {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 1),
          tiny(plain_devices(3), {{"x", {1, 2, 3}}, {"y", {1, 1, 2}}, {"z", {1, 1, no}}}, {{0, 1}}, 1)};
}

// A test case of a policy. Networks are small, so that every parameter can be moved; options that make
// log-probabilities differ from sample to sample are off.
struct Trial {
  const char* name;
  const char* policy;
  std::vector<Problem> (*problems)();
  const char* options;
  // How far parameters move from their start, and the step of finite differences, which must be small for deep relu
  // networks.
  float move = 0.5F;
  float step = 1.0F / 256;
  std::size_t draws = 20000;
};

inline constexpr Trial trials[] = {
    {"post", "post", different, ""},
    {"colocrl", "colocrl", same_sizes,
     "hidden = 4\ntype_width = 2\ndevice_width = 3\nshape_outputs = 1\nshape_dimensions = 2"},
    {"colocrl_aligned", "colocrl", same_sizes,
     "hidden = 4\ntype_width = 2\ndevice_width = 3\nshape_outputs = 1\nshape_dimensions = 2\naligned = true\n"
     "attention_width = 3"},
    {"hierarchical", "hierarchical", same_devices,
     "groups = 2\ngrouper_hidden = 4\nhidden = 4\ntype_width = 2\nadjacency = 4\nshape_outputs = 1\n"
     "shape_dimensions = 2\nplacements_per_grouping = 1\nnoise = \"none\""},
    {"hierarchical_aligned", "hierarchical", same_devices,
     "groups = 2\ngrouper_hidden = 4\nhidden = 4\ntype_width = 2\nadjacency = 4\nshape_outputs = 1\n"
     "shape_dimensions = 2\nplacements_per_grouping = 1\nnoise = \"none\"\naligned = true\nposition_waves = 1\n"
     "number_of_outputs = true\ngrouper_gain = 5\norder_prior = 0.5"},
    {"placeto", "placeto", same_devices, "size = \"small\"\nmessage_rounds = 1", 0.1F, 1.0F / 4096, 8000},
    {"placeto_in_random_order", "placeto", same_devices,
     "size = \"small\"\nmessage_rounds = 1\ninitial = \"first\"\ntraversal = \"random\"", 0.1F, 1.0F / 4096, 4000},
    {"placeto_from_nowhere", "placeto", same_devices,
     "size = \"small\"\nmessage_rounds = 1\ninitial = \"none\"\nmemory_feature = true\nposition_waves = 1", 0.1F,
     1.0F / 4096, 4000},
    {"placeto_from_anywhere", "placeto", same_devices,
     "size = \"small\"\nmessage_rounds = 1\ninitial = \"random-each\"\nnormalize_aggs = true", 0.1F, 1.0F / 4096,
     10000},
    {"gdp", "gdp", same_devices,
     "hidden = 4\ntype_width = 2\nheads = 2\nfeedforward = 3\ngraph_layers = 1\nplacer_layers = 1", 0.3F, 1.0F / 1024},
    {"gdp_in_rounds", "gdp", different,
     "hidden = 4\ntype_width = 2\nheads = 2\nfeedforward = 3\ngraph_layers = 1\nplacer_layers = 1\nrounds = 2\n"
     "superposition = \"graph\"\ndevice_head = \"features\"\ncost_features = true\ncentered = true",
     0.3F, 1.0F / 1024, 10000},
    {"gdp_with_relative_costs", "gdp", different,
     "hidden = 4\ntype_width = 2\nheads = 2\nfeedforward = 3\ngraph_layers = 1\nplacer_layers = 1\n"
     "device_head = \"features\"\nrelative_costs = true\nhead_gain = 1",
     0.3F, 1.0F / 1024},
    {"gdp_with_priority_levels", "gdp", same_devices,
     "hidden = 4\ntype_width = 2\nheads = 2\nfeedforward = 3\ngraph_layers = 1\nplacer_layers = 1\n"
     "schedule_levels = 2",
     0.3F, 1.0F / 1024},
    {"gdp_with_priority_levels_in_rounds", "gdp", schedulable,
     "hidden = 4\ntype_width = 2\nheads = 2\nfeedforward = 3\ngraph_layers = 1\nplacer_layers = 1\nrounds = 2\n"
     "superposition = \"graph\"\ndevice_head = \"features\"\nschedule_levels = 2",
     0.3F, 1.0F / 1024, 40000},
    // One round, because the features of a second one depend on the parameters but have no gradient.
    {"hsdag", "hsdag", sparse_graphs, "hidden = 4\nupdate_timestep = 1\ndropout = 0\nposition_width = 2", 0.1F,
     1.0F / 4096, 8000},
    {"hsdag_in_two_passes", "hsdag", sparse_graphs,
     "hidden = 4\nupdate_timestep = 1\ndropout = 0\nposition_width = 2\nparsing_passes = 2\nscore_layers = 1", 0.1F,
     1.0F / 4096, 4000},
    {"hsdag_with_attention", "hsdag", sparse_graphs,
     "hidden = 4\nupdate_timestep = 1\ndropout = 0\nposition_width = 2\nencoder = \"gat\"", 0.1F, 1.0F / 4096, 8000},
    {"hsdag_with_isomorphism_layers", "hsdag", sparse_graphs,
     "hidden = 4\nupdate_timestep = 1\ndropout = 0\nposition_width = 2\nencoder = \"gin\"", 0.1F, 1.0F / 4096, 8000},
    {"hsdag_node_by_node", "hsdag", sparse_graphs,
     "hidden = 4\nupdate_timestep = 1\ndropout = 0\nposition_width = 2\ngrouping = \"none\"", 0.1F, 1.0F / 4096, 20000},
    {"hsdag_in_learned_groups", "hsdag", sparse_graphs,
     "hidden = 4\nupdate_timestep = 1\ndropout = 0\nfeatures = \"code\"\ngrouping = \"learned\"\ngroups = 2", 0.1F,
     1.0F / 4096, 20000},
};

}  // namespace emplace::test
