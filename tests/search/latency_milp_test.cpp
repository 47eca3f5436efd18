// The latency of one sample: the greedy baseline and the integer program of docs/papers/tarnawski.md, section 2.7,
// against published values, hand-worked toys and brute force.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "search/latency/latency_program.hpp"
#include "simulate/published/published.hpp"
#include "tests/search/place_steps.hpp"
#include "tests/search/random_split.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/partitioning.hpp"

namespace emplace::search::latency_milp_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PlacerResult place_latency(const std::string& method, const Problem& problem,
                           const std::vector<std::pair<std::string, std::string>>& options = {}) {
  ConfigTable table("command line");
  for (const auto& [name, value] : options) table.set(name, ConfigTable::parse_value(value, "command line"));
  return place(method, problem, Schedule::fifo, 1'000'000'000, nullptr, 1, table);
}

Outcome latency(const Problem& problem, const std::vector<std::uint8_t>& devices) {
  return simulate::choose_simulator("tarnawski-latency").make(problem)->evaluate({devices, {}});
}
double latency_ms(const Problem& problem, const PlacerResult& result) {
  return static_cast<double>(latency(problem, result.placement.device).makespan) / 1e9;
}

// The largest number of pieces into which the simulator cuts the ops of an accelerator: one more than the largest
// number of times that a path leaves the accelerator and enters it again.
std::uint32_t most_pieces(const Problem& problem, const std::vector<std::uint8_t>& devices) {
  std::uint32_t most = 0;
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    if (problem.devices[d].kind == "cpu") continue;
    std::vector<std::uint32_t> entered(problem.op_count(), 0);
    for (const std::uint32_t op : problem.topological) {
      if (devices[op] == d) entered[op] = 1;
      for (const std::uint32_t tensor : problem.inputs[op]) {
        const std::size_t from = problem.producer[tensor].index();
        entered[op] = std::max(entered[op], entered[from] + (devices[op] == d && devices[from] != d ? 1 : 0));
      }
      if (devices[op] == d) most = std::max(most, entered[op]);
    }
  }
  return most;
}

// The least latency of all feasible placements with at most that many pieces.
std::optional<Ticks> least_latency(const Problem& problem, std::uint32_t pieces) {
  const auto engine = simulate::choose_simulator("tarnawski-latency").make(problem);
  std::optional<Ticks> least;
  Placement placement{std::vector<std::uint8_t>(problem.op_count(), 0), {}};
  while (true) {
    const Outcome outcome = engine->evaluate(placement);
    if (outcome.feasible() && (!least || outcome.makespan < *least) && most_pieces(problem, placement.device) <= pieces)
      least = outcome.makespan;
    std::size_t op = 0;
    while (op < problem.op_count() && ++placement.device[op] == problem.device_count()) placement.device[op++] = 0;
    if (op == problem.op_count()) return least;
  }
}

// Up to the program's resolution, and the ticks of ops and transfers that take no time.
Ticks tolerance(const Problem& problem, Ticks ticks) {
  return ticks / 1'000'000 + static_cast<Ticks>(4 * (problem.op_count() + problem.tensor_count()));
}

// Accelerators with 1 ms for each op, a CPU with 10 ms, and c = 2 ms.
Partitioning with_cpu(Partitioning toy) {
  for (PartitionNode& node : toy.nodes) node.cpu = 10, node.cost = 2;
  toy.accelerators = 2;
  toy.cpus = 1;
  return toy;
}

TEST(GreedyLatency, FillsOneAcceleratorAfterTheOther) {
  Partitioning chain = with_cpu(chain_of({1, 1, 1, 1, 1}));
  for (PartitionNode& node : chain.nodes) node.size = 4;
  chain.memory = 8;
  // Two nodes fit on each accelerator, and the CPU has the last: (1 + 1 + 2) + (2 + 1 + 1 + 2) + 10.
  const PlacerResult result = place_latency("greedy-latency", chain.problem());
  EXPECT_THAT(result.placement.device, ElementsAre(0, 0, 1, 1, 2));
  EXPECT_EQ(result.note, "one sample takes 20 ms in the model of tarnawski-latency");
}

