// Laws of the passes that merge or bind ops, on random graphs.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "graph/passes/merge.hpp"
#include "tests/graph/merging_laws.hpp"
#include "tests/graph/random_graph.hpp"

namespace emplace::merging_property_test {
namespace {

using test::draw;
using test::parameter_bytes;
using test::random_graph;
using test::random_step;
using test::state_bytes;

// What holds for every merging pass.
void check_merged(const Graph& before, const PassResult& result) { RC_ASSERT(test::broken_law(before, result) == ""); }

void check_traffic_is_kept(const Graph& before, const PassResult& result) {
  RC_ASSERT(statistics(before).bytes == statistics(result.graph).bytes);
}

TEST(MergingLaws, AnyPartitionCanBeMergedOnceItsCirclesAreSplit) {
  EXPECT_TRUE(rc::check("split_cycles, merge_ops", [] {
    const Graph graph = random_step();
    Partition partition;
    const int parts = 1 + draw(6);
    partition.parts.resize(static_cast<std::size_t>(parts));
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      const int part = draw(parts + 1);
      partition.part_of.push_back(part == parts ? Partition::alone : static_cast<std::uint32_t>(part));
    }
    const std::vector<std::uint32_t> wanted = partition.part_of;
    split_cycles(graph, partition);
    const PassResult result = merge_ops(graph, partition);
    check_merged(graph, result);
    check_traffic_is_kept(graph, result);
    // Splitting parts never moves an op to another one, and is done after one run.
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (partition.part_of[i] == partition.part_of[j]) RC_ASSERT(wanted[i] == wanted[j]);
    Partition again = partition;
    split_cycles(graph, again);
    RC_ASSERT(again.part_of == partition.part_of);
  }));
}

TEST(MergingLaws, APartitionIntoSingleOpsChangesNothing) {
  EXPECT_TRUE(rc::check("merge_ops of nothing", [] {
    const Graph graph = random_step();
    Partition none;
    none.part_of.assign(graph.ops.size(), Partition::alone);
    const PassResult result = merge_ops(graph, none);
    RC_ASSERT(result.graph.ops.size() == graph.ops.size());
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      RC_ASSERT(result.became[i] == OpId{i});
      RC_ASSERT(result.graph.ops[i].name == graph.ops[i].name);
      RC_ASSERT(result.graph.ops[i].type == graph.ops[i].type);
      RC_ASSERT(result.graph.ops[i].forward_of == graph.ops[i].forward_of);
    }
    check_merged(graph, result);
    check_traffic_is_kept(graph, result);
  }));
}

TEST(MergingLaws, FusionNeverRaisesACostAndEndsAfterOneRun) {
  EXPECT_TRUE(rc::check("fuse", [] {
    const Graph graph = random_step();
    const PassResult result = fuse(graph);
    check_merged(graph, result);
    RC_ASSERT(result.graph.ops.size() <= graph.ops.size());
    const std::vector<std::vector<OpId>> origins = result.origins();
    for (std::size_t i = 0; i < result.graph.ops.size(); ++i) {
      const OpCost cost = cost_of(result.graph, OpId{i});
      Bytes read = 0, written = 0;
      for (const OpId origin : origins[i]) {
        read += cost_of(graph, origin).bytes_read;
        written += cost_of(graph, origin).bytes_written;
      }
      RC_ASSERT(cost.bytes_read <= read);
      RC_ASSERT(cost.bytes_written <= written);
      // One kernel has one result, and what vanished was written once and read once.
      if (origins[i].size() > 1) {
        RC_ASSERT(result.graph.ops[i].outputs.size() == 1U);
        const Bytes square = 4 * 4 * 4;
        RC_ASSERT(written - cost.bytes_written == square * static_cast<Bytes>(origins[i].size() - 1));
      }
    }
  }));
}

TEST(MergingLaws, ContractedChainsKeepAllCosts) {
  EXPECT_TRUE(rc::check("contract_chains", [] {
    const Graph graph = random_step();
    const PassResult chains = contract_chains(graph, ChainRule::chain);
    const PassResult parents = contract_chains(graph, ChainRule::single_parent);
    for (const PassResult* result : {&chains, &parents}) {
      check_merged(graph, *result);
      check_traffic_is_kept(graph, *result);
    }
    // Every chain is a set of the other rule; contracted chains leave no edge to contract.
    RC_ASSERT(parents.graph.ops.size() <= chains.graph.ops.size());
    RC_ASSERT(contract_chains(chains.graph, ChainRule::chain).graph.ops.size() == chains.graph.ops.size());
  }));
}

TEST(MergingLaws, CoarseningReachesExactlyTheNumberOfGroups) {
  EXPECT_TRUE(rc::check("coarsen", [] {
    const Graph graph = random_step();
    const std::size_t groups = static_cast<std::size_t>(1 + draw(static_cast<int>(graph.ops.size()) + 3));
    const PassResult result = coarsen(graph, groups);
    check_merged(graph, result);
    check_traffic_is_kept(graph, result);
    RC_ASSERT(result.graph.ops.size() == std::min(groups, graph.ops.size()));
  }));
}

