// The requirements on policies (emplace/policy/policy.hpp), checked for every entry of policies().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "emplace/base/error.hpp"
#include "emplace/policy/policy.hpp"
#include "tests/policy/greedy.hpp"
#include "tests/policy/policy_on_trial.hpp"

namespace emplace::policy::conformance_test {
namespace {

using namespace conformance;

TEST(Policies, HaveATrialEach) {
  for (const PolicyEntry& policy : policies())
    EXPECT_TRUE(std::ranges::any_of(trials, [&](const Trial& trial) { return trial.policy == policy.name; }))
        << "give " << policy.name << " a row in `trials`, with options that make its network small";
}

class EveryPolicy : public PolicyOnTrial {};

TEST_P(EveryPolicy, HasTheSameParametersForOneProblemAsForSeveralWhereItTransfers) {
  const auto of_one = made(trial(), std::span(list_).first(1));
  const auto several = policy_->layout(), one = of_one->layout();
  const bool same = std::ranges::equal(several, one, [](const auto& a, const auto& b) { return a.shape == b.shape; });
  EXPECT_EQ(same, entry().transfers);
}

TEST_P(EveryPolicy, SamplesValidPlacementsThatKeepTheUnits) {
  perturb();
  for (const Rollout& rollout : rollouts(50)) {
    const PolicyProblem& problem = list_[rollout.problem];
    check_placement(*problem.problem, rollout.placement);
    for (std::size_t op = 0; op < problem.problem->op_count(); ++op) {
      EXPECT_TRUE(problem.problem->can_run(OpId{op}, DeviceId{std::size_t{rollout.placement.device[op]}}));
      const auto first = problem.grouping.members[problem.grouping.unit_of_op[op]].front();
      EXPECT_EQ(rollout.placement.device[op], rollout.placement.device[first]);
    }
  }
}

TEST_P(EveryPolicy, SamplesTheSameFromTheSameStream) {
  const auto first = rollouts(5);
  const auto second = rollouts(5);
  const auto other = rollouts(5, 2);
  bool differs = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].actions, second[i].actions);
    EXPECT_EQ(first[i].placement, second[i].placement);
    differs = differs || first[i].actions != other[i].actions;
  }
  EXPECT_TRUE(differs);
}

TEST_P(EveryPolicy, SamplesABatchAsItSamplesOneByOne) {
  // 20 samples of each of two problems in a batch: Placeto's network takes 16 of one problem at once.
  perturb();
  const auto single = rollouts(20);
  std::vector<std::vector<Rollout>> batch;  // a sample each
  for (const Rollout& one : single) {
    if (one.round == 0) batch.emplace_back();
    Rollout& rollout = batch.back().emplace_back();
    rollout.update = one.update;
    rollout.problem = one.problem;
    rollout.sample = one.sample;
    rollout.round = one.round;
  }
  std::vector<Stream> streams;
  for (std::uint32_t s = 0; s < batch.size(); ++s) streams.push_back(stream_of(1, s));
  const std::size_t rounds = std::max(policy_->rounds(0), policy_->rounds(1));
  for (std::size_t r = 0; r < rounds; ++r) {
    std::vector<SampleSlot> slots;
    for (std::size_t s = 0; s < batch.size(); ++s)
      if (r < batch[s].size()) slots.push_back({&streams[s], std::span(batch[s]).first(r + 1)});
    policy_->sample(slots);
    for (const SampleSlot& slot : slots) leave_starts(slot.rounds.back());
  }
  std::size_t at = 0;
  for (const std::vector<Rollout>& sample : batch)
    for (const Rollout& rollout : sample) {
      EXPECT_EQ(rollout.actions, single[at].actions);
      EXPECT_EQ(rollout.observation, single[at].observation);
      EXPECT_EQ(rollout.placement, single[at].placement);
      ++at;
    }
  EXPECT_EQ(at, single.size());
}