TEST(GreedyLatency, LeavesAnAcceleratorForGoodOnceABlockDoesNotFit) {
  Partitioning chain = with_cpu(chain_of({1, 1, 1, 1}));
  const Bytes sizes[] = {3, 9, 3, 3};
  for (std::size_t i = 0; i < 4; ++i) chain.nodes[i].size = sizes[i];
  chain.memory = 8;
  EXPECT_THAT(place_latency("greedy-latency", chain.problem()).placement.device, ElementsAre(0, 2, 1, 1));
}

TEST(GreedyLatency, KeepsStronglyConnectedClassesTogether) {
  // The class {0, 2} around node 1 is one block with it, of 9 bytes; node 3 follows.
  Partitioning chain = with_cpu(chain_of({1, 1, 1, 1}));
  chain.nodes[0].color = chain.nodes[2].color = 7;
  for (PartitionNode& node : chain.nodes) node.size = 3;
  chain.memory = 8;
  EXPECT_THAT(place_latency("greedy-latency", chain.problem()).placement.device, ElementsAre(2, 2, 2, 0));
  chain.memory = 9;
  EXPECT_THAT(place_latency("greedy-latency", chain.problem()).placement.device, ElementsAre(0, 0, 0, 1));
}

Problem latency_instance(const std::string& name) {
  const std::string file = outside_file("workloads/dnn-partitioning/latency-inputs/" + name + ".json");
  return formats::read_problem_text(read_file(file), file);
}

TEST(PublishedLatencies, OfTheGreedyBaselineForEveryOrder) {
  REQUIRE_OUTSIDE_FILE(outside_file("workloads/dnn-partitioning/"));
  const Problem bert24 = latency_instance("LayerGraphs/bert24_inference");
  EXPECT_NEAR(latency_ms(bert24, place_latency("greedy-latency", bert24)), 100.2185, 1e-5);
  const Problem bert12 = latency_instance("OperatorGraphs/bert_l-12_inference");
  EXPECT_NEAR(latency_ms(bert12, place_latency("greedy-latency", bert12)), 867.83947, 1e-5);
}

TEST(MilpLatency, FindsTheLeastLatencyOfAChain) {
  Partitioning chain = with_cpu(chain_of({1, 1, 1}));
  EXPECT_EQ(latency_ms(chain.problem(), place_latency("milp-latency", chain.problem())), 3);
  // Of 5 + 4 + 5 bytes, an accelerator holds 9.
  const Bytes sizes[] = {5, 4, 5};
  for (std::size_t i = 0; i < 3; ++i) chain.nodes[i].size = sizes[i];
  chain.memory = 9;
  const PlacerResult two = place_latency("milp-latency", chain.problem());
  EXPECT_EQ(latency_ms(chain.problem(), two), 7);  // {1, 2} and {3}: (2 + 2) + (2 + 1)
  EXPECT_THAT(two.note, HasSubstr("one sample takes 7 ms in the model of tarnawski-latency; no split with at most 1"));
  EXPECT_THAT(two.note, HasSubstr("takes less"));
}

TEST(MilpLatency, UsesSeveralSubgraphsOfAnAcceleratorIfItMay) {
  // Node 2 runs on the CPU, for it takes 100 ms elsewhere. With one accelerator and one subgraph: (1 + 2) + 10 + 10 or
  // 10 + 10 + (2 + 1) = 23; with two: (1 + 2) + 10 + (2 + 1) = 16.
  Partitioning chain = with_cpu(chain_of({1, 100, 1}));
  chain.accelerators = 1;
  const Problem problem = chain.problem();
  EXPECT_EQ(latency_ms(problem, place_latency("milp-latency", problem)), 23);
  EXPECT_EQ(latency_ms(problem, place_latency("milp-latency", problem, {{"subgraphs", "2"}})), 16);
}

TEST(MilpLatency, IsTheBestOfAllSplitsByBruteForce) {
  EXPECT_TRUE(rc::check("brute force", [] {
    const RandomSplit random = *random_split(6);
    const Problem problem = random.problem.problem();
    const auto least = least_latency(problem, 1);
    const PlacerResult result = place_latency("milp-latency", problem);
    const Outcome found = latency(problem, result.placement.device);
    if (!least) {
      RC_ASSERT(!found.feasible() || most_pieces(problem, result.placement.device) > 1);
      return;
    }
    RC_ASSERT(found.feasible());
    // The start may need more pieces, and be better.
    RC_ASSERT(found.makespan <= *least + tolerance(problem, *least));
    if (most_pieces(problem, result.placement.device) <= 1) RC_ASSERT(found.makespan >= *least);
    RC_ASSERT(result.note.find("takes less") != std::string::npos);
  }));
}

