// Noise on the Hierarchical Planner's logits (docs/papers/hierarchical.md, section 2.7): drawn once, and the same
// whenever it is reproduced.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "policy/hierarchical/group_features.hpp"
#include "policy/hierarchical/options.hpp"
#include "tests/policy/hierarchical_made.hpp"

namespace emplace::policy::hierarchical_noise_test {
namespace {

using namespace test;

class HierarchicalNoise : public ::testing::TestWithParam<const char*> {
 protected:
  // Counts the devices of draws that share (update, sample), and so grouping and noise; with one rollout of each kind.
  static std::map<std::vector<std::uint8_t>, std::pair<double, Rollout>> frequencies(Made& made, std::uint64_t update) {
    std::map<std::vector<std::uint8_t>, std::pair<double, Rollout>> seen;
    constexpr std::uint32_t count = 20000;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Rollout rollout = made.draw(update, 6, i);
      auto& [frequency, first] = seen[rollout.actions];
      if (frequency == 0) first = rollout;
      frequency += 1.0 / count;
    }
    return seen;
  }
};

TEST_P(HierarchicalNoise, GivesTheLogProbabilitiesOfTheNoisyLogits) {
  const std::string options = small + "groups = 2\nnoise_size = 2\nnoise_share = 0.4\nnoise = \"" + GetParam() + "\"\n";
  Made made(chain_5(2), options);
  Made silent(chain_5(2), quiet + "groups = 2\n");
  made.perturb(2);
  silent.perturb(2);
  for (const auto& [actions, drawn] : frequencies(made, 3)) {
    const double p = std::exp(made.log_probability(drawn.second, 5));
    EXPECT_NEAR(drawn.first, p, 5 * std::sqrt(p / 20000) + 1e-4);
    EXPECT_GT(std::abs(made.log_probability(drawn.second) - silent.log_probability(drawn.second)), 1e-3);
  }
  // There is no noise after its share of the budget.
  made.progress = 0.4;
  const Rollout late = made.draw(11, 6, 0);
  EXPECT_TRUE(late.observation.empty());
  EXPECT_DOUBLE_EQ(made.log_probability(late), silent.log_probability(late));
}

TEST_P(HierarchicalNoise, KeepsItsSizeWhenParametersMoveOn) {
  // Proximal steps compute the old sample's log-probability under new parameters; the noise must be the drawn one.
  Made made(chain_5(2), small + "groups = 2\nnoise_size = 2\nnoise = \"" + GetParam() + "\"\n");
  made.perturb(0.5);
  const Rollout rollout = made.draw(1, 0, 0);
  const double before = made.log_probability(rollout);
  made.perturb(1);
  EXPECT_NE(made.log_probability(rollout), before);
  Stream random{{.seed = 9}};
  for (float& parameter : made.policy->parameters()) parameter -= static_cast<float>(2 * random.uniform() - 1);
  EXPECT_NEAR(made.log_probability(rollout), before, 1e-4);
}

TEST_P(HierarchicalNoise, IsTheSameInChunksAndInBatchesAsForAllRowsOfEachSample) {
  // 300 ops are two chunks, 4 samples have two groupings and so two folds. They are compared with one matrix of all
  // rows for each sample; its noise is drawn here from the stream of update 3 and the grouping, as in
  // docs/papers/hierarchical.md, section 2.7.
  constexpr std::size_t count = 300, groups = 5;
  const std::string chosen = small + "groups = 5\nplacements_per_grouping = 2\nposition_waves = 3\n" +
                             "grouper_entropy = 0.5\nnoise_size = 0.7\nnoise = \"" + GetParam() + "\"\n";
  Made made(staggered_ops(count), chosen);
  made.perturb(0.3);
  std::vector<Rollout> rollouts(4);
  std::vector<Stream> streams;
  std::vector<SampleSlot> slots;
  for (std::uint32_t s = 0; s < 4; ++s) {
    rollouts[s].update = 3;
    rollouts[s].progress = 0;
    rollouts[s].sample = s;
    streams.push_back(made.stream(s));
  }
  for (std::size_t s = 0; s < 4; ++s) slots.push_back({&streams[s], {&rollouts[s], 1}});
  made.policy->sample(slots);
  for (std::uint32_t s = 0; s < 4; ++s) {
    const Rollout alone = made.draw(3, s, s);
    EXPECT_EQ(rollouts[s].actions, alone.actions);
    EXPECT_EQ(rollouts[s].observation, alone.observation);
  }
  const auto groups_of = [&](std::size_t s) { return std::span(rollouts[s].actions).first(count); };
  EXPECT_TRUE(std::ranges::equal(groups_of(0), groups_of(1)));
  EXPECT_FALSE(std::ranges::equal(groups_of(1), groups_of(2)));

  LogProbabilities log, alone;
  for (const Rollout& rollout : rollouts) {
    made.policy->forward({&rollout, 1}, log);
    alone.value.insert(alone.value.end(), log.value.begin(), log.value.end());
  }
  made.policy->forward(rollouts, log);
  ASSERT_EQ(log.value.size(), 4 * (count + groups));
  for (std::size_t i = 0; i < log.value.size(); ++i) ASSERT_NEAR(log.value[i], alone.value[i], 1e-5);
  std::vector<double> coefficients(log.value.size());
  for (std::size_t i = 0; i < coefficients.size(); ++i) coefficients[i] = std::sin(static_cast<double>(i));
  std::ranges::fill(made.policy->gradient(), 0.0F);
  made.policy->backward(rollouts, coefficients, 0.1);

  WholeGrouper whole(made, chosen);
  nn::Tape<float>& tape = whole.tape;
  const nn::Matrix<const float> values = tape.value(whole.logits);
  for (std::size_t s = 0; s < 4; ++s) {
    Stream stream(
        {.seed = 1, .purpose = Purpose::grouper_noise, .update = 3, .index = static_cast<std::uint32_t>(s / 2)});
    const nn::Matrix<float> noise = tape.matrix(count, groups);
    for (std::size_t i = 0; i < count; ++i) {
      double squares = 0;
      for (const float logit : values.row(i)) squares += static_cast<double>(logit) * logit;
      const double rms = std::sqrt(squares / groups);
      for (float& value : noise.row(i)) {
        if (std::string(GetParam()) == "uniform") {
          value = static_cast<float>(0.7 * (2 * (stream.bits32() / 4294967296.0) - 1));
        } else {
          const double radius = std::sqrt(-2 * std::log(1 - stream.uniform()));
          value = static_cast<float>(0.7 * rms * radius * std::cos(2 * std::numbers::pi * stream.uniform()));
        }
      }
      if (std::string(GetParam()) == "rms") {
        ASSERT_NEAR(rollouts[s].observation[i], rms, 1e-5);
      }
    }
    const auto rows = nn::categorical<float>(tape, add(tape, whole.logits, tape.constant(noise)), {});
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_NEAR(log.of(s)[i], rows.log_probability(i, rollouts[s].actions[i]), 1e-4)
          << "sample " << s << ", op " << i;
    nn::seed<float>(tape, rows, groups_of(s), std::span(coefficients).subspan(log.begin[s], count), 0.1 * 0.5);
  }
  tape.backward();
  whole.expect_gradient(made, 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Kinds, HierarchicalNoise, ::testing::Values("uniform", "rms"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace emplace::policy::hierarchical_noise_test