// Samples as a damaged checkpoint may contain them.
TEST_P(EveryPolicy, RefusesSamplesThatItCannotHaveDrawn) {
  const std::vector<Rollout> all = rollouts(1);
  const std::vector<Rollout> drawn(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(policy_->rounds(0)));
  EXPECT_NO_THROW(policy_->check(drawn));
  const auto expect_refused = [&](const char* what, const std::function<void(std::vector<Rollout>&)>& change) {
    std::vector<Rollout> changed = drawn;
    change(changed);
    EXPECT_THROW(policy_->check(changed), InputError) << what;
  };
  for (std::size_t round = 0; round < drawn.size(); ++round) {
    expect_refused("one more action", [&](auto& rounds) { rounds[round].actions.push_back(0); });
    expect_refused("one more observation", [&](auto& rounds) { rounds[round].observation.push_back(0); });
    for (std::size_t i = 0; i < drawn[round].actions.size(); ++i)
      expect_refused("an action beyond all devices", [&](auto& rounds) { rounds[round].actions[i] = 254; });
    for (std::size_t i = 0; i < drawn[round].observation.size(); ++i)
      expect_refused("not a number", [&](auto& rounds) { rounds[round].observation[i] = NAN; });
  }
  if (!drawn.back().actions.empty())
    expect_refused("one action fewer", [&](auto& rounds) { rounds.back().actions.pop_back(); });
  if (trial().policy == std::string("placeto"))
    for (const float device : {3.0F, 254.0F, 0.5F, -1.0F})
      expect_refused("an initial device that does not exist",
                     [&](auto& rounds) { rounds.front().observation.back() = device; });
  expect_refused("one more round", [&](auto& rounds) { rounds.push_back(rounds.back()); });
}

TEST_P(EveryPolicy, LogProbabilitiesAreTheSamplingFrequencies) {
  perturb(0.3);
  const std::size_t count = trial().draws;
  const auto list = rollouts(count);
  LogProbabilities log;
  policy_->forward(list, log);
  ASSERT_EQ(log.begin.size(), list.size() + 1);
  // What a sample's distribution depends on: its problem and, if the first round has no decision, that round's
  // observation.
  using Start = std::pair<std::uint32_t, std::vector<float>>;
  std::map<std::pair<Start, std::vector<std::uint8_t>>, std::pair<std::size_t, double>> seen;
  std::map<Start, std::size_t> drawn;
  std::map<std::uint32_t, double> mean_log, mean_entropy;
  Start start;
  std::vector<std::uint8_t> actions;  // of all rounds of a sample
  double total = 0;
  for (std::size_t s = 0; s < list.size(); ++s) {
    if (list[s].round == 0) {
      start = {list[s].problem, list[s].actions.empty() ? list[s].observation : std::vector<float>()};
      ++drawn[start];
      actions.clear();
      total = 0;
    }
    actions.insert(actions.end(), list[s].actions.begin(), list[s].actions.end());
    for (const double value : log.of(s)) total += value;
    mean_entropy[list[s].problem] += log.entropy[s] / static_cast<double>(count);
    if (s + 1 < list.size() && list[s + 1].round != 0) continue;
    auto& entry_of = seen[{start, actions}];
    ++entry_of.first;
    entry_of.second = total;
    mean_log[list[s].problem] += total / static_cast<double>(count);
  }
  std::map<Start, double> mass;
  for (const auto& [key, value] : seen) {
    const double p = std::exp(value.second);
    mass[key.first] += p;
    // 5 standard deviations of a binomial count, and 1 more for rare samples.
    const double expected = p * static_cast<double>(drawn[key.first]);
    EXPECT_NEAR(static_cast<double>(value.first), expected, 5 * std::sqrt(expected) + 1);
  }
  for (const auto& [from, sum] : mass) {
    EXPECT_LE(sum, 1 + 1e-6) << "problem " << from.first;
    EXPECT_GE(sum, 0.99) << "problem " << from.first;
  }
  // The entropy is the mean of -log p.
  for (const auto& [problem, entropy] : mean_entropy) EXPECT_NEAR(entropy, -mean_log[problem], 0.05) << problem;
}

class EveryPolicyWithFit : public EveryPolicy {};

TEST_P(EveryPolicyWithFit, FitsItselfToElites) {
  const auto list = rollouts(1);
  LogProbabilities before, after;
  policy_->forward(list, before);
  policy_->fit(list);
  policy_->forward(list, after);
  for (std::size_t i = 0; i < before.value.size(); ++i) {
    EXPECT_GE(after.value[i], before.value[i]) << "the only elites must become no less likely";
    EXPECT_TRUE(std::isfinite(after.value[i]));
  }
}

