// The PipeDream-like baseline and the local search of docs/papers/tarnawski.md, section 2.8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "search/pipeline/split_classes.hpp"
#include "tests/search/pipeline_table.hpp"
#include "tests/search/pipeline_toys.hpp"
#include "tests/search/random_split.hpp"

namespace emplace::search::pipeline_baselines_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

// Nodes of 1 ms with c = 1, on two accelerators.
Partitioning graph_of(std::size_t nodes, std::vector<std::pair<int, int>> edges) {
  Partitioning graph = chain_of(std::vector<double>(nodes, 1));
  graph.edges = std::move(edges);
  graph.accelerators = 2;
  return graph;
}

TEST(BlockClasses, MergeTheTailsOfBranchesThatMeetAgain) {
  // 0 -> {1, 2} -> 3 is one biconnected component with the tails 0, 1 and 2; 3 -> 4 is another with the tail 3.
  const Problem problem = graph_of(5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}).problem();
  EXPECT_THAT(block_classes(problem, {}, false).of_op, ElementsAre(0, 0, 0, 1, 2));
}

TEST(BlockClasses, OfAChainAreItsOps) {
  EXPECT_THAT(block_classes(graph_of(4, {{0, 1}, {1, 2}, {2, 3}}).problem(), {}, false).of_op, ElementsAre(0, 1, 2, 3));
}

TEST(BlockClasses, IgnoreAnInputThatEveryOpReads) {
  // 1 -> 2 -> 3 and edges from 0 to all of them: one component with the tails 0, 1, 2, or a chain beside 0.
  Partitioning graph = graph_of(4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 3}});
  for (PartitionNode& node : graph.nodes) node.accelerator = 3;
  const Problem problem = graph.problem();
  EXPECT_THAT(block_classes(problem, {}, false).of_op, ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(block_classes(problem, {OpId{std::size_t{0}}}, false).of_op, ElementsAre(0, 1, 2, 3));
  // {0, 1, 2} and {3}: 9 + 2; {0, 1} and {2, 3}: 6 + 2.
  EXPECT_NEAR(load_ms(place_pipeline("pipedream-like", problem)), 11, 1e-8);
  EXPECT_NEAR(load_ms(place_pipeline("pipedream-like", problem, {{"ignore", "[\"0\"]"}})), 8, 1e-8);
  EXPECT_THROW(place_pipeline("pipedream-like", problem, {{"ignore", "[\"4\"]"}}), InputError);
}

TEST(BlockClasses, TakeBackwardOpsWithTheirForwardOps) {
  // f0 -> f1 -> b1 -> b0 and f0 -> b0 is a cycle through all four super-nodes, of which b0 alone is no tail.
  Partitioning training = graph_of(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  training.nodes[0].color = training.nodes[3].color = 1;
  training.nodes[1].color = training.nodes[2].color = 2;
  training.nodes[2].backward = training.nodes[3].backward = true;
  EXPECT_THAT(block_classes(training.problem(), {}, false).of_op, ElementsAre(0, 0, 0, 0));
  // Without the edge f0 -> b0 it is a chain.
  training.edges.pop_back();
  EXPECT_THAT(block_classes(training.problem(), {}, false).of_op, ElementsAre(0, 1, 1, 0));
}

TEST(PipedreamLike, CutsOnlyBetweenBlocks) {
  // The block {0, 1, 2} takes 3 ms and sends its two outputs, 3 + 2; {3, 4} takes 2 + 2. A cut inside the block is
  // better: {0, 1} and {2, 3, 4} take 2 + 2 (outputs of 0 and 1) and 3 + 2.
  const Problem problem = graph_of(5, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}}).problem();
  const PlacerResult result = place_pipeline("pipedream-like", problem);
  EXPECT_TRUE(result.outcome.feasible());
  // {0, 1, 2, 3} and {4}: 4 + 1 and 1 + 1; {0, 1, 2} and {3, 4}: 3 + 2 and 2 + 2; everything on one: 5.
  EXPECT_NEAR(load_ms(result), 5, 1e-8);
  EXPECT_EQ(std::set<std::uint8_t>(result.placement.device.begin(), result.placement.device.begin() + 3).size(), 1U);
}

