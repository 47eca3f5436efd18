// Does Placeto learn? docs/papers/placeto.md, sections 7.11 and 7.12, with a small network.
#include <gtest/gtest.h>

#include <algorithm>

#include "learn/sampling.hpp"
#include "tests/learn/network_training.hpp"

namespace emplace::learn::placeto_test {
namespace {

using namespace test;

Ticks makespan(const Problem& problem, const std::vector<std::uint8_t>& devices) {
  const Problem* const list[] = {&problem};
  const Placement placement{devices, {}};
  return evaluate::make_local_evaluator(list, Schedule::fifo)
      ->evaluate(std::vector<evaluate::EvaluationJob>{{0, &placement}})[0]
      .makespan;
}

// One episode of the greedy policy: each op in turn moves to its best device while the others stay where they are.
void visit_greedily(const Problem& problem, std::vector<std::uint8_t>& devices) {
  for (std::uint8_t& device : devices) {
    std::vector<Ticks> times;
    for (device = 0; device < problem.device_count(); ++device) times.push_back(makespan(problem, devices));
    device = static_cast<std::uint8_t>(std::ranges::min_element(times) - times.begin());
  }
}

TEST(PlacetoLearning, HasAnEnvironmentInWhichGreedyEpisodesImproveAPlacementBitByBit) {
  const Problem problem = chain_5(2);
  std::vector<std::uint8_t> devices(5, 0);
  EXPECT_EQ(makespan(problem, devices), 28 * ms);  // 4 + 6 + 8 + 6 + 4
  visit_greedily(problem, devices);
  EXPECT_EQ(devices, (std::vector<std::uint8_t>{0, 0, 1, 1, 0}));
  EXPECT_EQ(makespan(problem, devices), 23 * ms);  // 4 + 6 + (2) + 2 + 3 + (2) + 4
  visit_greedily(problem, devices);
  EXPECT_EQ(devices, (std::vector<std::uint8_t>{0, 1, 1, 1, 0}));
  EXPECT_EQ(makespan(problem, devices), 20 * ms);  // 4 + (2) + 3 + 2 + 3 + (2) + 4
}

TEST(PlacetoLearning, SolvesTheToysAndItsLikeliestEpisodeEndsThere) {
  const std::pair<Problem, Ticks> toys[] = {
      {chain_5(2), 20}, {chain_5(5), 24}, {two_chains(1), 40}, {fork_join(2), 14}};
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (const auto& [problem, optimum] : toys) {
      NetworkTraining training(
          problem, "placeto", "message_rounds = 2\nsize = \"small\"",
          "samples_per_update = 4\nreward = \"time\"\ntime_unit = 0\nreturns = \"step\"\nbaseline = \"window\"\n"
          "baseline_window = 10\nover_samples = \"sum\"\nlearning_rate = 0.01\nclip_norm = 1.25\n"
          "entropy_weight = 0.1\nentropy_weight_end = 0\nentropy_share = 0.5",
          seed);
      training.run(200, 1);
      EXPECT_EQ(training.trainer.best()[0].outcome.makespan, optimum * ms) << seed;
      std::vector<policy::Rollout> episode;
      sample_rollouts(*training.policy, *training.evaluator, training.list, {.greedy = true}, episode);
      EXPECT_EQ(episode.back().outcome.makespan, optimum * ms) << seed;
    }
}

}  // namespace
}  // namespace emplace::learn::placeto_test
