// The latency of one sample by `tarnawski-latency`: the toys of docs/papers/tarnawski.md, section 7 item 7, and
// published values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "simulate/published/published.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/partitioning.hpp"

namespace emplace::simulate::pipeline_latency_test {
namespace {

using test::chain_of;
using test::Partitioning;
using test::PartitionNode;

Outcome latency(const Problem& problem, const std::vector<std::uint8_t>& device) {
  return choose_simulator("tarnawski-latency").make(problem)->evaluate({device, {}});
}
double in_ms(const Outcome& outcome) { return static_cast<double>(outcome.makespan) / 1e9; }

// Accelerators acc:0 and acc:1, CPU 2; CPU 10 ms, accelerator 1 ms, c = 2 ms.
Partitioning with_cpu(Partitioning toy) {
  for (PartitionNode& node : toy.nodes) node.cpu = 10, node.cost = 2;
  toy.accelerators = 2;
  toy.cpus = 1;
  return toy;
}

TEST(TarnawskiLatency, OfAChainOfThree) {
  const Problem chain = with_cpu(chain_of({1, 1, 1})).problem();
  EXPECT_EQ(in_ms(latency(chain, {2, 2, 2})), 30);
  EXPECT_EQ(in_ms(latency(chain, {2, 0, 2})), 25);  // 10 + (2 + 1 + 2) + 10
  EXPECT_EQ(in_ms(latency(chain, {0, 0, 0})), 3);
  EXPECT_EQ(in_ms(latency(chain, {0, 0, 1})), 7);   // (2 + 2) + (2 + 1)
  EXPECT_EQ(in_ms(latency(chain, {0, 2, 0})), 16);  // two pieces: (1 + 2) + 10 + (2 + 1)
}

TEST(TarnawskiLatency, OfADiamond) {
  Partitioning diamond = with_cpu(chain_of({1, 1, 1, 1}));
  diamond.nodes[2].cpu = 20;
  diamond.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
  const Problem problem = diamond.problem();
  EXPECT_EQ(in_ms(latency(problem, {2, 2, 2, 2})), 40);  // 10 + 20 + 10, for CPU nodes never queue
  EXPECT_EQ(in_ms(latency(problem, {2, 2, 0, 2})), 30);  // 10 + max(10, 2 + 1 + 2) + 10
  EXPECT_EQ(in_ms(latency(problem, {2, 0, 0, 2})), 28);  // 10 + (2 + 2 + 2 x 2) + 10: both outputs, one input
}

TEST(TarnawskiLatency, AcceleratorsThatWaitForEachOtherHaveNone) {
  // a1 -> b1 and b2 -> a2: no path leaves a device and returns, and yet each waits for the other.
  Partitioning toy = with_cpu(chain_of({1, 1, 1, 1}));
  toy.edges = {{0, 1}, {2, 3}};
  const Outcome outcome = latency(toy.problem(), {0, 1, 1, 0});
  EXPECT_EQ(outcome.why, Infeasible::circular_wait);
  EXPECT_FALSE(outcome.timed());
  EXPECT_EQ(reason_text(toy.problem(), outcome, {0, 1, 1, 0}, {}),
            "device 'acc:0' and another wait for each other's results");
}

TEST(TarnawskiLatency, TimesThatExceedTheLimitAreRefused) {
  // 50 consumers, each of which may be a separate piece: 51 x 1e5 s, and three devices x 1e5 s for the builder.
  Partitioning fork = with_cpu(chain_of(std::vector<double>(51, 1)));
  fork.edges.clear();
  for (int i = 1; i < 51; ++i) fork.edges.emplace_back(0, i);
  fork.nodes[0].cost = 1e8;
  const Problem problem = fork.problem();
  EXPECT_THROW(choose_simulator("tarnawski-latency").make(problem), InputError);
}

TEST(TarnawskiThroughput, IsTheObjectivePipeline) {
  Partitioning chain = chain_of({4, 6, 4});
  chain.accelerators = 2;
  const Problem problem = chain.problem();
  const auto load = [&](const char* name) {
    return in_ms(choose_simulator(name).make(problem)->evaluate({{0, 1, 0}, {}}));
  };
  EXPECT_EQ(load("tarnawski-throughput"), 10);
  EXPECT_EQ(load("tarnawski-throughput?overlap=true"), 8);
}

TEST(PublishedLatencies, OfExpertSplits) {
  const std::string folder = test::outside_file("workloads/dnn-partitioning/");
  REQUIRE_OUTSIDE_FILE(folder);
  const auto of = [&](const std::string& name, int accelerators) {
    const std::string file = folder + "latency-inputs/LayerGraphs/" + name + ".json";
    const std::string split = folder + "human-experts/" + name + "_expert.json";
    std::string text = read_file(file);
    const std::size_t at = text.find("\"maxFPGAs\": ") + 12;
    text.replace(at, text.find(',', at) - at, std::to_string(accelerators));
    const Problem problem = formats::read_problem_text(text, file);
    return latency(problem, formats::read_expert_split(read_file(split), split, problem).device);
  };
  // Each breaks a limit of its instance: BERT-24's uses 6 of 5 accelerators, ResNet-50's exceeds the memory.
  EXPECT_NEAR(in_ms(of("bert24_inference", 6)), 111.93725, 1e-5);
  EXPECT_NEAR(in_ms(of("resnet50_inference", 14)), 1014.9265625, 1e-5);
  EXPECT_EQ(of("resnet50_inference", 14).why, Infeasible::memory);
}

}  // namespace
}  // namespace emplace::simulate::pipeline_latency_test
