// The Hierarchical Planner's policy on one problem, with small networks, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "policy/hierarchical/group_features.hpp"
#include "policy/hierarchical/options.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::test {

inline const std::string small =
    "hidden = 4\ngrouper_hidden = 4\ntype_width = 2\nadjacency = 4\nshape_outputs = 1\nshape_dimensions = 2\n";
inline const std::string quiet = small + "noise = \"none\"\n";

struct Made {
  Made(Problem of, const std::string& options, GroupingKind kind = GroupingKind::op)
      : problem(std::move(of)),
        list{{&problem, make_grouping(problem, kind)}},
        policy(policy::make_policy("hierarchical", ConfigTable::parse_toml(options, "test"), list, 1)) {}

  void perturb(double size) {
    Stream random{{.seed = 9}};
    for (float& parameter : policy->parameters()) parameter += static_cast<float>(size * (2 * random.uniform() - 1));
  }
  // `key` names the draw, whose stream is not that of update and sample.
  static Stream stream(std::uint32_t key) {
    return Stream({.seed = 5, .purpose = Purpose::sample_placement, .update = 77, .index = key});
  }
  policy::Rollout draw(std::uint64_t update, std::uint32_t sample, std::uint32_t key) {
    policy::Rollout rollout;
    rollout.update = update;
    rollout.progress = progress;
    rollout.sample = sample;
    Stream random = stream(key);
    const policy::SampleSlot one{&random, {&rollout, 1}};
    policy->sample({&one, 1});
    return rollout;
  }
  double log_probability(const policy::Rollout& rollout, std::size_t first_head = 0) {
    policy::LogProbabilities log;
    policy->forward({&rollout, 1}, log);
    double sum = 0;
    for (const double value : log.of(0).subspan(first_head)) sum += value;
    return sum;
  }

  Problem problem;
  std::vector<policy::PolicyProblem> list;
  std::unique_ptr<policy::Policy> policy;
  double progress = 0;  // of draws: the share of the budget that is used
};

// Each op has an edge to the seventh after it.
inline Problem staggered_ops(std::size_t count) {
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < count; ++i) {
    ops.push_back({"op" + std::to_string(i), {1, 1}});
    if (i >= 7) edges.push_back({i - 7, i});
  }
  return tiny(plain_devices(2), ops, edges, 1);
}

// The computation of such a policy's grouper as one matrix of all rows, on a separate tape, instead of in chunks.
// `options` are those of `made`, whose units are ops.
struct WholeGrouper {
  WholeGrouper(Made& made, const std::string& options)
      : types(policy::op_types_of(made.list)),
        setup{made.list, types, 1},
        asked(read_options<policy::HierarchicalOptions>(ConfigTable::parse_toml(options, "test"))),
        network(policy::hierarchical_sizes(asked, setup)),
        table(policy::unit_table(made.list.front(), types, policy::op_columns(asked))),
        gradient(network.layout.size(), 0.0F) {
    tape.begin(made.policy->parameters(), gradient);
    logits = policy::grouper_logits<float>(tape, network, table.first_type,
                                           {table.first_op.data(), table.count(), network.sizes.op_constants()});
  }
  // After tape.backward().
  void expect_gradient(Made& made, double tolerance) const {
    for (const nn::Slice& slice :
         {network.type_table, network.grouper_weight, network.group_weight, network.group_bias})
      for (std::size_t i = slice.begin; i < slice.begin + slice.size(); ++i)
        EXPECT_NEAR(made.policy->gradient()[i], gradient[i], tolerance);
  }

  std::vector<std::string> types;
  policy::PolicySetup setup;
  policy::HierarchicalOptions asked;
  policy::HierarchicalNetwork network;
  policy::UnitTable table;
  std::vector<float> gradient;
  nn::Tape<float> tape;
  nn::Var logits;
};

}  // namespace emplace::test
