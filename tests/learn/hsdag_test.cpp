// Does HSDAG learn, and which placements do its clusters allow? docs/papers/hsdag.md, section 7.9.
#include <gtest/gtest.h>

#include "learn/sampling.hpp"
#include "tests/learn/network_training.hpp"

namespace emplace::learn::hsdag_test {
namespace {

using namespace test;

// The recipe's learner with faster learning.
const char* const learner =
    "samples_per_update = 1\nchunk = 1\nreward = \"inverse\"\ntime_unit = 0\ninfeasible = \"zero\"\nreturns = \"own\"\n"
    "discount = 0.95\nbaseline = \"none\"\nlearning_rate = 0.002";

// Nothing need be learned for this: the few placements that clusters allow are soon drawn.
TEST(HsdagClusters, LimitThePlacementsThatCanBeDrawn) {
  // chain-5 is one cluster, although 20 ms are possible without clusters; two chains, one on each device; fork-join in
  // two pairs.
  const std::pair<Problem, Ticks> toys[] = {{chain_5(2), 24}, {two_chains(1), 40}, {fork_join(2), 14}};
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (const auto& [problem, optimum] : toys) {
      NetworkTraining training(problem, "hsdag", "hidden = 16\nupdate_timestep = 5", learner, seed,
                               GroupingKind::chain);
      training.run(20, 1);
      EXPECT_EQ(training.trainer.best()[0].outcome.makespan, optimum * ms) << seed;
    }
}

TEST(HsdagLearning, TakesFourStepsOnAnEpisodeInFourEpochs) {
  // The paper's number of epochs, against four updates with the same episode, which has its dropout masks and clusters.
  const auto learned = [](const std::string& epochs, int updates) {
    NetworkTraining training(two_chains(1), "hsdag", "hidden = 16\nupdate_timestep = 3", learner + epochs, 1,
                             GroupingKind::op);
    std::vector<policy::Rollout> episode;
    sample_rollouts(*training.policy, *training.evaluator, training.list, {}, episode);
    for (; updates > 0; --updates) training.learner->update(*training.policy, episode);
    return std::vector<float>(training.policy->parameters().begin(), training.policy->parameters().end());
  };
  const std::vector<float> four = learned("\nepochs = 4", 1);
  EXPECT_EQ(four, learned("", 4));
  EXPECT_NE(four, learned("", 1));
  EXPECT_EQ(learned("\nepochs = 1", 1), learned("", 1));
}

// Four independent ops, each fast on one of two devices, two on each: 20 ms; random placements take 58 ms on average.
// The paper's learner has no baseline and learns this slowly. All seeds but one end at 20 ms; that one misplaces one
// op.
TEST(HsdagLearning, MakesGoodPlacementsLikely) {
  const Problem uneven =
      tiny(plain_devices(2), {{"a", {10, 30}}, {"b", {30, 10}}, {"c", {10, 30}}, {"d", {30, 10}}}, {}, 1);
  for (const char* way : {"", "\ngrouping = \"none\""})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      NetworkTraining training(
          uneven, "hsdag", std::string("hidden = 64\nupdate_timestep = 5\ndropout = 0") + way,
          "samples_per_update = 1\nchunk = 1\nreward = \"inverse\"\ntime_unit = 0\nreturns = \"own\"\n"
          "discount = 0.95\nbaseline = \"moving-average\"\nbaseline_start = \"first\"\nlearning_rate = 0.001",
          seed, GroupingKind::chain);
      EXPECT_LT(training.run(400, 50), 45) << way << " " << seed;
      std::vector<policy::Rollout> episode;
      sample_rollouts(*training.policy, *training.evaluator, training.list, {.greedy = true}, episode);
      EXPECT_LE(episode.back().outcome.makespan, 40 * ms) << way << " " << seed;
    }
}

}  // namespace
}  // namespace emplace::learn::hsdag_test