TEST(MergingLaws, LayersAreAcyclicAndAreTheModelsOwnWhereTheyCanBe) {
  EXPECT_TRUE(rc::check("split_into_layers", [] {
    const Graph graph = random_step();
    bool named = false;
    for (const GraphOp& op : graph.ops) named = named || !op.layer.empty();
    const std::size_t layers = named && draw(2) == 0 ? 0 : static_cast<std::size_t>(1 + draw(8));
    const PassResult result = split_into_layers(graph, {.layers = layers});
    check_merged(graph, result);
    check_traffic_is_kept(graph, result);
    if (layers > 0) RC_ASSERT(result.graph.ops.size() <= layers);
    for (std::size_t i = 0; layers == 0 && i < graph.ops.size(); ++i) {
      const GraphOp& now = result.graph.ops[result.became[i].index()];
      RC_ASSERT(now.layer == graph.ops[i].layer);
      RC_ASSERT(now.phase == graph.ops[i].phase);
    }
  }));
}

TEST(MergingLaws, SharingParametersAfterMergingStillCountsTheirBytesOnce) {
  EXPECT_TRUE(rc::check("coarsen, share_parameters", [] {
    const Graph graph = random_step();
    const Graph merged = coarsen(graph, static_cast<std::size_t>(1 + draw(6))).graph;
    const PassResult shared = share_parameters(merged);
    shared.graph.validate();
    Bytes held = 0;
    for (std::size_t i = 0; i < shared.graph.ops.size(); ++i) {
      held += resident_bytes(shared.graph, OpId{i});
      if (shared.graph.ops[i].type == "Variable")
        held += *shared.graph.tensors[shared.graph.ops[i].outputs[0].index()].bytes();
    }
    RC_ASSERT(held == parameter_bytes(graph) + state_bytes(graph));
    // And merging after sharing keeps what Variables hold.
    const PassResult late = coarsen(shared.graph, static_cast<std::size_t>(1 + draw(3)));
    Bytes still = 0;
    for (std::size_t i = 0; i < late.graph.ops.size(); ++i) still += resident_bytes(late.graph, OpId{i});
    for (const GraphOp& op : shared.graph.ops)
      if (op.type == "Variable")
        for (const GraphTensor& tensor : late.graph.tensors)
          if (tensor.name == shared.graph.tensors[op.outputs[0].index()].name) still += *tensor.bytes();
    RC_ASSERT(still == held);
  }));
}

TEST(MergingLaws, CoLocationOnlyJoinsGroupsAndColocRlsRuleCountsOpsWithOtherThanOneSuccessor) {
  EXPECT_TRUE(rc::check("colocate", [] {
    Graph graph = random_step();
    const auto sets_of = [](const Graph& of) {
      std::size_t sets = 0;
      std::set<std::string> names;
      for (const GraphOp& op : of.ops) sets += op.colocate.empty() ? 1 : 0, names.insert(op.colocate);
      names.erase("");
      return sets + names.size();
    };
    using Recursion = ColocateOptions::Recursion;
    std::vector<std::size_t> counts;
    for (const Recursion recursion : {Recursion::none, Recursion::op, Recursion::group}) {
      const PassResult result = colocate(graph, {.recursion = recursion});
      result.graph.validate();
      for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        RC_ASSERT(result.became[i] == OpId{i});
        for (std::size_t j = 0; j < i; ++j)
          if (!graph.ops[i].colocate.empty() && graph.ops[i].colocate == graph.ops[j].colocate)
            RC_ASSERT(result.graph.ops[i].colocate == result.graph.ops[j].colocate);
      }
      counts.push_back(sets_of(result.graph));
      RC_ASSERT(sets_of(colocate(result.graph, {.recursion = Recursion::none}).graph) == counts.back());
    }
    RC_ASSERT(counts[0] >= counts[1]);
    RC_ASSERT(counts[0] >= counts[2]);
    // Rule 2 alone: one group for each op whose count of distinct consumers is not one.
    std::vector<std::set<std::size_t>> consumers(graph.ops.size());
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      graph.ops[i].colocate.clear();
      for (const Operand& input : graph.ops[i].inputs)
        if (input.is_tensor() && !graph.tensors[input.index].producer.is_none())
          consumers[graph.tensors[input.index].producer.index()].insert(i);
      for (const OpId before : graph.ops[i].after) consumers[before.index()].insert(i);
    }
    std::size_t expected = 0;
    for (const auto& set : consumers) expected += set.size() == 1 ? 0 : 1;
    const ColocateOptions rule{.variables = false, .gradients = false, .recursion = Recursion::op};
    RC_ASSERT(sets_of(colocate(graph, rule).graph) == expected);
    // The same for groups goes at least as far, and leaves no group with one successor.
    const ColocateOptions repeated{.variables = false, .gradients = false, .recursion = Recursion::group};
    const PassResult groups = colocate(graph, repeated);
    RC_ASSERT(sets_of(groups.graph) <= expected);
    const auto name = [&](std::size_t op) {
      const GraphOp& of = groups.graph.ops[op];
      return of.colocate.empty() ? "op " + of.name : of.colocate;
    };
    std::map<std::string, std::set<std::string>> successors;
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
      for (const std::size_t consumer : consumers[i])
        if (name(i) != name(consumer)) successors[name(i)].insert(name(consumer));
    for (const auto& [group, after] : successors) RC_ASSERT(after.size() > 1U);
  }));
}

}  // namespace
}  // namespace emplace::merging_property_test
