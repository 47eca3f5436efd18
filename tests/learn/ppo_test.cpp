#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "emplace/base/error.hpp"
#include "tests/learn/drawn.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::ppo_test {
namespace {

using namespace test;
using ::testing::Each;

// PPO on two problems, with plain gradient steps by default.
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

TEST(Ppo, StopsOnceTheDivergenceExceedsKlStop) {
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
  // 1000 epochs; the plain form (a KL penalty of the smallest weight) keeps moving.
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
    for (policy::Rollout& rollout : ppo.drawn.rollouts) {
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
  // All samples are equal, so only the entropy has a gradient; a step is proportional to its weight, 1, 1/2, then 0.
  Ppo ppo(table({{"epochs", whole(1)},
                 {"entropy_weight", number(1)},
                 {"entropy_weight_end", number(0)},
                 {"entropy_share", number(0.5)}}));
  for (policy::Rollout& rollout : ppo.drawn.rollouts) rollout.outcome.makespan = 5 * ms;
  std::vector<std::vector<float>> after;
  for (const auto& [progress, weight] : {std::pair{0.0, 1.0}, {0.25, 0.5}, {0.5, 0.0}}) {
    for (policy::Rollout& rollout : ppo.drawn.rollouts) rollout.progress = progress;
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

TEST(Ppo, AdaptsTheEntropysWeightToTheTargetEntropy) {
  // The toy's best placement is found soon; the bonus must keep half of the entropy until its schedule ends.
  const Problem problem = chain_5(2);
  const std::vector<policy::PolicyProblem> list = {{&problem, make_grouping(problem, GroupingKind::op)}};
  const auto evaluator = evaluate::make_local_evaluator(std::vector<const Problem*>{&problem}, Schedule::fifo);
  std::vector<double> entropies, weights;
  const auto policy = policy::make_policy("post", ConfigTable{}, list, 1);
  const auto learner = find_entry(learners(), "ppo", "learner")
                           .make(table({{"learning_rate", number(0.05)},
                                        {"entropy_weight", number(0.01)},
                                        {"entropy_target", number(0.5)},
                                        {"entropy_share", number(0.9)}}),
                                 {list});
  Trainer trainer(*policy, *learner, *evaluator, list, {.seed = 1, .budget_used = budget_of(1000)});
  for (int update = 0; update < 930; ++update) {
    const UpdateReport report = trainer.step();
    entropies.push_back(report.learner.at("entropy"));
    weights.push_back(report.learner.at("entropy_weight"));
  }
  const auto mean = [&](std::size_t begin) {
    double sum = 0;
    for (std::size_t i = begin; i < begin + 20; ++i) sum += entropies[i] / 20;
    return sum;
  };
  const double first = entropies.front();
  EXPECT_NEAR(mean(290) / first, 0.5 * (1 - 300.0 / 900), 0.1);
  EXPECT_NEAR(mean(590) / first, 0.5 * (1 - 600.0 / 900), 0.1);
  EXPECT_GT(*std::ranges::max_element(weights), 0.05) << "the initial weight cannot keep the entropy";
  EXPECT_EQ(weights.back(), 0);
  EXPECT_LT(mean(910), 0.05 * first);
}

TEST(Ppo, NeedsAWeightWithoutAnEndForAnEntropyTarget) {
  const auto refused = [](const ConfigTable& options) {
    return find_entry(learners(), "ppo", "learner").resolve(options);
  };
  EXPECT_THROW(refused(table({{"entropy_target", number(0.5)}})), InputError);
  EXPECT_THROW(
      refused(
          table({{"entropy_target", number(0.5)}, {"entropy_weight", number(1)}, {"entropy_weight_end", number(0)}})),
      InputError);
  EXPECT_NO_THROW(refused(table({{"entropy_target", number(0.5)}, {"entropy_weight", number(1)}})));
}

TEST(Ppo, HasTheBestPlacementSoFarAsOneMoreSample) {
  const ConfigTable options =
      table({{"keep_best", flag(true)}, {"epochs", whole(1)}, {"learning_rate", number(0.001)}});
  for (const char* policy : {"post", "chain", "episode"}) {
    Ppo ppo(options, policy);
    std::vector<policy::Rollout>& rollouts = ppo.drawn.rollouts;
    const std::size_t samples = 2 * 8;
    for (policy::Rollout& rollout : rollouts) rollout.outcome = {.makespan = 50 * ms};
    // Of the first problem's samples one is fastest but infeasible, and one is the fastest feasible one.
    const auto last_of = [&](std::uint32_t problem, std::uint32_t sample) -> policy::Rollout& {
      return *std::ranges::find_if(rollouts, [&](const policy::Rollout& each) {
        return each.problem == problem && each.sample == sample && each.round + 1 == ppo.drawn.policy->rounds(problem);
      });
    };
    last_of(0, 2).outcome = {.makespan = 10 * ms, .why = Infeasible::memory};
    last_of(0, 5).outcome = {.makespan = 20 * ms};
    std::vector<policy::Rollout> best;
    for (const policy::Rollout& each : rollouts)
      if (each.problem == 0 && each.sample == 5) best.push_back(each);
    EXPECT_EQ(ppo.update().at("used_samples"), samples) << policy;

    // The samples of this batch are excluded; the best sample of the first problem is still used, that of the second is
    // not.
    for (policy::Rollout& rollout : rollouts) rollout.outcome = {.makespan = 50 * ms};
    for (policy::Rollout& rollout : rollouts) rollout.update = 2;
    policy::LogProbabilities before, after;
    ppo.drawn.policy->forward(best, before);
    const State state = ppo.learner->save();
    const auto parameters = ppo.parameters();
    EXPECT_EQ(ppo.update().at("used_samples"), samples + 2) << policy;
    ppo.drawn.policy->forward(best, after);
    double rise = 0;
    for (std::size_t h = 0; h < before.value.size(); ++h) rise += after.value[h] - before.value[h];
    // The episode's decisions share a weight, which the other samples change too.
    if (policy != std::string("episode")) {
      EXPECT_GT(rise, 1e-4) << policy;
    }
    EXPECT_NE(ppo.parameters(), parameters) << policy;

    // It is part of the learner's state.
    const auto wanted = ppo.parameters();
    Ppo resumed(options, policy);
    std::ranges::copy(parameters, resumed.drawn.policy->parameters().begin());
    resumed.drawn.policy->parameters_changed();
    resumed.learner->load(state, *resumed.drawn.policy);
    resumed.drawn.rollouts = rollouts;
    resumed.update();
    EXPECT_EQ(resumed.parameters(), wanted) << policy;
  }
}

TEST(Ppo, KeepsTheFastestOfEachProblem) {
  Ppo ppo(table({{"keep_best", flag(true)}, {"epochs", whole(1)}}), "post", 2);
  using Kept = std::map<std::uint64_t, Ticks>;
  const auto update = [&](const std::vector<Ticks>& of_first, const std::vector<Ticks>& of_second) {
    std::vector<policy::Rollout> batch;
    for (std::uint32_t problem = 0; problem < 2; ++problem) {
      const std::vector<Ticks>& times = problem == 0 ? of_first : of_second;
      for (std::size_t sample = 0; sample < times.size(); ++sample) {
        batch.push_back(ppo.drawn.rollouts[2 * problem + sample]);
        batch.back().outcome = {.makespan = times[sample] * ms};
      }
    }
    const double used = ppo.learner->update(*ppo.drawn.policy, batch).at("used_samples");
    Kept kept;
    const State state = ppo.learner->save();
    const auto& keys = get<std::uint64_t>(state, "window_key");
    const auto& times = get<std::int64_t>(state, "window_time");
    for (std::size_t i = 0; i < times.size(); ++i) kept[keys[5 * i + 1]] = times[i] / ms;
    EXPECT_EQ(kept.size(), times.size()) << "one a problem";
    return std::pair(used, kept);
  };
  EXPECT_EQ(update({30, 20}, {50, 50}), std::pair(4.0, Kept({{0, 20}, {1, 50}})));
  EXPECT_EQ(update({25, 20}, {40, 60}), std::pair(6.0, Kept({{0, 20}, {1, 40}})));
  // The best sample of a problem that is not in the batch is not used.
  EXPECT_EQ(update({15, 18}, {}), std::pair(3.0, Kept({{0, 15}, {1, 40}})));
  EXPECT_EQ(update({}, {45, 45}), std::pair(3.0, Kept({{0, 15}, {1, 40}})));
}

TEST(Ppo, RefusesToKeepTheBestWithOtherReturnsOrAKlDivergence) {
  const auto refused = [](const ConfigTable& options) {
    return find_entry(learners(), "ppo", "learner").resolve(options);
  };
  EXPECT_NO_THROW(refused(table({{"keep_best", flag(true)}})));
  EXPECT_THROW(refused(table({{"keep_best", flag(true)}, {"returns", text("step")}})), InputError);
  EXPECT_THROW(refused(table({{"keep_best", flag(true)}, {"form", text("kl")}})), InputError);
  EXPECT_THROW(refused(table({{"keep_best", flag(true)}, {"kl_stop", number(0.1)}})), InputError);
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

// How far REINFORCE moves each parameter with the same samples of one problem, divided by a sample's number of heads.
std::vector<double> reinforced_over_heads(const ConfigTable& options, const std::string& policy, std::uint32_t problem,
                                          bool alike) {
  Ppo start({}, policy);
  std::vector<policy::Rollout> own;
  for (policy::Rollout& rollout : start.drawn.rollouts) {
    if (rollout.problem != problem) continue;
    if (alike) rollout.outcome.makespan = 5 * ms;
    own.push_back(rollout);
  }
  policy::LogProbabilities log;
  start.drawn.policy->forward(own, log);
  std::size_t heads = 0;
  for (std::size_t i = 0; i < own.size() && own[i].sample == own[0].sample; ++i) heads += log.of(i).size();
  EXPECT_EQ(log.value.size(), 8 * heads) << "every sample has as many";
  const auto reinforce = find_entry(learners(), "reinforce", "learner").make(options, {start.drawn.list});
  reinforce->update(*start.drawn.policy, own);
  std::vector<double> moved;
  for (std::size_t i = 0; i < start.before.size(); ++i)
    moved.push_back((static_cast<double>(start.parameters()[i]) - start.before[i]) / static_cast<double>(heads));
  return moved;
}

TEST(Ppo, OverHeadsBeginsWithReinforcesGradientDividedByTheHeadsOfEachProblem) {
  // docs/papers/gdp.md, item 7.6: all ratios are 1 in the first epoch; with equal samples only the entropy has a
  // gradient.
  for (const bool alike : {false, true})
    for (const char* policy : {"post", "chain", "episode"}) {
      ConfigTable options = table({{"baseline_start", text("first")},
                                   {"entropy_weight", number(0.1)},
                                   {"normalize", flag(true)},
                                   {"optimizer", text("sgd")},
                                   {"clip_norm", number(0)},
                                   {"learning_rate", number(0.5)}});
      const auto chain = reinforced_over_heads(options, policy, 0, alike);
      const auto fork = reinforced_over_heads(options, policy, 1, alike);
      options.set("epochs", whole(1));
      options.set("over_heads", flag(true));
      Ppo ppo(options, policy);
      if (alike)
        for (policy::Rollout& rollout : ppo.drawn.rollouts) rollout.outcome.makespan = 5 * ms;
      ppo.update();
      double largest = 0;
      for (std::size_t i = 0; i < ppo.before.size(); ++i) {
        const double moved = static_cast<double>(ppo.parameters()[i]) - ppo.before[i];
        EXPECT_NEAR(moved, (chain[i] + fork[i]) / 2, 1e-6) << policy << i << alike;
        largest = std::max(largest, std::abs(moved));
      }
      EXPECT_GT(largest, 1e-4) << policy << alike;
    }
}

TEST(Ppo, OverHeadsLearnsNothingFromSamplesThatAreAlikeWithoutEntropy) {
  Ppo ppo(table({{"over_heads", flag(true)}}));
  for (policy::Rollout& rollout : ppo.drawn.rollouts) rollout.outcome.makespan = 5 * ms;
  EXPECT_EQ(ppo.update().at("steps"), 0);
  EXPECT_EQ(ppo.parameters(), ppo.before);
}

TEST(Ppo, OverHeadsLearnsTheSameInChunksOfAnySize) {
  // Minibatches mix samples of 5 and of 4 heads.
  for (const char* policy : {"post", "chain", "episode"}) {
    std::vector<std::vector<float>> results;
    for (const int chunk : {1, 3, 100}) {
      Ppo ppo(table({{"chunk", whole(chunk)},
                     {"minibatches", whole(2)},
                     {"over_heads", flag(true)},
                     {"entropy_weight", number(0.3)}}),
              policy);
      ppo.update();
      EXPECT_NE(ppo.parameters(), ppo.before);
      results.push_back(ppo.parameters());
    }
    for (const auto& result : results)
      for (std::size_t i = 0; i < result.size(); ++i) EXPECT_NEAR(result[i], results[0][i], 1e-5) << policy;
  }
}

TEST(Ppo, OverHeadsIsRefusedWithAPenalty) {
  EXPECT_THROW(Ppo(table({{"over_heads", flag(true)}, {"form", text("kl")}})), InputError);
}

}  // namespace
}  // namespace emplace::learn::ppo_test
