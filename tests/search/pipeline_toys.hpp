// The toys of docs/papers/tarnawski.md, section 7 item 2 with their least loads, and brute force.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simulate/pipeline/pipeline.hpp"
#include "tests/support/partitioning.hpp"

namespace emplace::test {

struct PipelineToy {
  std::string name;
  Partitioning problem;
  std::optional<double> contiguous, free;  // ms; empty: no feasible placement
  simulate::PipelineOptions count = {};
};

inline std::vector<PipelineToy> pipeline_toys() {
  std::vector<PipelineToy> toys;
  const auto add = [&](std::string name, Partitioning toy, std::size_t k, std::optional<double> contiguous,
                       std::optional<double> free, simulate::PipelineOptions count = {}) {
    toy.accelerators = k;
    toys.push_back({name + ", k=" + std::to_string(k), std::move(toy), contiguous, free, count});
  };
  const double threes[] = {12, 7, 7, 5};
  for (std::size_t k = 1; k <= 4; ++k) add("chain 3 3 3 3", chain_of({3, 3, 3, 3}), k, threes[k - 1], threes[k - 1]);
  add("chain 4 6 4", chain_of({4, 6, 4}), 1, 14, 14);
  add("chain 4 6 4", chain_of({4, 6, 4}), 2, 11, 10);
  add("chain 4 6 4", chain_of({4, 6, 4}), 3, 8, 8);
  Partitioning around = chain_of({4, 6, 4});
  around.nodes[0].color = around.nodes[2].color = 7;
  add("class around a node", around, 2, 14, 10);
  Partitioning fork;
  fork.nodes.assign(3, {.accelerator = 10, .cpu = 10, .cost = 5});
  fork.edges = {{0, 1}, {0, 2}};
  const double forks[] = {30, 25, 15};
  for (std::size_t k = 1; k <= 3; ++k) add("two consumers", fork, k, forks[k - 1], forks[k - 1]);
  Partitioning pair = chain_of({3, 3});
  for (PartitionNode& node : pair.nodes) node.cpu = 30, node.size = 6;
  pair.memory = 10;
  add("memory", pair, 2, 4, 4);
  add("memory without a CPU", pair, 1, std::nullopt, std::nullopt);
  pair.cpus = 1;
  add("memory with a CPU", pair, 1, 30, 30);
  Partitioning training;
  training.nodes = {{.accelerator = 2, .color = 1},
                    {.accelerator = 2, .color = 2},
                    {.accelerator = 4, .color = 2, .backward = true},
                    {.accelerator = 4, .color = 1, .backward = true}};
  training.edges = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  add("training", training, 1, 12, 12);
  add("training", training, 2, 8, 8);
  add("training in phases", training, 1, 12, 12, {.separate_phases = true});
  add("training in phases", training, 2, 8, 8, {.separate_phases = true});  // 3 + 5
  return toys;
}

// The least outcome over all feasible placements that `wanted` accepts.
inline std::optional<Ticks> brute_force(const Problem& problem, const simulate::PipelineOptions& count,
                                        const std::function<bool(const std::vector<std::uint8_t>&)>& wanted) {
  const auto engine = simulate::make_pipeline_engine(problem, count);
  std::optional<Ticks> least;
  Placement placement{std::vector<std::uint8_t>(problem.op_count(), 0), {}};
  while (true) {
    const Outcome outcome = engine->evaluate(placement);
    if (outcome.feasible() && (!least || outcome.makespan < *least) && wanted(placement.device))
      least = outcome.makespan;
    std::size_t op = 0;
    while (op < problem.op_count() && ++placement.device[op] == problem.device_count()) placement.device[op++] = 0;
    if (op == problem.op_count()) return least;
  }
}

}  // namespace emplace::test
