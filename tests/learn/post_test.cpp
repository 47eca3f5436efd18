// Post's learner against docs/papers/post.md, section 7, items 1 to 3, 8 and 9; hand-worked numbers of section 2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::post_test {
namespace {

using namespace test;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::FloatNear;
using ::testing::HasSubstr;

Problem free_ops(std::size_t count, std::size_t devices) {
  std::vector<TinyOp> list;
  for (std::size_t i = 0; i < count; ++i) list.push_back({"op" + std::to_string(i), std::vector<double>(devices, 1)});
  return tiny(plain_devices(devices), list, {});
}

// Post's policy and learner without an evaluator: outcomes are given by hand.
struct ByHand {
  ByHand(std::size_t units, std::size_t devices, const ConfigTable& learner_options, double eps = 0.1)
      : problem(free_ops(units, devices)) {
    list.push_back({&problem, make_grouping(problem, GroupingKind::op)});
    policy = policy::make_policy("post", table({{"eps", number(eps)}}), list, 1);
    learner = find_entry(learners(), "post", "learner").make(learner_options, {list});
  }
  std::map<std::string, double> update(const std::vector<policy::Rollout>& batch) {
    return learner->update(*policy, batch);
  }
  [[nodiscard]] std::vector<float> logits() const { return {policy->parameters().begin(), policy->parameters().end()}; }
  Problem problem;
  std::vector<policy::PolicyProblem> list;
  std::unique_ptr<policy::Policy> policy;
  std::unique_ptr<Learner> learner;
};

TEST(PostLearner, RefitsInPlaceOfEveryTenthProximalUpdate) {
  // Item 1: L=2400, K=20, N=200: 120 updates, refits at n = 200, 400, ..., so 12; the other 108 are proximal.
  Training training(chain_5(2), "post");
  EXPECT_EQ(training.learner->default_updates(), 120u);
  int refits = 0;
  int proximal = 0;
  while (training.trainer->updates() < 120) {
    const UpdateReport report = training.trainer->step();
    const bool refit = report.learner.at("refit") == 1;
    EXPECT_EQ(refit, report.evaluations % 200 == 0);
    ++(refit ? refits : proximal);
  }
  EXPECT_EQ(refits, 12);
  EXPECT_EQ(proximal, 108);
  EXPECT_EQ(training.trainer->evaluations(), 2400u);
}

const std::vector<double> sheet_times = {5, 3, 9, 4, 8, 7, 3, 6, 10, 2};

std::vector<policy::Rollout> sheet_batch() {
  std::vector<policy::Rollout> batch;
  for (const double time : sheet_times) batch.push_back(timed({1, 0}, time));
  batch[1].actions = {0, 1};
  batch[6].actions = {0, 0};
  batch[9].actions = {0, 1};
  return batch;
}

TEST(PostLearner, RefitsToTheElitesOfTheWorkedExample) {
  // Item 2: rho=0.2, N=10: gamma is the 2nd smallest of 5 3 9 4 8 7 3 6 10 2, which is 3; elites are samples 2, 7, 10.
  ByHand post(2, 2, table({{"samples_per_update", whole(10)}, {"window", whole(10)}, {"elite_fraction", number(0.2)}}));
  const auto metrics = post.update(sheet_batch());
  EXPECT_EQ(metrics.at("elites"), 3);
  EXPECT_DOUBLE_EQ(metrics.at("gamma_s"), 3e-3);
  EXPECT_THAT(post.logits(), ElementsAre(FloatNear(-0.051293f, 1e-6f), FloatNear(-2.995732f, 1e-6f),
                                         FloatNear(-1.049822f, 1e-6f), FloatNear(-0.430783f, 1e-6f)));
}

TEST(PostLearner, NeverTakesInfeasibleSamplesAsElites) {
  // The three elites of the worked example become infeasible: the 2 fastest others are 4 (sample 4) and 5 (sample 1).
  ByHand post(2, 2, table({{"samples_per_update", whole(10)}, {"window", whole(10)}, {"elite_fraction", number(0.2)}}));
  auto batch = sheet_batch();
  for (const std::size_t i : {1, 6, 9}) batch[i].outcome.why = Infeasible::memory;
  const auto metrics = post.update(batch);
  EXPECT_EQ(metrics.at("elites"), 2);
  EXPECT_DOUBLE_EQ(metrics.at("gamma_s"), 5e-3);
  // Both took (1, 0): [0.05, 0.95; 0.95, 0.05].
  EXPECT_THAT(post.logits(), ElementsAre(FloatNear(std::log(0.05f), 1e-6f), FloatNear(std::log(0.95f), 1e-6f),
                                         FloatNear(std::log(0.95f), 1e-6f), FloatNear(std::log(0.05f), 1e-6f)));
}

TEST(PostLearner, OnlyMixesWhereNothingIsFeasible) {
  ByHand post(1, 2, table({{"samples_per_update", whole(2)}, {"window", whole(2)}}));
  post.policy->parameters()[0] = std::log(0.8f);
  post.policy->parameters()[1] = std::log(0.2f);
  auto batch = std::vector{timed({0}, 1), timed({1}, 2)};
  for (policy::Rollout& rollout : batch) rollout.outcome.why = Infeasible::memory;
  EXPECT_EQ(post.update(batch).at("elites"), 0);
  // 0.9 * 0.8 + 0.05 = 0.77.
  EXPECT_THAT(post.logits(), ElementsAre(FloatNear(std::log(0.77f), 1e-6f), FloatNear(std::log(0.23f), 1e-6f)));
}

TEST(PostLearner, WindowLastForgetsAndWindowAllKeepsElites) {
  // K=2, N=2, rho=0.5: one elite. First batch: (0) in 1 ms. Second: (1) in 2 and 3 ms.
  for (const auto& [window, expected] : {std::pair{"last", 1}, {"all", 0}}) {
    ByHand post(1, 2,
                table({{"samples_per_update", whole(2)},
                       {"window", whole(2)},
                       {"elite_fraction", number(0.5)},
                       {"ce_window", text(window)}}));
    post.update({timed({0}, 1), timed({1}, 4)});
    post.update({timed({1}, 2), timed({1}, 3)});
    EXPECT_EQ(greedy(*post.policy, 0).placement.device.front(), expected) << window;
  }
}

TEST(PostLearner, FirstProximalStepOfTheWorkedExample) {
  // Item 3: d=0 with A=+1 (T=1), d=1 with A=-1 (T=3): mean 2, deviation 1. Gradient (0.5, -0.5), eta=0.1.
  for (const char* form : {"kl", "clip"})
    for (const char* ratio : {"per_op", "joint"}) {
      ByHand post(1, 2,
                  table({{"samples_per_update", whole(2)},
                         {"window", whole(200)},
                         {"ppo_steps", whole(1)},
                         {"form", text(form)},
                         {"ratio", text(ratio)}}));
      post.update({timed({0}, 1), timed({1}, 3)});
      EXPECT_THAT(post.logits(), ElementsAre(FloatNear(0.05f, 1e-7f), FloatNear(-0.05f, 1e-7f))) << form << ratio;
    }
}

TEST(PostLearner, SecondStepHasTheRatioAndTheKlPenalty) {
  // After the first step f = 1/(1+e^-0.1) = 0.5249792, r_0 = 1.0499584, r_1 = 0.9500416.
  //   surrogate du_0: (1/2) [r_0 (1 - f) A_0 - r_1 f A_1] = 0.5 [1.0499584 x 0.4750208 + 0.9500416 x 0.5249792]
  //                 = 0.5 [0.4987520 + 0.4987520] = 0.4987520
  //   KL du_0: f - f_old = 0.0249792.  kl: u_0 = 0.05 + 0.1 (0.4987520 - 0.0249792) = 0.0973773;  clip: 0.0998752.
  for (const auto& [form, expected] : {std::pair{"kl", 0.0973773f}, {"clip", 0.0998752f}}) {
    ByHand post(
        1, 2,
        table(
            {{"samples_per_update", whole(2)}, {"window", whole(200)}, {"ppo_steps", whole(2)}, {"form", text(form)}}));
    post.update({timed({0}, 1), timed({1}, 3)});
    EXPECT_THAT(post.logits(), ElementsAre(FloatNear(expected, 1e-6f), FloatNear(-expected, 1e-6f))) << form;
  }
}

TEST(PostLearner, ClipFormStopsAtTheClipRatio) {
  // One unit, two devices: with A = +-1 both terms are clipped once r_0 > 1.2, that is f > 0.6, u_0 - u_1 > log 1.5.
  ByHand post(1, 2,
              table({{"samples_per_update", whole(2)},
                     {"window", whole(200)},
                     {"ppo_steps", whole(500)},
                     {"form", text("clip")}}));
  post.update({timed({0}, 1), timed({1}, 3)});
  const double gap = post.logits()[0] - post.logits()[1];
  EXPECT_GT(gap, std::log(1.5));
  EXPECT_LT(gap, std::log(1.5) + 0.11) << "one step of at most 0.1 beyond the border";
}

TEST(PostLearner, MergedTermsGiveTheSumOverSamples) {
  // The learner adds up equal heads first; the result must be the plain sum (section 2.4) for 12 samples of 4 units and
  // 3 devices.
  for (const char* form : {"kl", "clip"}) {
    ByHand post(4, 3,
                table({{"samples_per_update", whole(12)},
                       {"window", whole(1200)},
                       {"ppo_steps", whole(7)},
                       {"form", text(form)},
                       {"learning_rate", number(0.5)}}));
    Stream random{{.seed = 4}};
    std::vector<policy::Rollout> batch;
    for (int s = 0; s < 12; ++s) {
      std::vector<std::uint8_t> actions;
      for (int m = 0; m < 4; ++m) actions.push_back(static_cast<std::uint8_t>(random.below(3)));
      batch.push_back(timed(actions, 1 + random.below(9)));
    }
    post.update(batch);

    double mean = 0, variance = 0;
    for (const policy::Rollout& r : batch) mean += to_seconds(r.outcome.makespan) / 12;
    for (const policy::Rollout& r : batch) variance += std::pow(to_seconds(r.outcome.makespan) - mean, 2) / 12;
    std::vector<double> u(12, 0.0);
    const auto softmax = [](const double* row) {
      std::vector<double> f(3);
      double sum = 0;
      for (int j = 0; j < 3; ++j) sum += f[j] = std::exp(row[j]);
      for (double& p : f) p /= sum;
      return f;
    };
    for (int step = 0; step < 7; ++step) {
      std::vector<double> next = u;
      for (int m = 0; m < 4; ++m) {
        const auto f = softmax(&u[3 * m]);
        for (const policy::Rollout& r : batch) {
          const double a = (mean - to_seconds(r.outcome.makespan)) / std::sqrt(variance);
          const int d = r.actions[m];
          const double ratio = f[d] * 3;
          const bool clipped = form == std::string("clip") && ((a > 0 && ratio > 1.2) || (a < 0 && ratio < 0.8));
          for (int j = 0; j < 3 && !clipped; ++j) next[3 * m + j] += 0.5 * a * ratio * ((j == d) - f[j]) / 12;
        }
        if (form == std::string("kl"))
          for (int j = 0; j < 3; ++j) next[3 * m + j] -= 0.5 * (f[j] - 1.0 / 3);
      }
      u = next;
    }
    for (int i = 0; i < 12; ++i) EXPECT_NEAR(post.logits()[i], u[i], 2e-6) << form << " cell " << i;
  }
}

TEST(PostLearner, BaselineFollowsTheMeanAndRestartsAfterARefit) {
  // One step of eta = 1, joint = per_op for one unit. T: batch 1 (1, 3): b = 2. Then b = 0.9 x 2 + 0.1 x 2 = 2.
  // Batch 2 (3, 5): A = (2-3, 2-5)/1 = (-1, -3), so b = 2 + 0.1 x 2 = 2.2 after use. The refit comes with batch 3.
  // Batch 4 (3, 5): b = 4 again, A = (1, -1).
  ByHand post(1, 2,
              table({{"samples_per_update", whole(2)},
                     {"window", whole(6)},
                     {"ppo_steps", whole(1)},
                     {"learning_rate", number(1)},
                     {"form", text("clip")}}));
  const auto step = [&](double t0, double t1) {
    std::fill(post.policy->parameters().begin(), post.policy->parameters().end(), 0.0f);
    post.update({timed({0}, t0), timed({1}, t1)});
    return post.logits()[0];
  };
  EXPECT_NEAR(step(1, 3), 0.5, 1e-6);
  // (1/2) [A_0 (1 - 1/2) - A_1 (1/2)] = (1/2) [-1/2 + 3/2] = 0.5; the baseline shows in a batch of one action.
  std::fill(post.policy->parameters().begin(), post.policy->parameters().end(), 0.0f);
  post.update({timed({0}, 3), timed({0}, 5)});
  EXPECT_NEAR(post.logits()[0], 0.5 * (-1 - 3) * 0.5, 1e-6);
  step(1, 3);  // the refit
  std::fill(post.policy->parameters().begin(), post.policy->parameters().end(), 0.0f);
  post.update({timed({0}, 3), timed({0}, 5)});
  EXPECT_NEAR(post.logits()[0], 0, 1e-6) << "restarted: advantages +1 and -1 of one action cancel";
}

TEST(PostLearner, InfeasibleSamplesCountAsTwiceTheSlowest) {
  // T = 1 and infeasible -> cap 2: mean 1.5, deviation 0.5: A = (1, -1), as in the worked example.
  ByHand post(1, 2, table({{"samples_per_update", whole(2)}, {"window", whole(200)}, {"ppo_steps", whole(1)}}));
  auto batch = std::vector{timed({0}, 1), timed({1}, 0.1)};
  batch[1].outcome.why = Infeasible::memory;
  post.update(batch);
  EXPECT_NEAR(post.logits()[0], 0.05, 1e-6);
}

TEST(PostLearner, RemembersTheSlowestTimeOfRefitsToo) {
  // The second update refits to the samples of time 1. What an infeasible sample of the third costs, 6 or 20, comes
  // from that batch alone.
  const auto logits_after = [](double slowest) {
    ByHand post(1, 2, table({{"samples_per_update", whole(3)}, {"window", whole(6)}}));
    post.update({timed({0}, 1), timed({0}, 1), timed({0}, 1)});
    EXPECT_EQ(post.update({timed({0}, 1), timed({1}, 2), timed({1}, slowest)}).at("refit"), 1);
    auto batch = std::vector{timed({0}, 1), timed({1}, 2), timed({1}, 0.1)};
    batch[2].outcome.why = Infeasible::memory;
    post.update(batch);
    return post.logits();
  };
  EXPECT_NE(logits_after(3), logits_after(10));
}

TEST(PostLearner, LearnsNothingFromInfeasibleSamplesAlone) {
  ByHand post(1, 2, table({{"samples_per_update", whole(2)}, {"window", whole(200)}}));
  auto batch = std::vector{timed({0}, 1), timed({1}, 2)};
  for (policy::Rollout& rollout : batch) rollout.outcome = {.why = Infeasible::unsupported_op};
  EXPECT_EQ(post.update(batch).at("beta"), 1) << "no step, so the penalty does not adapt either";
  EXPECT_THAT(post.logits(), Each(FloatEq(0)));
}

TEST(PostLearner, LearnsNothingFromEqualTimes) {
  // Item 8.
  ByHand post(2, 2, table({{"samples_per_update", whole(3)}, {"window", whole(300)}}));
  post.update({timed({0, 1}, 2), timed({1, 1}, 2), timed({0, 0}, 2)});
  EXPECT_THAT(post.logits(), Each(FloatEq(0)));
}

TEST(PostLearner, BetaDoublesAboveAndHalvesBelowTheTarget) {
  // Large steps: KL far above 0.01; tiny steps: far below. Limits 64 and 1/64.
  for (const auto& [rate, first, last] : {std::tuple{0.5, 2.0, 64.0}, {1e-6, 0.5, 1.0 / 64}}) {
    ByHand post(1, 2,
                table({{"samples_per_update", whole(2)},
                       {"window", whole(2000)},
                       {"learning_rate", number(rate)},
                       {"ppo_steps", whole(1)}}));
    double beta = 0;
    for (int update = 0; update < 8; ++update) {
      std::fill(post.policy->parameters().begin(), post.policy->parameters().end(), 0.0f);
      beta = post.update({timed({0}, 1), timed({1}, 3)}).at("beta");
      if (update == 0) {
        EXPECT_EQ(beta, first);
      }
    }
    EXPECT_EQ(beta, last);
  }
}

// ---- Items 8 and 9 ----

TEST(PostLearner, KeepsEveryProbabilityAboveEpsOverDAfterARefit) {
  Training training(two_chains(1), "post");
  while (training.trainer->updates() < 120) {
    const bool refit = training.trainer->step().learner.at("refit") == 1;
    const auto u = training.policy->parameters();
    for (std::size_t row = 0; row < u.size(); row += 2) {
      ASSERT_TRUE(std::isfinite(u[row]) && std::isfinite(u[row + 1]));
      if (!refit) continue;
      // eps = clamp(2 / 8, 0.01, 0.1) = 0.1, D = 2. A float logarithm keeps seven digits.
      EXPECT_GE(std::exp(u[row]), 0.05 * (1 - 1e-6));
      EXPECT_GE(std::exp(u[row + 1]), 0.05 * (1 - 1e-6));
      EXPECT_NEAR(std::exp(u[row]) + std::exp(u[row + 1]), 1, 1e-6);
    }
  }
}

TEST(PostLearner, TakesOnlyTheSplitsOfTheMemoryToyAsElites) {
  // Item 9: a -> b of 5 ms, 6 bytes each, devices of 10 bytes, x = 3: together 12 > 10; split 5 + 3 + 5 = 13.
  Training training(
      tiny({{"gpu:0", "gpu", 10}, {"gpu:1", "gpu", 10}}, {{"a", {5, 5}, "", 6}, {"b", {5, 5}, "", 6}}, {{0, 1}}, 3),
      "post");
  while (training.trainer->updates() < 120) {
    const UpdateReport report = training.trainer->step();
    if (report.learner.at("refit") == 1) {
      EXPECT_DOUBLE_EQ(report.learner.at("gamma_s"), 13e-3);
    }
    if (report.feasible_share > 0) {
      EXPECT_DOUBLE_EQ(report.mean_seconds, 13e-3);
    }
  }
  EXPECT_EQ(training.trainer->best()[0].outcome.makespan, 13 * ms);
  const auto best = greedy(*training.policy, 0).placement.device;
  EXPECT_NE(best[0], best[1]);
}

// ---- Options ----

TEST(PostLearner, RefusesAWindowThatBatchesDoNotFill) {
  try {
    find_entry(learners(), "post", "learner").make(table({{"window", whole(30)}}), {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("window (30) must be a multiple of samples_per_update (20)"));
  }
}

TEST(PostLearner, RefusesBatchesOfOneSampleWhereStepsCompareThem) {
  try {
    ByHand hand(2, 2, table({{"samples_per_update", whole(1)}, {"window", whole(10)}}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("samples_per_update is 1, wanted more"));
  }
  const ConfigTable refits =
      table({{"samples_per_update", whole(1)}, {"window", whole(10)}, {"steps", text("cross-entropy")}});
  EXPECT_NO_THROW(ByHand(2, 2, refits));
}

TEST(PostLearner, RunsItsPartsAlone) {
  for (const auto& [steps, refits] : {std::pair{"cross-entropy", 12}, {"proximal", 0}}) {
    Training training(chain_5(2), "post", table({{"steps", text(steps)}}));
    int seen = 0;
    while (training.trainer->updates() < 120) {
      const std::vector<float> before(training.policy->parameters().begin(), training.policy->parameters().end());
      const bool refit = training.trainer->step().learner.at("refit") == 1;
      seen += refit;
      const std::vector<float> after(training.policy->parameters().begin(), training.policy->parameters().end());
      if (steps == std::string("cross-entropy") && !refit) {
        EXPECT_EQ(before, after);
      }
    }
    EXPECT_EQ(seen, refits) << steps;
  }
}

}  // namespace
}  // namespace emplace::learn::post_test
