// Does GDP learn, and can it use what it learned on other graphs? docs/papers/gdp.md, sections 7.8 and 7.9, with a
// small network.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "learn/sampling.hpp"
#include "tests/learn/network_training.hpp"

namespace emplace::learn::gdp_test {
namespace {

using namespace test;

const std::string net =
    "hidden = 16\nheads = 2\nfeedforward = 32\ngraph_layers = 2\nplacer_layers = 1\ntype_width = 8\n";
const std::string ppo =
    "samples_per_update = 16\nlearning_rate = 0.003\nentropy_weight = 0.05\nentropy_weight_end = 0\n"
    "entropy_share = 0.5\nchunk = 16\n";

// Gives the ops of the toys different types.
Problem with_types(Problem problem) {
  problem.op_types = problem.op_names;
  return problem;
}

// If two devices are equal, exchanging them in a placement does not change its step time. The embeddings of the paper's
// network are similar for all ops, so it moves all ops together until they are on one device. It does not if the mean
// embedding is subtracted.
TEST(GdpLearning, SolvesTheToys) {
  const std::pair<Problem, Ticks> toys[] = {{chain_5(2), 20}, {chain_5(5), 24}, {fork_join(2), 14}};
  for (const char* more : {"", "superposition = \"graph\"\n", "device_head = \"features\"\n"})
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
      for (const auto& [problem, optimum] : toys) {
        NetworkTraining training(with_types(problem), "gdp", net + more + "centered = true\n", ppo, seed,
                                 GroupingKind::op, "ppo");
        training.run(200, 1);
        EXPECT_EQ(training.greedy_makespan(), optimum * ms) << more << seed;
      }
}

TEST(GdpLearning, NearlySolvesTwoChains) {
  // A placement in which chains change devices half-way costs 1 ms for each cut and is a local optimum. There are up to
  // three cuts; where they are drawn with 1/2 each, the mean is 41.5. Without learning samples take 57 ms in the mean,
  // and 40 ms is among them.
  double sum = 0;
  constexpr int seeds = 10;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    NetworkTraining training(with_types(two_chains(1)), "gdp", net + "centered = true\n",
                             "samples_per_update = 32\nchunk = 32\nlearning_rate = 0.002\nentropy_weight = 0.2\n"
                             "entropy_weight_end = 0\nentropy_share = 0.75\n",
                             seed, GroupingKind::op, "ppo");
    const double mean = training.run(200, 20);
    EXPECT_LE(training.greedy_makespan(), 43 * ms) << seed;
    EXPECT_LT(mean, 43.5) << seed;
    EXPECT_EQ(training.trainer.best().front().outcome.makespan, 40 * ms) << seed;
    sum += mean;
  }
  EXPECT_LT(sum / seeds, 41.3);
}

TEST(GdpLearning, SolvesChainsAsThePaperHasIt) {
  const std::pair<Problem, Ticks> toys[] = {{chain_5(2), 20}, {chain_5(5), 24}};
  for (const auto& [problem, optimum] : toys) {
    NetworkTraining training(with_types(problem), "gdp", net, ppo, 1, GroupingKind::op, "ppo");
    training.run(200, 1);
    EXPECT_EQ(training.greedy_makespan(), optimum * ms);
  }
}

TEST(GdpLearning, SolvesAToyInRoundsThatReadEachOther) {
  NetworkTraining training(with_types(chain_5(2)), "gdp", net + "rounds = 3\nsuperposition = \"graph\"\n", ppo, 1,
                           GroupingKind::op, "ppo");
  training.run(150, 1);
  EXPECT_EQ(training.greedy_makespan(), 20 * ms);
}

// Device 0 must run x and y, device 1 y's consumer z, and y's tensor takes 1 ms. x first: z ends at 10 + 1 + 1 + 7
// = 19. y first: x ends at 11, z at 1 + 1 + 7 = 9. fifo takes x, whose id is smaller, and so does the order by upward
// rank, which is 10 for x and 9 for y.
TEST(GdpLearning, LearnsAnOrderThatNoPlacementAloneReaches) {
  const Problem problem =
      with_types(tiny(plain_devices(2), {{"x", {10, no}}, {"y", {1, no}}, {"z", {no, 7}}}, {{1, 2}}, 1));
  for (const Schedule schedule : {Schedule::fifo, Schedule::priority}) {
    NetworkTraining placed(problem, "gdp", net, ppo, 1, GroupingKind::op, "ppo", schedule);
    placed.run(2, 1);
    EXPECT_EQ(placed.trainer.best().front().outcome.makespan, 19 * ms);
  }
  for (const char* more : {"", "rounds = 2\nsuperposition = \"graph\"\n", "coarse_units = 1\n"})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      NetworkTraining training(problem, "gdp", net + more + "schedule_levels = 4\n", ppo, seed, GroupingKind::op, "ppo",
                               Schedule::priority);
      const double mean = training.run(100, 10);
      EXPECT_EQ(training.greedy_makespan(), 11 * ms) << more << seed;
      EXPECT_LT(mean, 12) << more << seed;
    }
}

