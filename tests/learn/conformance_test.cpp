// The requirements on learners (learn/learner.hpp), checked for every entry of learners().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "learn/sampling.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::conformance_test {
namespace {

using namespace test;

// With a policy that has closed forms, one without them, and one with several rounds.
class EveryLearner : public ::testing::TestWithParam<std::tuple<std::size_t, const char*>> {
 protected:
  [[nodiscard]] const LearnerEntry& entry() const { return learners()[std::get<0>(GetParam())]; }
  [[nodiscard]] std::string policy() const { return std::get<1>(GetParam()); }
  [[nodiscard]] std::unique_ptr<Training> training(std::uint64_t seed = 1, ConfigTable options = ConfigTable("test"),
                                                   const BudgetUsed& budget_used = {}) const {
    std::vector<Problem> problems;
    problems.push_back(chain_5(2));
    problems.push_back(two_chains(1));
    for (const OptionInfo& option : entry().options())
      if (option.name == "fit_steps") options.set(option.name, whole(5));
    return std::make_unique<Training>(std::move(problems), entry().name, options, seed, Schedule::fifo, policy(),
                                      budget_used);
  }
};

std::vector<float> parameters(const Training& t) {
  return {t.policy->parameters().begin(), t.policy->parameters().end()};
}

TEST_P(EveryLearner, ReportsTheColumnsOfItsEntryWithFiniteValuesInEveryUpdate) {
  const auto t = training();
  for (int update = 0; update < 25; ++update) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : t->trainer->step().learner) {
      keys.push_back(key);
      EXPECT_TRUE(std::isfinite(value)) << key;
    }
    EXPECT_EQ(keys, entry().columns);
  }
}

TEST_P(EveryLearner, ContinuesToTheSameBitsAfterSaveAndLoad) {
  // Interrupted at each of 12 updates, so in every state of a schedule; compared 12 updates later.
  struct Moment {
    std::vector<float> parameters;
    State learner, trainer;
  };
  const auto whole_run = training();
  std::vector<Moment> moments;
  for (int update = 0; update <= 24; ++update) {
    moments.push_back({parameters(*whole_run), whole_run->learner->save(), whole_run->trainer->save()});
    whole_run->trainer->step();
  }
  for (std::size_t stop = 1; stop <= 12; ++stop) {
    const auto resumed = training();
    std::ranges::copy(moments[stop].parameters, resumed->policy->parameters().begin());
    resumed->learner->load(moments[stop].learner, *resumed->policy);
    resumed->trainer->load(moments[stop].trainer);
    EXPECT_EQ(resumed->learner->save(), moments[stop].learner);
    for (int update = 0; update < 12; ++update) resumed->trainer->step();

    EXPECT_EQ(parameters(*resumed), moments[stop + 12].parameters);
    EXPECT_EQ(resumed->learner->save(), moments[stop + 12].learner);
    EXPECT_EQ(resumed->trainer->save(), moments[stop + 12].trainer);
  }
}

// Without post, which has parameters of its own for each problem, all of which are in each update.
class EveryLearnerOfSharedParameters : public EveryLearner {};

TEST_P(EveryLearnerOfSharedParameters, LearnsFromSomeOfItsProblemsAsIfThereWereNoOthers) {
  // Both policies are made for both problems. One learner trains on both, but its first three updates sample only the
  // first.
  const auto both = training();
  const auto alone = training();
  ConfigTable options("test");
  for (const OptionInfo& option : entry().options())
    if (option.name == "fit_steps") options.set(option.name, whole(5));
  const auto of_one = entry().make(options, {std::span(alone->policy_problems).first(1), 1});
  for (std::uint64_t update = 1; update <= 3; ++update) {
    std::vector<policy::Rollout> rollouts;
    const SamplingRequest request{
        .seed = 1, .update = update, .samples = both->learner->samples_per_update(), .problems = {0}};
    for (auto& [t, learner] : {std::pair(both.get(), both->learner.get()), {alone.get(), of_one.get()}}) {
      sample_rollouts(*t->policy, *t->evaluator, t->policy_problems, request, rollouts);
      EXPECT_EQ(rollouts.back().problem, 0U);
      learner->update(*t->policy, rollouts);
    }
    EXPECT_EQ(parameters(*both), parameters(*alone)) << update;
  }
  EXPECT_NE(parameters(*both), parameters(*training()));
}

TEST_P(EveryLearner, GivesOtherResultsForOtherSeeds) {
  const auto one = training(1);
  const auto two = training(2);
  for (int update = 0; update < 2; ++update) {
    one->trainer->step();
    two->trainer->step();
  }
  EXPECT_NE(parameters(*one), parameters(*two));
}

