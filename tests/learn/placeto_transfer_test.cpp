// Does what Placeto learns on some graphs transfer to others? No parameter of its network depends on the graph
// (docs/papers/placeto.md, section 1), so a policy that is trained on a family is used on members outside its training.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "learn/sampling.hpp"
#include "learn/trainer.hpp"
#include "tests/learn/training.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::learn::placeto_transfer_test {
namespace {

using namespace test;

// The family: two independent chains of 3 to 5 ops of 5 to 15 ms on two equal devices, with transfers of 1 ms. On one
// device they take as long as both chains together, with a device for each chain as long as the longer one.
Problem two_random_chains(std::uint64_t number) {
  Stream random({.seed = 17, .purpose = Purpose::test, .update = 0, .index = static_cast<std::uint32_t>(number)});
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (const char* chain : {"a", "b"}) {
    const std::size_t length = 3 + random.below(3);
    for (std::size_t i = 0; i < length; ++i) {
      const double time = 5 + random.below(11);
      if (i > 0) edges.push_back({ops.size() - 1, ops.size()});
      ops.push_back({chain + std::to_string(i), {time, time}, "", 0, 1});
    }
  }
  return tiny(plain_devices(2), ops, edges, 1);
}

struct Graphs {
  Graphs(std::uint64_t first, std::uint64_t count) {
    std::vector<const Problem*> pointers;
    for (std::uint64_t number = first; number < first + count; ++number) {
      pointers.push_back(&problems.emplace_back(two_random_chains(number)));
      list.push_back({pointers.back(), make_grouping(*pointers.back(), GroupingKind::op)});
    }
    evaluator = evaluate::make_local_evaluator(pointers, Schedule::fifo);
  }
  // A policy for them, which begins with everything on the first device; its network is the same for all graphs.
  [[nodiscard]] std::unique_ptr<policy::Policy> policy(std::uint64_t seed) const {
    return policy::make_policy(
        "placeto", ConfigTable::parse_toml("message_rounds = 2\nsize = \"small\"\ninitial = \"first\"", "policy"), list,
        seed);
  }
  // Where the likeliest episodes of a policy with these parameters end, as a multiple of the time of one device, on
  // average.
  [[nodiscard]] double greedy(policy::Policy& trained, std::uint64_t seed) const {
    const auto here = policy(seed);
    std::ranges::copy(trained.parameters(), here->parameters().begin());
    here->parameters_changed();
    std::vector<policy::Rollout> rollouts;
    sample_rollouts(*here, *evaluator, list, {.greedy = true}, rollouts);
    double sum = 0;
    for (std::size_t r = 0; r < rollouts.size(); ++r)
      if (r + 1 == rollouts.size() || rollouts[r + 1].round == 0) {
        const Problem& problem = problems[rollouts[r].problem];
        Ticks alone = 0;  // both devices are equal
        for (std::size_t op = 0; op < problem.op_count(); ++op) alone += problem.op_time[2 * op];
        sum += static_cast<double>(rollouts[r].outcome.makespan) / static_cast<double>(alone);
      }
    return sum / static_cast<double>(problems.size());
  }
  std::deque<Problem> problems;
  std::vector<policy::PolicyProblem> list;
  std::unique_ptr<evaluate::Evaluator> evaluator;
};

TEST(PlacetoLearning, ServesOnGraphsThatItNeverSaw) {
  const Graphs seen(0, 3), unseen(100, 8);
  std::vector<double> before, after;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto policy = seen.policy(seed);
    const auto learner =
        find_entry(learners(), "reinforce", "learner")
            .make(ConfigTable::parse_toml(
                      "samples_per_update = 4\nreward = \"time\"\ntime_unit = 0\nreturns = \"step\"\n"
                      "baseline = \"window\"\nbaseline_window = 10\nover_samples = \"sum\"\nlearning_rate = 0.01\n"
                      "clip_norm = 1.25\nentropy_weight = 0.1\nentropy_weight_end = 0\nentropy_share = 0.67",
                      "learner"),
                  {seen.list});
    before.push_back(unseen.greedy(*policy, seed));
    Trainer trainer(*policy, *learner, *seen.evaluator, seen.list, {.seed = seed, .budget_used = test::budget_of(150)});
    for (int update = 0; update < 150; ++update) trainer.step();
    after.push_back(unseen.greedy(*policy, seed));
  }
  std::ranges::sort(before);
  std::ranges::sort(after);
  // Medians. The longer chain has a little more than half of the ops, and nothing is better than a device for each.
  EXPECT_LT(after[1], 0.7);
  EXPECT_LT(after[1], 0.8 * before[1]);
}

}  // namespace
}  // namespace emplace::learn::placeto_transfer_test
