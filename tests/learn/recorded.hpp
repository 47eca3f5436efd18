// A trainer whose policy, learner and evaluator record what they are asked, for tests.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "learn/trainer.hpp"
#include "tests/policy/stub_policy.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::test {

// Records its jobs and returns the outcomes of its script; after those, evaluation n takes n ms.
class RecordingEvaluator final : public evaluate::DirectEvaluator {
 public:
  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    batches.push_back(jobs.size());
    std::vector<Outcome> outcomes;
    for (const evaluate::EvaluationJob& job : jobs) {
      problems.push_back(job.problem);
      orders.push_back(job.placement->order);
      ++count;
      const auto next = static_cast<std::size_t>(count) - 1;
      outcomes.push_back(next < script.size() ? script[next] : Outcome{.makespan = count * ms});
    }
    return outcomes;
  }
  std::vector<Outcome> script;
  std::int64_t count = 0;
  std::vector<std::size_t> batches;
  std::vector<std::uint32_t> problems;
  std::vector<std::vector<std::uint32_t>> orders;
};

// Everything on device (round); as many rounds as the problem has ops. Checks what it gets of earlier rounds.
class RoundsPolicy final : public StubPolicy {
 public:
  explicit RoundsPolicy(std::vector<const Problem*> problems) : problems_(std::move(problems)) {}
  void sample(std::span<const policy::SampleSlot> slots) const override {
    for (const policy::SampleSlot& slot : slots) {
      policy::Rollout& now = slot.rounds.back();
      greedy.push_back(slot.greedy);
      best.push_back(slot.best == nullptr ? -1 : static_cast<int>(slot.best->device.size()));
      EXPECT_EQ(now.round + 1, slot.rounds.size());
      for (std::size_t r = 0; r + 1 < slot.rounds.size(); ++r) {
        EXPECT_EQ(slot.rounds[r].round, r);
        EXPECT_EQ(slot.rounds[r].sample, now.sample);
        EXPECT_TRUE(slot.rounds[r].outcome.timed());
      }
      now.actions = {static_cast<std::uint8_t>(slot.stream->below(200))};
      now.placement.device.assign(problems_[now.problem]->op_count(), static_cast<std::uint8_t>(now.round % 2));
    }
  }
  [[nodiscard]] std::size_t rounds(std::uint32_t p) const override { return problems_[p]->op_count(); }

  mutable std::vector<bool> greedy;  // of each draw
  mutable std::vector<int> best;     // ops of the best placement that each draw got, or -1

 private:
  std::vector<const Problem*> problems_;
};

class RecordingLearner : public learn::Learner {
 public:
  [[nodiscard]] std::size_t samples_per_update() const override { return 2; }
  [[nodiscard]] std::uint64_t default_updates() const override { return 1; }
  void use(learn::LearnerWorkers*) override {}
  std::map<std::string, double> update(policy::Policy&, std::span<const policy::Rollout> list) override {
    rollouts.assign(list.begin(), list.end());
    return {};
  }
  [[nodiscard]] State save() const override { return {}; }
  void load(const State&, const policy::Policy&) override {}
  std::vector<policy::Rollout> rollouts;
};

// A training on two problems, of 2 and 3 rounds; its evaluations are numbered from 1 and each takes so many ms.
struct Recorded {
  explicit Recorded(learn::TrainerOptions options = {}) : trainer(policy, learner, evaluator, list, seeded(options)) {}
  static learn::TrainerOptions seeded(learn::TrainerOptions options) {
    options.seed = 11;
    return options;
  }
  Problem two = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}}, {{0, 1}});
  Problem three = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}, {"c", {5, 5}}}, {{0, 1}, {0, 2}});
  std::vector<policy::PolicyProblem> list = {{&two, make_grouping(two, GroupingKind::op)},
                                             {&three, make_grouping(three, GroupingKind::op)}};
  RoundsPolicy policy{{&two, &three}};
  RecordingLearner learner;
  RecordingEvaluator evaluator;
  learn::Trainer trainer;
};

}  // namespace emplace::test