// A chain of 10 to 20 ops whose times on two kinds of devices are random.
Problem random_chain(std::uint32_t number) {
  Stream random({.seed = 8, .purpose = Purpose::test, .update = 0, .index = number});
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  const std::size_t count = 10 + random.below(11);
  for (std::size_t i = 0; i < count; ++i) {
    ops.push_back({"op" + std::to_string(i), {1 + 9 * random.uniform(), 1 + 9 * random.uniform()}});
    if (i > 0) edges.push_back({i - 1, i});
  }
  return tiny({{"a", "cpu", no_memory_limit}, {"b", "gpu", no_memory_limit}}, ops, edges, 1);
}

struct Chains {
  Chains(std::uint32_t first, std::uint32_t count, const policy::Policy* parameters, std::uint64_t seed) {
    for (std::uint32_t i = 0; i < count; ++i) problems.push_back(random_chain(first + i));
    std::vector<const Problem*> pointers;
    for (const Problem& problem : problems) {
      list.push_back({&problem, make_grouping(problem, GroupingKind::op)});
      pointers.push_back(&problem);
    }
    policy = policy::make_policy("gdp", ConfigTable::parse_toml(net + "cost_features = true\n", ""), list, seed);
    if (parameters != nullptr)
      std::ranges::copy(const_cast<policy::Policy*>(parameters)->parameters(), policy->parameters().begin());
    learner =
        find_entry(learners(), "ppo", "learner")
            .make(ConfigTable::parse_toml("samples_per_update = 16\nchunk = 16\nlearning_rate = 0.003", ""), {list});
    evaluator = evaluate::make_local_evaluator(pointers, Schedule::fifo);
    trainer = std::make_unique<Trainer>(*policy, *learner, *evaluator, list, TrainerOptions{.seed = seed});
  }
  double likeliest() const {  // ms, of the first problem
    std::vector<policy::Rollout> rollouts;
    sample_rollouts(*policy, *evaluator, std::span(list).first(1), {.greedy = true}, rollouts);
    return 1e3 * to_seconds(rollouts.front().outcome.makespan);
  }
  double uniform() const {  // the mean of uniformly random placements, ms
    double sum = 0;
    Stream random({.seed = 9});
    for (int i = 0; i < 1000; ++i) {
      Placement placement;
      for (std::size_t op = 0; op < problems.front().op_count(); ++op)
        placement.device.push_back(static_cast<std::uint8_t>(random.below(2)));
      sum += to_seconds(evaluator->evaluate(std::vector<evaluate::EvaluationJob>{{0, &placement}}).front().makespan);
    }
    return sum;
  }

  std::deque<Problem> problems;
  std::vector<policy::PolicyProblem> list;
  std::unique_ptr<policy::Policy> policy;
  std::unique_ptr<Learner> learner;
  std::unique_ptr<evaluate::Evaluator> evaluator;
  std::unique_ptr<Trainer> trainer;
};

TEST(GdpLearning, ServesOnAChainThatItNeverSawAndLearnsOnThere) {
  Chains trained(0, 6, nullptr, 1);
  for (const std::uint64_t updates : {25, 100}) {
    while (trained.trainer->updates() < updates) trained.trainer->step();
    double sum_before = 0, sum_after = 0;
    for (std::uint32_t unseen = 100; unseen < 106; ++unseen) {
      Chains other(unseen, 1, trained.policy.get(), 1);
      const double zero_shot = other.likeliest();
      EXPECT_LT(zero_shot, 0.85 * other.uniform());
      for (int update = 0; update < 50; ++update) other.trainer->step();
      const double after = other.likeliest();
      EXPECT_LE(1e3 * to_seconds(other.trainer->best().front().outcome.makespan), zero_shot);
      EXPECT_LE(after, 1.05 * zero_shot);
      sum_before += zero_shot;
      sum_after += after;
    }
    // What it learns there is little, because most of these chains are near their optimum at once.
    EXPECT_LT(sum_after, 0.99 * sum_before) << updates;
  }
}

}  // namespace
}  // namespace emplace::learn::gdp_test
