#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "learn/drawn.hpp"
#include "learn/training.hpp"

namespace emplace {
namespace {

using namespace testing;
using ::testing::Each;

// PPO on two problems; with plain steps unless told otherwise.
struct Ppo {
  explicit Ppo(ConfigTable options, const std::string& policy_name = "chain", std::size_t samples = 8)
      : drawn(policy_name, samples), before(parameters()) {
    if (!options.contains("optimizer")) options.set("optimizer", text("sgd"));
    if (!options.contains("clip_norm")) options.set("clip_norm", number(0));
    if (!options.contains("learning_rate")) options.set("learning_rate", number(0.5));
    learner = find_entry(learners(), "ppo", "learner").make(options, {drawn.list});
  }
  std::map<std::string, double> update() { return learner->update(*drawn.policy, drawn.rollouts); }
  [[nodiscard]] std::vector<float> parameters() const {
    return {drawn.policy->parameters().begin(), drawn.policy->parameters().end()};
  }
  Drawn drawn;
  std::vector<float> before;
  std::unique_ptr<Learner> learner;
};

TEST(Ppo, MakesAStepForEveryMinibatchOfEveryEpoch) {
  EXPECT_EQ(Ppo(table({{"epochs", whole(3)}, {"minibatches", whole(4)}})).update().at("steps"), 12);
  EXPECT_EQ(Ppo(table({{"epochs", whole(3)}})).update().at("steps"), 3);
}

TEST(Ppo, OfOneStepIsReinforceWithTheSameAdvantages) {
  // At p = p_old the ratio is 1 and its gradient that of log p.
  for (const char* policy : {"post", "chain", "episode"}) {
    const auto same = [](ConfigTable options) {
      for (const auto& [key, value] : {std::pair{"baseline_start", text("first")}, {"entropy_weight", number(0.1)}})
        options.set(key, value);
      return options;
    };
    Ppo ppo(same(table({{"epochs", whole(1)}})), policy);
    ppo.update();
    Ppo other({}, policy);
    const auto reinforce = find_entry(learners(), "reinforce", "learner")
                               .make(same(table({{"normalize", flag(true)},
                                                 {"optimizer", text("sgd")},
                                                 {"clip_norm", number(0)},
                                                 {"learning_rate", number(0.5)}})),
                                     {other.drawn.list});
    reinforce->update(*other.drawn.policy, other.drawn.rollouts);
    for (std::size_t i = 0; i < ppo.before.size(); ++i)
      EXPECT_NEAR(ppo.parameters()[i], other.parameters()[i], 1e-5) << policy << i;
    EXPECT_NE(ppo.parameters(), ppo.before);
  }
}

TEST(Ppo, StopsBeforeAStepFromBeyondTheDivergence) {
  for (const char* policy : {"post", "chain"}) {
    const auto steps = [&](double kl_stop) {
      return Ppo(table({{"epochs", whole(50)}, {"kl_stop", number(kl_stop)}}), policy).update();
    };
    EXPECT_EQ(steps(0).at("steps"), 50);
    const auto stopped = steps(0.02);
    EXPECT_LT(stopped.at("steps"), 50);
    EXPECT_GT(stopped.at("steps"), 1);
    EXPECT_GT(stopped.at("kl"), 0.02) << "the step that crossed it was made, the next was not";
    EXPECT_LT(stopped.at("kl"), 0.1);
  }
}

TEST(Ppo, ClippedStaysNearerThanPlainRatios) {
  // 1000 epochs; the plain form (a KL penalty of the least weight) goes on.
  const ConfigTable clip = table({{"epochs", whole(1000)}, {"clip_ratio", number(0.1)}});
  const ConfigTable kl = table({{"epochs", whole(1000)}, {"form", text("kl")}, {"beta", number(1.0 / 64)}});
  EXPECT_LT(Ppo(clip).update().at("kl"), 0.2 * Ppo(kl).update().at("kl"));
}

TEST(Ppo, DoublesBetaAboveTheTargetOnlyIfItMay) {
  const auto options = [](bool adaptive) {
    return table({{"form", text("kl")}, {"kl_target", number(1e-6)}, {"adaptive_beta", flag(adaptive)}});
  };
  EXPECT_EQ(Ppo(options(true)).update().at("beta"), 2);
  EXPECT_EQ(Ppo(options(false)).update().at("beta"), 1);
  EXPECT_EQ(Ppo(table({})).update().at("beta"), 1) << "the clip form has no penalty";
}

TEST(Ppo, LearnsNothingFromSamplesThatAreAlikeOrLeftOut) {
  for (const bool infeasible : {false, true}) {
    Ppo ppo(table({{"skip_failing_after", whole(0)}}));
    for (Rollout& rollout : ppo.drawn.rollouts) {
      rollout.outcome.makespan = 5 * ms;
      if (infeasible) rollout.outcome.why = Infeasible::memory;
    }
    const auto metrics = ppo.update();
    EXPECT_EQ(metrics.at("steps"), 0);
    EXPECT_EQ(metrics.at("used_samples"), infeasible ? 0 : 16);
    EXPECT_GT(metrics.at("entropy"), 0);
    EXPECT_EQ(ppo.parameters(), ppo.before);
  }
}

TEST(Ppo, GivesEntropyTheWeightOfItsSchedule) {
  // All samples alike: only the entropy acts, in one step of the length of its weight, 1 and 1/2; then there is none.
  Ppo ppo(table({{"epochs", whole(1)},
                 {"entropy_weight", number(1)},
                 {"entropy_weight_end", number(0)},
                 {"entropy_updates", whole(2)}}));
  for (Rollout& rollout : ppo.drawn.rollouts) rollout.outcome.makespan = 5 * ms;
  std::vector<std::vector<float>> after;
  for (const double weight : {1.0, 0.5, 0.0}) {
    const auto metrics = ppo.update();
    EXPECT_EQ(metrics.at("entropy_weight"), weight);
    EXPECT_EQ(metrics.at("steps"), weight > 0 ? 1 : 0);
    after.push_back(ppo.parameters());
    std::ranges::copy(ppo.before, ppo.drawn.policy->parameters().begin());
  }
  double largest = 0;
  for (std::size_t i = 0; i < ppo.before.size(); ++i) {
    const double whole_step = static_cast<double>(after[0][i]) - ppo.before[i];
    EXPECT_NEAR(after[1][i] - ppo.before[i], whole_step / 2, 1e-6);
    largest = std::max(largest, whole_step);
  }
  EXPECT_GT(largest, 0.01);
  EXPECT_EQ(after[2], ppo.before);
}

TEST(Ppo, LearnsTheSameInChunksOfAnySize) {
  for (const char* policy : {"post", "chain", "episode"}) {
    std::vector<std::vector<float>> results;
    for (const int chunk : {1, 3, 100}) {
      Ppo ppo(table({{"chunk", whole(chunk)}, {"minibatches", whole(2)}, {"form", text("kl")}}), policy);
      ppo.update();
      results.push_back(ppo.parameters());
    }
    for (const auto& result : results)
      for (std::size_t i = 0; i < result.size(); ++i) EXPECT_NEAR(result[i], results[0][i], 1e-5) << policy;
  }
}

}  // namespace
}  // namespace emplace
