// The toys of docs/papers/tarnawski.md, section 7 item 2: the least load over all placements, contiguous and free, by
// brute force.
#include <gtest/gtest.h>

#include <optional>

#include "simulate/pipeline/pipeline.hpp"
#include "tests/support/partitioning.hpp"

namespace emplace::simulate::pipeline_toys_test {
namespace {

using test::chain_of;
using test::Partitioning;
using test::PartitionNode;

struct Least {
  std::optional<double> contiguous, free;  // ms; nothing: no feasible placement
};

Least least_loads(const Partitioning& toy, const PipelineOptions& options = {}) {
  const Problem problem = toy.problem();
  const auto engine = make_pipeline_engine(problem, options);
  Least least;
  const auto keep = [](std::optional<double>& best, double value) { best = std::min(best.value_or(value), value); };
  Placement placement{std::vector<std::uint8_t>(problem.op_count(), 0), {}};
  while (true) {
    const Outcome outcome = engine->evaluate(placement);
    if (outcome.feasible()) {
      const double load = static_cast<double>(outcome.makespan) / 1e9;
      keep(least.free, load);
      if (devices_form_a_sequence(problem, placement.device)) {
        EXPECT_EQ(non_contiguous_device(problem, placement.device), std::nullopt);
        keep(least.contiguous, load);
      }
    }
    std::size_t op = 0;
    while (op < problem.op_count() && ++placement.device[op] == problem.device_count()) placement.device[op++] = 0;
    if (op == problem.op_count()) return least;
  }
}

Least with_accelerators(Partitioning toy, std::size_t count) {
  toy.accelerators = count;
  return least_loads(toy);
}

TEST(PipelineToy, ChainOfThrees) {
  // k=2: two each, one transfer; k=3: an end with two nodes and one transfer; k=4: a middle node with two transfers.
  const double expected[] = {12, 7, 7, 5};
  for (std::size_t k = 1; k <= 4; ++k) {
    const Least least = with_accelerators(chain_of({3, 3, 3, 3}), k);
    EXPECT_EQ(least.contiguous, expected[k - 1]) << k;
    EXPECT_EQ(least.free, expected[k - 1]) << k;
  }
}

TEST(PipelineToy, ChainFourSixFour) {
  const Partitioning chain = chain_of({4, 6, 4});
  EXPECT_EQ(with_accelerators(chain, 1).free, 14);
  // {1, 2} and {3}: 4 + 6 + 1. {1, 3} and {2}: 4 + 4 + out 1 + in 1.
  EXPECT_EQ(with_accelerators(chain, 2).contiguous, 11);
  EXPECT_EQ(with_accelerators(chain, 2).free, 10);
  EXPECT_EQ(with_accelerators(chain, 3).contiguous, 8);
  EXPECT_EQ(with_accelerators(chain, 3).free, 8);
}

TEST(PipelineToy, AClassAroundANodeIsContiguousOnlyWithThatNode) {
  Partitioning chain = chain_of({4, 6, 4});
  chain.nodes[0].color = chain.nodes[2].color = 7;
  EXPECT_EQ(with_accelerators(chain, 2).contiguous, 14);
  EXPECT_EQ(with_accelerators(chain, 2).free, 10);
}

TEST(PipelineToy, AProducerPaysOnceForTwoConsumers) {
  Partitioning fork;
  for (int i = 0; i < 3; ++i) fork.nodes.push_back({.accelerator = 10, .cpu = 10, .cost = 5});
  fork.edges = {{0, 1}, {0, 2}};
  // k=2: {0, 1}: 20 + 5; {2}: 10 + 5. k=3: 10 + 5 everywhere.
  const double expected[] = {30, 25, 15};
  for (std::size_t k = 1; k <= 3; ++k) {
    EXPECT_EQ(with_accelerators(fork, k).contiguous, expected[k - 1]) << k;
    EXPECT_EQ(with_accelerators(fork, k).free, expected[k - 1]) << k;
  }
}

TEST(PipelineToy, MemorySendsANodeToTheCpu) {
  Partitioning pair = chain_of({3, 3});
  for (PartitionNode& node : pair.nodes) node.cpu = 30, node.size = 6;
  pair.memory = 10;
  pair.cpus = 1;
  EXPECT_EQ(with_accelerators(pair, 1).free, 30);  // the CPU pays no communication
  pair.cpus = 0;
  EXPECT_EQ(with_accelerators(pair, 2).free, 4);
  EXPECT_EQ(with_accelerators(pair, 1).free, std::nullopt);
}

// f1 -> f2 -> b2 -> b1 and f1 -> b1; forward 2, backward 4; classes {f1, b1} and {f2, b2}.
Partitioning training() {
  Partitioning toy;
  toy.nodes = {{.accelerator = 2, .color = 1},
               {.accelerator = 2, .color = 2},
               {.accelerator = 4, .color = 2, .backward = true},
               {.accelerator = 4, .color = 1, .backward = true}};
  toy.edges = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  return toy;
}

TEST(PipelineToy, TrainingCountsBothPhases) {
  EXPECT_EQ(with_accelerators(training(), 1).contiguous, 12);
  // Device 1: 2 + 4 + out f1 + in b2; device 2: 2 + 4 + in f1 + out b2.
  EXPECT_EQ(with_accelerators(training(), 2).contiguous, 8);
  EXPECT_EQ(with_accelerators(training(), 2).free, 8);
}

TEST(PipelineToy, SeparatePhasesAddTheLargestForwardAndTheLargestBackward) {
  Partitioning toy = training();
  toy.accelerators = 2;
  EXPECT_EQ(least_loads(toy, {.separate_phases = true}).free, 3 + 5);
  // On one device 4 + 8; the split 1 + 2 and 3 + 4 by phases would break the classes.
  toy.accelerators = 1;
  EXPECT_EQ(least_loads(toy, {.separate_phases = true}).free, 4 + 8);
}

TEST(PipelineToy, SeparatePhasesCostMoreWhereTheyFallOnDifferentDevices) {
  // No classes: forward 2 + 2 on one device, backward 4 + 4 on another. f1 and f2 are sent, b2's inputs are forward's.
  Partitioning toy = training();
  toy.accelerators = 2;
  for (PartitionNode& node : toy.nodes) node.color = -1;
  const Problem problem = toy.problem();
  const Placement placement{{0, 0, 1, 1}, {}};
  // Device 0: 4 + 2; device 1: 8 + 2, of which the transfers are forward's.
  EXPECT_EQ(make_pipeline_engine(problem)->evaluate(placement).makespan, 10'000'000'000);
  EXPECT_EQ(make_pipeline_engine(problem, {.separate_phases = true})->evaluate(placement).makespan, 14'000'000'000);
}

TEST(PipelineToy, OverlapTakesTheLargerOfComputeAndTransfer) {
  Partitioning chain = chain_of({4, 6, 4});
  chain.nodes[0].cost = chain.nodes[1].cost = 5;
  chain.accelerators = 3;
  const Problem problem = chain.problem();
  const Placement placement{{0, 1, 2}, {}};
  EXPECT_EQ(make_pipeline_engine(problem)->evaluate(placement).makespan, 16'000'000'000);                     // 6 + 10
  EXPECT_EQ(make_pipeline_engine(problem, {.overlap = true})->evaluate(placement).makespan, 10'000'000'000);  // 5 + 5
}

}  // namespace
}  // namespace emplace::simulate::pipeline_toys_test