TEST_P(EveryPolicyWithFit, ModeIsTheLikeliestSampleAfterAFit) {
  const auto list = rollouts(1);
  policy_->fit(list);
  for (const Rollout& rollout : list)
    EXPECT_EQ(greedy(*policy_, rollout.problem).placement.device, rollout.placement.device);
}

// Placeto's observations are start times of simulations, and levels of priority are not in a placement.
TEST_P(EveryPolicy, ExpressesEveryPlacementOfItsUnitsAsASampleThatItMayHaveDrawn) {
  perturb();
  const bool is_able = trial().policy != std::string("placeto") &&
                       std::string(trial().options).find("schedule_levels") == std::string::npos;
  std::vector<Rollout> list = rollouts(3);
  Stream random{{.seed = 7}};
  for (std::size_t begin = 0; begin < list.size();) {
    const std::uint32_t p = list[begin].problem;
    const std::span<Rollout> rounds = std::span(list).subspan(begin, policy_->rounds(p));
    begin += rounds.size();
    const std::vector<std::uint32_t> labels = policy_->expressible_units(rounds);
    ASSERT_EQ(!labels.empty(), is_able);
    if (labels.empty()) {
      EXPECT_THROW(policy_->express(rounds, rounds.back().placement), BugError);
      continue;
    }
    const Grouping units = group_by(problems_[p], labels);
    const Rollout drawn = rounds.back();
    EXPECT_EQ(units.expand(units.read(drawn.placement)), drawn.placement) << "units are on one device each";
    policy_->express(rounds, drawn.placement);
    EXPECT_EQ(rounds.back().actions, drawn.actions);
    EXPECT_EQ(rounds.back().placement, drawn.placement);

    std::vector<std::uint8_t> devices;
    for (std::size_t unit = 0; unit < units.count(); ++unit) {
      std::vector<std::uint8_t> able;
      for (std::size_t d = 0; d < units.device_count(); ++d)
        if (units.allows(unit, d)) able.push_back(static_cast<std::uint8_t>(d));
      // A unit that no device can run may only be on the first.
      devices.push_back(able.empty() ? std::uint8_t{0} : able[random.below(static_cast<std::uint32_t>(able.size()))]);
    }
    const Placement wanted = units.expand(devices);
    policy_->express(rounds, wanted);
    EXPECT_EQ(rounds.back().placement, wanted);
    EXPECT_NO_THROW(policy_->check(rounds));
    LogProbabilities log;
    policy_->forward(rounds, log);
    for (const double value : log.value) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST_P(EveryPolicy, LayoutCoversItsParameters) {
  std::size_t size = 0;
  for (const Policy::ParameterInfo& info : policy_->layout()) {
    EXPECT_FALSE(info.name.empty());
    std::size_t slice = 1;
    for (const std::uint64_t dimension : info.shape) slice *= dimension;
    size += slice;
  }
  EXPECT_EQ(size, policy_->parameters().size());
  EXPECT_EQ(size, policy_->gradient().size());
}

TEST_P(EveryPolicy, IsItsParameters) {
  perturb();
  const auto expected = rollouts(5);
  const std::vector<float> parameters(policy_->parameters().begin(), policy_->parameters().end());
  policy_ = fresh();
  std::copy(parameters.begin(), parameters.end(), policy_->parameters().begin());
  const auto got = rollouts(5);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(got[i].actions, expected[i].actions);
}

TEST_P(EveryPolicy, EchoesEveryOptionAndRefusesUnknownOnes) {
  const ConfigTable echo = entry().resolve(ConfigTable{});
  for (const OptionInfo& option : entry().options()) EXPECT_TRUE(echo.contains(option.name)) << option.name;
  ConfigTable wrong;
  wrong.set("no_such_option", {std::int64_t{1}, "here"});
  EXPECT_THROW(make_policy(entry().name, wrong, list_, 1), InputError);
  EXPECT_THROW(entry().resolve(wrong), InputError);
}

INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicy, ::testing::Range<std::size_t>(0, std::size(trials)), name_of_trial);
INSTANTIATE_TEST_SUITE_P(Policies, EveryPolicyWithFit,
                         ::testing::ValuesIn(trials_where([](const Policy& policy) { return policy.has_fit(); })),
                         name_of_trial);

}  // namespace
}  // namespace emplace::policy::conformance_test