TEST(PipedreamLike, IsDplOnAChain) {
  Partitioning chain = chain_of({4, 6, 4, 3, 5, 2});
  chain.accelerators = 3;
  const Problem problem = chain.problem();
  EXPECT_EQ(place_pipeline("pipedream-like", problem).outcome.makespan,
            place_pipeline("dpl", problem).outcome.makespan);
}

TEST(PipedreamLike, IsASequenceOfPiecesAndNeverBelowTheDynamicProgram) {
  EXPECT_TRUE(rc::check("law", [] {
    const RandomSplit random = *random_split();
    const Problem problem = random.problem.problem();
    const PlacerResult found = place_pipeline("pipedream-like", problem, {}, random.count);
    if (!found.note.empty()) return;  // everything on the best device: the blocks are too large for the others
    RC_ASSERT(found.outcome.feasible());
    RC_ASSERT(simulate::devices_form_a_sequence(problem, found.placement.device));
    // Classes that are merged because they are idle may cost a tick per op.
    const Ticks least = place_pipeline("dp", problem, {}, random.count).outcome.makespan;
    RC_ASSERT(found.outcome.makespan + static_cast<Ticks>(problem.op_count()) >= least);
  }));
}

TEST(SteepestDescent, FindsTheLeastLoadOfSmallToys) {
  Partitioning chain = chain_of({4, 6, 4});
  chain.accelerators = 2;
  EXPECT_NEAR(load_ms(place_pipeline("steepest-descent", chain.problem())), 10, 1e-8);  // {1, 3} and {2}: 8 + 2
  chain.accelerators = 3;
  EXPECT_NEAR(load_ms(place_pipeline("steepest-descent", chain.problem())), 8, 1e-8);
}

TEST(SteepestDescent, IgnoresMemoryAndTheCpu) {
  // 3 + 3 on one accelerator, although only one of the two ops fits. The CPU would take 1.
  Partitioning pair = chain_of({3, 3});
  for (PartitionNode& node : pair.nodes) node.cpu = 0.5, node.size = 6;
  pair.memory = 10;
  pair.cpus = 1;
  const PlacerResult result = place_pipeline("steepest-descent", pair.problem());
  EXPECT_EQ(result.outcome.why, Infeasible::memory);
  EXPECT_NEAR(load_ms(result), 6, 1e-8);
}

TEST(SteepestDescent, IsNeverWorseWithMoreRestarts) {
  EXPECT_TRUE(rc::check("law", [] {
    const RandomSplit random = *random_split(12);
    const Problem problem = random.problem.problem();
    std::optional<Ticks> before;
    for (const char* restarts : {"1", "2", "5", "10"}) {
      const PlacerResult result = place_pipeline("steepest-descent", problem, {{"restarts", restarts}}, random.count);
      if (!result.outcome.timed()) return;
      RC_ASSERT(!before || result.outcome.makespan <= *before);
      before = result.outcome.makespan;
    }
  }));
}

TEST(SteepestDescent, EndsWhereNoMoveOfAClassGains) {
  EXPECT_TRUE(rc::check("law", [] {
    RandomSplit random = *random_split(10);
    random.problem.memory = 1000;
    const Problem problem = random.problem.problem();
    const auto engine = simulate::make_pipeline_engine(problem, random.count);
    const PlacerResult result = place_pipeline("steepest-descent", problem, {}, random.count);
    const SplitClasses classes = split_classes(problem, false);
    for (std::uint32_t c = 0; c < classes.count(); ++c)
      for (std::size_t d = 0; d < random.problem.accelerators; ++d) {
        Placement moved = result.placement;
        for (const std::uint32_t op : classes.members[c]) moved.device[op] = static_cast<std::uint8_t>(d);
        RC_ASSERT(engine->evaluate(moved).makespan > result.outcome.makespan - 10'000);
      }
    for (const std::uint8_t device : result.placement.device) RC_ASSERT(device < random.problem.accelerators);
  }));
}

TEST(SteepestDescent, NeedsARestart) {
  EXPECT_THROW(place_pipeline("steepest-descent", chain_of({1, 2}).problem(), {{"restarts", "0"}}), InputError);
}

}  // namespace
}  // namespace emplace::search::pipeline_baselines_test
