#include "learn/sampling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problem/order.hpp"
#include "tests/learn/training.hpp"
#include "tests/policy/stub_policy.hpp"

namespace emplace::learn::sampling_test {
namespace {

using namespace test;

using ::testing::ElementsAre;

// Round r moves op r of three to device 1; records whether the draws were greedy.
class MovesOneByOne final : public StubPolicy {
 public:
  void sample(std::span<const policy::SampleSlot> slots) const override {
    for (const policy::SampleSlot& slot : slots) {
      policy::Rollout& now = slot.rounds.back();
      EXPECT_TRUE(now.actions.empty() && now.observation.empty() && now.placement.order.empty()) << "left over";
      now.observation = {1};
      now.actions = {static_cast<std::uint8_t>(slot.greedy)};
      now.placement.device.assign(3, 0);
      for (std::size_t op = 0; op <= now.round; ++op) now.placement.device[op] = 1;
    }
  }
  [[nodiscard]] std::size_t rounds(std::uint32_t) const override { return 3; }
};

struct Forked {
  // a before b and c, which last 1 and 5 ms on device 0, 9 and 5 on device 1: c first where b is on device 0, else b.
  Problem problem = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 9}}, {"c", {5, 5}}}, {{0, 1}, {0, 2}});
  std::vector<policy::PolicyProblem> list = {{&problem, make_grouping(problem, GroupingKind::op)}};
  MovesOneByOne policy;
  std::vector<policy::Rollout> rollouts;
  std::vector<std::uint32_t> evaluated;

  void run(const SamplingRequest& request) {
    const Problem* const pointers[] = {&problem};
    const auto evaluator = evaluate::make_local_evaluator(pointers, request.schedule);
    sample_rollouts(policy, *evaluator, list, request, rollouts,
                    [this](const policy::Rollout& r) { evaluated.push_back(10 * r.sample + r.round); });
  }
};

TEST(SamplingRequest, KeepsTheOrderOfASamplesFirstRound) {
  Forked f;
  f.run({.schedule = Schedule::in_order});
  ASSERT_EQ(f.rollouts.size(), 3u);
  EXPECT_THAT(upward_rank_order(f.problem, f.rollouts[1].placement.device), ElementsAre(0, 1, 2)) << "b is slow now";
  for (const policy::Rollout& rollout : f.rollouts) EXPECT_THAT(rollout.placement.order, ElementsAre(0, 2, 1));
}

// Fails when the second round is drawn.
class FailsLater final : public StubPolicy {
 public:
  void sample(std::span<const policy::SampleSlot> slots) const override {
    for (const policy::SampleSlot& slot : slots) {
      if (slot.rounds.back().round == 1) throw std::runtime_error("no second round");
      slot.rounds.back().placement.device.assign(3, 0);
    }
  }
  [[nodiscard]] std::size_t rounds(std::uint32_t) const override { return 2; }
};

// Counts the jobs of its batch and the batches that were cancelled.
class CountingEvaluator final : public evaluate::Evaluator {
 public:
  void submit(std::span<const evaluate::EvaluationJob> jobs) override { submitted += jobs.size(); }
  std::vector<Outcome> wait() override { return std::vector<Outcome>(std::exchange(submitted, 0)); }
  void cancel() override {
    submitted = 0;
    ++cancelled;
  }
  [[nodiscard]] std::size_t parts_of(std::size_t) const override { return 2; }
  std::size_t submitted = 0, cancelled = 0;
};

TEST(SamplingRequest, CancelsItsBatchWhereDrawingFails) {
  Forked f;
  const FailsLater policy;
  CountingEvaluator evaluator;
  EXPECT_THROW(sample_rollouts(policy, evaluator, f.list, {.samples = 4}, f.rollouts), std::runtime_error);
  EXPECT_EQ(evaluator.submitted, 0u);
  EXPECT_EQ(evaluator.cancelled, 1u);
}

TEST(SamplingRequest, HasNoOrderUnderFifo) {
  Forked f;
  f.run({});
  for (const policy::Rollout& rollout : f.rollouts) EXPECT_TRUE(rollout.placement.order.empty());
}

TEST(SamplingRequest, ShowsEveryRolloutInTheOrderOfEvaluation) {
  Forked f;
  f.run({.samples = 2});
  EXPECT_THAT(f.evaluated, ElementsAre(0, 10, 1, 11, 2, 12));
}

TEST(SamplingRequest, IsGreedyOnRequestAndForgetsWhatWasThere) {
  Forked f;
  f.run({.samples = 2, .greedy = true});
  for (const policy::Rollout& rollout : f.rollouts) EXPECT_THAT(rollout.actions, ElementsAre(1));
  f.run({.update = 9, .samples = 1});
  ASSERT_EQ(f.rollouts.size(), 3u);
  for (const policy::Rollout& rollout : f.rollouts) {
    EXPECT_THAT(rollout.actions, ElementsAre(0));
    EXPECT_EQ(rollout.update, 9u);
    EXPECT_TRUE(rollout.outcome.feasible());
  }
}

}  // namespace
}  // namespace emplace::learn::sampling_test