TEST_P(EveryLearner, KeepsParametersFiniteWhenEverythingIsInfeasible) {
  // 6 bytes on devices of 1 byte: nothing fits anywhere.
  Training t(
      tiny({{"gpu:0", "gpu", 1}, {"gpu:1", "gpu", 1}}, {{"a", {5, 5}, "", 6}, {"b", {5, 5}, "", 6}}, {{0, 1}}, 3),
      entry().name, {}, 1, policy());
  for (int update = 0; update < 12; ++update) {
    const UpdateReport report = t.trainer->step();
    EXPECT_EQ(report.feasible_share, 0);
    EXPECT_TRUE(std::isnan(report.mean_seconds));
    for (const auto& [key, value] : report.learner) EXPECT_TRUE(std::isfinite(value)) << key;
  }
  for (const float p : t.policy->parameters()) EXPECT_TRUE(std::isfinite(p));
  EXPECT_FALSE(t.trainer->best()[0].outcome.feasible());
}

TEST_P(EveryLearner, EchoesEveryOptionAndRefusesUnknownOnes) {
  const ConfigTable echo = entry().resolve(ConfigTable{});
  for (const OptionInfo& option : entry().options()) {
    // A default that means "none" cannot be written in a file.
    EXPECT_TRUE(echo.contains(option.name) || option.default_value.empty()) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
  }
  EXPECT_THROW(entry().make(table({{"no_such_option", whole(1)}}), {}), InputError);
  EXPECT_THROW(entry().resolve(table({{"no_such_option", whole(1)}})), InputError);
}

TEST_P(EveryLearner, EndsItsSchedulesAtTheirShareOfAnyBudget) {
  const ConfigTable all = entry().resolve(ConfigTable{});
  for (const std::string name : {"learning_rate", "entropy_weight"}) {
    if (!all.contains(name + "_share")) continue;
    for (const std::uint64_t updates : {10U, 40U}) {
      ConfigTable options("test");
      for (const auto& [key, value] : {std::pair{name, 0.08}, {name + "_end", 0.02}, {name + "_share", 0.5}})
        options.set(key, number(value));
      const auto t = training(1, options, budget_of(updates));
      double first = 0, last = 0;
      for (std::uint64_t update = 0; update < updates; ++update) {
        const UpdateReport report = t->trainer->step();
        const auto found = report.learner.find(name);
        if (found == report.learner.end()) break;
        if (update == 0) first = found->second;
        if (2 * update == updates) last = found->second;
      }
      if (first == 0) continue;
      EXPECT_DOUBLE_EQ(first, 0.08) << name;
      EXPECT_DOUBLE_EQ(last, 0.02) << name << " of " << updates;
    }
  }
}

TEST_P(EveryLearner, RefusesAStateOfAnotherShape) {
  const auto t = training();
  for (int update = 0; update < 3; ++update) t->trainer->step();
  const State state = t->learner->save();
  for (const auto& [name, array] : state) {
    State missing = state;
    missing.erase(name);
    EXPECT_THROW(t->learner->load(missing, *t->policy), InputError) << name;
    State longer = state;
    std::visit([](auto& values) { values.push_back({}); }, longer[name].data);
    EXPECT_THROW(t->learner->load(longer, *t->policy), InputError) << name;
  }
}

std::string name_of_pair(const ::testing::TestParamInfo<EveryLearner::ParamType>& pair) {
  std::string name = learners()[std::get<0>(pair.param)].name + "_with_" + std::get<1>(pair.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Learners, EveryLearner,
                         ::testing::Combine(::testing::Range<std::size_t>(0, learners().size()),
                                            ::testing::Values("post", "chain", "episode")),
                         name_of_pair);
INSTANTIATE_TEST_SUITE_P(Learners, EveryLearnerOfSharedParameters,
                         ::testing::Combine(::testing::Range<std::size_t>(0, learners().size()),
                                            ::testing::Values("chain", "episode")),
                         name_of_pair);

TEST(Learners, RunWithEveryPolicyOfTheProgram) {
  for (const LearnerEntry& learner : learners())
    for (const policy::PolicyEntry& policy : policy::policies()) {
      ConfigTable options("test");
      for (const OptionInfo& option : learner.options()) {
        if (option.name == "fit_steps" || option.name == "ppo_steps") options.set(option.name, whole(2));
        if (option.name == "samples_per_update") options.set(option.name, whole(4));
        if (option.name == "window") options.set(option.name, whole(8));
      }
      Training t(chain_5(2), learner.name, options, 1, policy.name);
      const auto before = parameters(t);
      for (int update = 0; update < 3; ++update)
        for (const auto& [key, value] : t.trainer->step().learner)
          EXPECT_TRUE(std::isfinite(value)) << learner.name << " with " << policy.name << ": " << key;
      EXPECT_NE(parameters(t), before) << learner.name << " with " << policy.name;
    }
}

}  // namespace
}  // namespace emplace::learn::conformance_test
