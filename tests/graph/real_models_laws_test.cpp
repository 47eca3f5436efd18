// The laws of the passes on model files: a small one of each format, and all of the outside files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "base/files.hpp"
#include "emplace/formats/reader.hpp"
#include "tests/graph/merging_laws.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/small_models.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::real_models_laws_test {
namespace {

const std::string folder = test::outside_file("models/");

bool is_forward(const Graph& graph) {
  return std::all_of(graph.ops.begin(), graph.ops.end(), [](const GraphOp& op) { return op.phase == Phase::forward; });
}

// With true: of the outside files.
class ModelLaws : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) REQUIRE_OUTSIDE_FILE(folder);
  }

  using Check = std::function<void(const Graph& graph)>;
  static void check_file(const std::string& path, const Check& check) {
    SCOPED_TRACE(path);
    check(formats::read_graph(path));
  }
  // Every file as it is.
  static void for_each_file(const Check& check) {
    if (!GetParam()) {
      const test::TemporaryFolder models;
      for (const auto& [name, content] : std::map<std::string, std::string>{{"small.onnx", test::small_network()},
                                                                            {"small.xml", test::small_openvino()},
                                                                            {"small.pbtxt", test::small_graphdef()},
                                                                            {"small.json", test::small_tfjs()}}) {
        write_file(models / name, content);
        check_file(models / name, check);
      }
      return;
    }
    std::size_t files = 0;
    for (const char* part :
         {"onnx-light", "onnx-graph-only", "onnx-with-weights", "openvino-ir", "tf-graphdef", "tfjs"})
      for (const auto& entry : std::filesystem::directory_iterator(folder + part)) {
        ++files;
        check_file(entry.path(), check);
      }
    EXPECT_EQ(files, 28U);
  }
  // Every file as it is, pruned, and as a training step (one file is a training step already).
  static void for_each_graph(const Check& check) {
    for_each_file([&](const Graph& graph) {
      check(graph);
      const Graph pruned = prune(graph).graph;
      check(pruned);
      if (!is_forward(pruned)) return;
      SCOPED_TRACE("training step");
      check(expand_training(pruned, {.optimizer = "adam"}).graph);
    });
  }

  // Merging keeps the traffic unless it fuses.
  static void expect_kept(const Graph& graph, const PassResult& result) {
    EXPECT_EQ(test::broken_law(graph, result), "");
    EXPECT_EQ(statistics(result.graph).bytes, statistics(graph).bytes);
  }
};

INSTANTIATE_TEST_SUITE_P(Small, ModelLaws, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Outside, ModelLaws, ::testing::Values(true));

TEST_P(ModelLaws, PruningKeepsWhatTheRemainingOpsCostAndIsDoneAfterOneRun) {
  for_each_file([](const Graph& graph) {
    const PassResult pruned = prune(graph);
    pruned.graph.validate();
    ASSERT_EQ(pruned.became.size(), graph.ops.size());
    std::vector<std::size_t> origins(pruned.graph.ops.size(), 0);
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
      if (pruned.became[i].is_none()) continue;
      ++origins.at(pruned.became[i].index());
      const OpCost was = cost_of(graph, OpId{i}), now = cost_of(pruned.graph, pruned.became[i]);
      EXPECT_EQ(now.flops, was.flops) << graph.ops[i].name;
      EXPECT_EQ(now.bytes_written, was.bytes_written) << graph.ops[i].name;
      EXPECT_EQ(pruned.graph.ops[pruned.became[i].index()].name, graph.ops[i].name);
    }
    EXPECT_THAT(origins, ::testing::Each(1U));
    EXPECT_EQ(prune(pruned.graph).graph.ops.size(), pruned.graph.ops.size());
  });
}

TEST_P(ModelLaws, TrainingLeavesForwardOpsWhereTheyAreAndUpdatesNoParameterTwice) {
  for_each_file([](const Graph& file) {
    const Graph graph = prune(file).graph;
    if (!is_forward(graph)) return;
    const PassResult step = expand_training(graph, {.optimizer = "adam"});
    step.graph.validate();
    ASSERT_EQ(step.became.size(), graph.ops.size());
    for (std::size_t i = 0; i < graph.ops.size(); ++i) EXPECT_EQ(step.became[i], OpId{i});
    std::set<std::string> updated;
    Bytes held = 0;
    for (std::size_t i = 0; i < step.graph.ops.size(); ++i) {
      const GraphOp& op = step.graph.ops[i];
      EXPECT_EQ(op.phase == Phase::forward, i < graph.ops.size()) << op.name;
      if (op.phase != Phase::update) continue;
      const Operand& target = op.inputs.at(0);
      // A parameter, or what a file's variable gives.
      const GraphOp* variable =
          target.is_tensor() ? &step.graph.ops[step.graph.tensors[target.index].producer.index()] : nullptr;
      const GraphParameter& parameter =
          step.graph.parameters[variable == nullptr ? target.index : variable->inputs.at(0).index];
      EXPECT_TRUE(parameter.trainable) << parameter.name;
      EXPECT_TRUE(updated.insert(parameter.name).second) << parameter.name;
      held += 2 * parameter.bytes().value_or(0);
    }
    EXPECT_FALSE(updated.empty());
    EXPECT_EQ(test::state_bytes(step.graph), held);
  });
}

