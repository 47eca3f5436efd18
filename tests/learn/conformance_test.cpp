// What every learner promises (emplace/learn/learner.hpp), checked for every entry of learners().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "learn/training.hpp"

namespace emplace {
namespace {

using namespace testing;
using ::testing::HasSubstr;

class EveryLearner : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const LearnerEntry& entry() const { return learners()[GetParam()]; }
  [[nodiscard]] std::unique_ptr<Training> training(std::uint64_t seed = 1) const {
    std::vector<Problem> problems;
    problems.push_back(chain_5(2));
    problems.push_back(two_chains(1));
    return std::make_unique<Training>(std::move(problems), entry().name, ConfigTable{}, seed);
  }
};

std::vector<float> parameters(const Training& t) {
  return {t.policy->parameters().begin(), t.policy->parameters().end()};
}

TEST_P(EveryLearner, ReportsTheSameFiniteKeysEveryUpdate) {
  const auto t = training();
  std::vector<std::string> first;
  for (int update = 0; update < 25; ++update) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : t->trainer->step().learner) {
      keys.push_back(key);
      EXPECT_TRUE(std::isfinite(value)) << key;
    }
    if (first.empty()) first = keys;
    EXPECT_EQ(keys, first);
  }
}

TEST_P(EveryLearner, ContinuesToTheSameBitsAfterSaveAndLoad) {
  // Interrupted at each of 12 updates, so in every state of a schedule.
  for (int stop = 1; stop <= 12; ++stop) {
    const auto whole_run = training();
    const auto begun = training();
    for (int update = 0; update < stop + 12; ++update) whole_run->trainer->step();
    for (int update = 0; update < stop; ++update) begun->trainer->step();

    const auto resumed = training();
    std::copy_n(begun->policy->parameters().begin(), begun->policy->parameters().size(),
                resumed->policy->parameters().begin());
    resumed->learner->load(begun->learner->save());
    resumed->trainer->load(begun->trainer->save());
    EXPECT_EQ(resumed->learner->save(), begun->learner->save());
    for (int update = 0; update < 12; ++update) resumed->trainer->step();

    EXPECT_EQ(parameters(*resumed), parameters(*whole_run));
    EXPECT_EQ(resumed->learner->save(), whole_run->learner->save());
    EXPECT_EQ(resumed->trainer->save(), whole_run->trainer->save());
  }
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
      entry().name);
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
    EXPECT_TRUE(echo.contains(option.name)) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
  }
  EXPECT_THROW(entry().make(table({{"no_such_option", whole(1)}}), {}), InputError);
  EXPECT_THROW(entry().resolve(table({{"no_such_option", whole(1)}})), InputError);
}

TEST_P(EveryLearner, RefusesAStateOfAnotherShape) {
  const auto t = training();
  for (int update = 0; update < 3; ++update) t->trainer->step();
  const State state = t->learner->save();
  for (const auto& [name, array] : state) {
    State missing = state;
    missing.erase(name);
    EXPECT_THROW(training()->learner->load(missing), InputError) << name;
    State longer = state;
    std::visit([](auto& values) { values.push_back({}); }, longer[name].data);
    EXPECT_THROW(training()->learner->load(longer), InputError) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Learners, EveryLearner, ::testing::Range<std::size_t>(0, learners().size()),
                         [](const auto& parameter) {
                           std::string name = learners()[parameter.param].name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A policy that can only sample and differentiate.
class PlainPolicy final : public Policy {
 public:
  void sample(std::span<const Draw>) const override {}
  void forward(std::span<const Rollout>, LogProbabilities&) override {}
  void backward(std::span<const Rollout>, std::span<const double>, double) override {}
  std::span<float> parameters() override { return {}; }
  std::span<float> gradient() override { return {}; }
  [[nodiscard]] std::vector<ParameterInfo> layout() const override { return {}; }
};

TEST(Learners, ThatRefitRefuseAPolicyWithoutAClosedForm) {
  for (const char* name : {"post", "cross-entropy"}) {
    PlainPolicy policy;
    const auto learner = find_entry(learners(), name, "learner").make({}, {});
    try {
      learner->update(policy, std::vector<Rollout>(learner->samples_per_update()));
      FAIL() << name;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("closed"));
    }
  }
}

}  // namespace
}  // namespace emplace