// The program may cut a device's ops in a better way than the simulator, never in a worse one.
TEST(LatencyProgram, BoundsAllSplitsWithThatManySubgraphs) {
  EXPECT_TRUE(rc::check("bound", [] {
    const RandomSplit random = *random_split(5);
    const Problem problem = random.problem.problem();
    const auto pieces = *rc::gen::inRange<std::uint32_t>(1, 4);
    const auto least = least_latency(problem, pieces);
    RC_PRE(least.has_value());
    const Ticks latest = *least + tolerance(problem, *least) * 2 + 1'000'000;
    const LatencyProgram program(problem, pieces, latest);
    const IntegerAnswer answer = minimise(program.program(), {});
    RC_ASSERT(answer.finished);
    RC_ASSERT(!answer.solution.empty());
    const double found = program.ticks_of(answer.objective);
    RC_ASSERT(found <= static_cast<double>(*least + tolerance(problem, *least)));
    if (pieces == 1) RC_ASSERT(found >= static_cast<double>(*least - tolerance(problem, *least)));
  }));
}

TEST(MilpLatency, IsNeverWorseThanTheGreedySplit) {
  EXPECT_TRUE(rc::check("law", [] {
    const Problem problem = (*random_split(14)).problem.problem();
    const Outcome greedy = latency(problem, place_latency("greedy-latency", problem).placement.device);
    RC_PRE(greedy.feasible());
    const PlacerResult result = place_latency("milp-latency", problem, {{"nodes", *rc::gen::element("0", "5")}});
    const Outcome outcome = latency(problem, result.placement.device);
    RC_ASSERT(outcome.feasible());
    RC_ASSERT(outcome.makespan <= greedy.makespan);
  }));
}

// A tree of nodes that do not fit on five accelerators.
Problem wide_problem(int nodes) {
  Partitioning wide = with_cpu(chain_of(std::vector<double>(static_cast<std::size_t>(nodes), 1)));
  wide.edges.clear();
  for (int v = 1; v < nodes; ++v) wide.edges.emplace_back((v * 7 + 3) % v, v);
  for (int v = 0; v < nodes; ++v) wide.nodes[static_cast<std::size_t>(v)].size = 1 + v * 37 % 41;
  wide.memory = 3 * nodes;
  wide.accelerators = 5;
  return wide.problem();
}

TEST(LatencyProgram, IsNotCalledInfeasibleIfTheTimeEndsInTheFirstLinearProgram) {
  const Problem problem = wide_problem(300);
  const std::vector<std::uint8_t> on_the_cpu(problem.op_count(), 5);
  const LatencyProgram program(problem, 1, latency(problem, on_the_cpu).makespan + 1'000'000'000);
  for (const double seconds : {0.001, 0.1, 0.5, 1.0, 2.0}) {
    const IntegerAnswer answer = minimise(program.program(), {.seconds = seconds});
    EXPECT_FALSE(answer.finished && answer.solution.empty()) << seconds;
  }
}

TEST(MilpLatency, StopsWithTheTimeAndSaysWhatIsCertain) {
  const Problem wide = wide_problem(60);
  const PlacerResult result = place_latency("milp-latency", wide, {{"seconds", "0.5"}});
  EXPECT_TRUE(latency(wide, result.placement.device).feasible());
  EXPECT_THAT(result.note, HasSubstr("the solver ended early: no split with at most 1 contiguous subgraph on each"));
}

TEST(MilpLatency, RefusesProgramsBeyondItsReach) {
  Partitioning chain = chain_of(std::vector<double>(3000, 1));
  chain.accelerators = 200;
  EXPECT_THROW(place_latency("milp-latency", chain.problem()), InputError);
}

TEST(MilpLatency, RefusesBadOptions) {
  const Problem problem = chain_of({1, 2}).problem();
  EXPECT_THROW(place_latency("milp-latency", problem, {{"subgraphs", "0"}}), InputError);
  EXPECT_THROW(place_latency("milp-latency", problem, {{"seconds", "0"}}), InputError);
}

}  // namespace
}  // namespace emplace::search::latency_milp_test
