// Does ColocRL learn? docs/papers/colocrl.md, section 7.6, with a small network. Without an entropy bonus at first,
// chain-5 (x = 2) ends on one device, because the best placement has two cuts, but one cut is worse than none.
#include <gtest/gtest.h>

#include "tests/learn/network_training.hpp"

namespace emplace::learn::colocrl_test {
namespace {

using namespace test;

NetworkTraining colocrl(const Problem& problem, GroupingKind kind, std::uint64_t seed) {
  return {problem,
          "colocrl",
          "hidden = 16\ntype_width = 2\ndevice_width = 4",
          "samples_per_update = 16\nlearning_rate = 0.003\nbaseline_start = \"first\"\n"
          "entropy_weight = 0.005\nentropy_weight_end = 0\nentropy_share = 0.75",
          seed,
          kind};
}

TEST(ColocrlLearning, SolvesTheToysWithoutGroups) {
  const std::pair<Problem, Ticks> toys[] = {
      {chain_5(2), 20}, {chain_5(5), 24}, {two_chains(1), 40}, {fork_join(2), 14}, {fork_join(12), 22}};
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (const auto& [problem, optimum] : toys) {
      NetworkTraining training = colocrl(problem, GroupingKind::op, seed);
      EXPECT_NEAR(training.run(400, 20), static_cast<double>(optimum), 0.5) << seed;
      EXPECT_EQ(training.greedy_makespan(), optimum * ms) << seed;
    }
}

TEST(ColocrlLearning, SolvesTheToysWithGroups) {
  const std::pair<Problem, Ticks> toys[] = {
      {chain_5(2), 24}, {chain_5(5), 24}, {two_chains(1), 40}, {fork_join(2), 22}, {fork_join(12), 22}};
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    for (const auto& [problem, optimum] : toys) {
      NetworkTraining training = colocrl(problem, GroupingKind::colocrl, seed);
      EXPECT_NEAR(training.run(400, 20), static_cast<double>(optimum), 0.5) << seed;
      EXPECT_EQ(training.greedy_makespan(), optimum * ms) << seed;
    }
}

}  // namespace
}  // namespace emplace::learn::colocrl_test