TEST_P(ModelLaws, SharingParametersHoldsTheirBytesOnce) {
  for_each_graph([](const Graph& graph) {
    const PassResult shared = share_parameters(graph);
    shared.graph.validate();
    Bytes held = 0;
    for (std::size_t i = 0; i < shared.graph.ops.size(); ++i) {
      held += resident_bytes(shared.graph, OpId{i});
      if (const GraphOp& op = shared.graph.ops[i]; op.type == "Variable")
        held += shared.graph.tensors[op.outputs.at(0).index()].bytes().value_or(0);
    }
    for (const GraphParameter& parameter : shared.graph.parameters) EXPECT_LE(parameter.users.size(), 1U);
    // Some files have initializers that no op reads.
    Bytes used = 0;
    for (const GraphParameter& parameter : graph.parameters)
      if (!parameter.users.empty()) used += parameter.bytes().value_or(0);
    EXPECT_EQ(held, used + test::state_bytes(graph));
    for (const OpId now : shared.became) EXPECT_FALSE(now.is_none());
    EXPECT_EQ(statistics(shared.graph).flops, statistics(graph).flops);
  });
}

TEST_P(ModelLaws, FusionKeepsFlopsAndRaisesNoTraffic) {
  for_each_graph([](const Graph& graph) {
    const PassResult fused = fuse(graph);
    EXPECT_EQ(test::broken_law(graph, fused), "");
    EXPECT_LE(statistics(fused.graph).bytes, statistics(graph).bytes);
    EXPECT_EQ(fuse(fused.graph).graph.ops.size(), fused.graph.ops.size());
  });
}

TEST_P(ModelLaws, ContractedChainsKeepAllCosts) {
  for_each_graph([](const Graph& graph) {
    const PassResult chains = contract_chains(graph, ChainRule::chain);
    expect_kept(graph, chains);
    EXPECT_EQ(contract_chains(chains.graph, ChainRule::chain).graph.ops.size(), chains.graph.ops.size());
    expect_kept(graph, contract_chains(graph, ChainRule::single_parent));
  });
}

TEST_P(ModelLaws, CoarseningReachesExactlyTheNumberOfGroups) {
  for_each_graph([](const Graph& graph) {
    for (const std::size_t groups : {1U, 10U, 200U}) {
      const PassResult coarse = coarsen(graph, groups);
      expect_kept(graph, coarse);
      EXPECT_EQ(coarse.graph.ops.size(), std::min(groups, graph.ops.size()));
    }
  });
}

TEST_P(ModelLaws, LayersByDepthAreAcyclicAndAtMostAsManyAsAskedFor) {
  for_each_graph([](const Graph& graph) {
    const PassResult layers = split_into_layers(graph, {.layers = 5});
    expect_kept(graph, layers);
    EXPECT_LE(layers.graph.ops.size(), 5U);
  });
}

TEST_P(ModelLaws, CoLocationKeepsTheGroupsOfTheFile) {
  for_each_graph([](const Graph& graph) {
    using Recursion = ColocateOptions::Recursion;
    for (const Recursion recursion : {Recursion::none, Recursion::op, Recursion::group}) {
      const PassResult bound = colocate(graph, {.recursion = recursion});
      bound.graph.validate();
      std::map<std::string, std::string> group_now;
      for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        ASSERT_EQ(bound.became[i], OpId{i});
        if (graph.ops[i].colocate.empty()) continue;
        const std::string& now = bound.graph.ops[i].colocate;
        EXPECT_FALSE(now.empty()) << graph.ops[i].name;
        EXPECT_EQ(group_now.try_emplace(graph.ops[i].colocate, now).first->second, now);
      }
    }
  });
}

}  // namespace
}  // namespace emplace::real_models_laws_test
