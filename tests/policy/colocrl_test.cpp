// ColocRL's network and distribution (docs/papers/colocrl.md, section 7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "policy/colocrl/network.hpp"
#include "tests/policy/enumerated.hpp"
#include "tests/policy/network_check.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::policy::colocrl_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

constexpr const char* small = "hidden = 6\ntype_width = 2\ndevice_width = 2\nshape_outputs = 1\nshape_dimensions = 1";

TEST(Colocrl, HasTheParametersOfItsPage) {
  // F = 32 + 16 + 8 = 56. Types 10 x 32 = 320; encoder (56 + 256) x 1024 + 1024 = 320,512; decoder (32 + 256) x 1024 +
  // 1024 = 295,936; attention 2 x 256 x 256 + 256 = 131,328; output 512 x 2 + 2 = 1,026; devices 3 x 32 = 96.
  const ColocrlNetwork network({.types = 10, .groups = 8, .devices = 2});
  EXPECT_EQ(network.encoder_weight.rows, 56U + 256U);
  EXPECT_EQ(network.layout.size(), 749'218U);
}

TEST(Colocrl, StartsWithForgetGatesOpen) {
  const ColocrlNetwork network({.types = 1, .groups = 2, .devices = 2, .hidden = 3});
  std::vector<float> values(network.layout.size());
  network.initialize<float>(values, 1);
  for (const nn::Slice& bias : {network.encoder_bias, network.decoder.bias})
    for (std::size_t i = 0; i < bias.size(); ++i)
      EXPECT_EQ(values[bias.begin + i], i / 3 == 1 ? 1.0F : 0.0F) << "gates stand i f o g";
}

void expect_right_gradients(bool aligned, std::size_t attention_width = 0) {
  const ColocrlNetwork network({.types = 3,
                                .groups = 4,
                                .devices = 3,
                                .shape_slots = 2,
                                .type_width = 3,
                                .device_width = 2,
                                .hidden = 5,
                                .attention_width = attention_width,
                                .aligned = aligned});
  Lists types;
  for (const std::vector<std::uint32_t>& group : {std::vector<std::uint32_t>{0, 2}, {1}, {}, {2, 2, 0}}) {
    types.items.insert(types.items.end(), group.begin(), group.end());
    types.begin.push_back(static_cast<std::uint32_t>(types.items.size()));
  }
  const std::vector<double> features = random_doubles(4 * 6, 2, 1);
  const std::vector<std::uint32_t> previous = {3, 3, 0, 2, 1, 1, 2, 0};  // two samples
  check_network(network.layout.size(), [&]<class T>(nn::Tape<T>& tape) {
    const nn::Matrix<T> rows = tape.matrix(4, 6);
    for (std::size_t i = 0; i < features.size(); ++i) rows.data[i] = static_cast<T>(features[i]);
    const DecoderMemory encoding = encode<T>(tape, network, {&types, rows});
    return decode<T>(tape, network, encoding, previous, 2);
  });
}

TEST(Colocrl, HasRightGradientsOfTheWholeNetwork) { expect_right_gradients(false); }
TEST(Colocrl, HasRightGradientsWhereTheDecoderIsAligned) { expect_right_gradients(true); }
TEST(Colocrl, HasRightGradientsWhereItComparesInFewerDimensionsThanItHas) { expect_right_gradients(false, 2); }

TEST(Colocrl, IsADistributionOverPlacements) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}, {"c", {2, 1}}}, {{0, 1}, {0, 2}}, 1);
  const Enumerated all("colocrl", small, p);
  double sum = 0;
  for (const double q : all.probabilities()) sum += q;
  EXPECT_EQ(all.probabilities().size(), 8U);
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(Colocrl, GivesAForbiddenDeviceNoProbabilityAndAFiniteGradient) {
  const Problem p = tiny(plain_devices(3), {{"a", {1, no, 2}}, {"b", {1, 1, 1}}}, {{0, 1}}, 1);
  const std::vector<PolicyProblem> list = {{&p, make_grouping(p, GroupingKind::op)}};
  const auto policy = make_policy("colocrl", ConfigTable::parse_toml(small, ""), list, 1);
  Rollout rollout;
  rollout.actions = {1, 0};
  LogProbabilities log;
  policy->forward({&rollout, 1}, log);
  EXPECT_EQ(log.value[0], -std::numeric_limits<double>::infinity());
  rollout.actions = {2, 0};
  policy->forward({&rollout, 1}, log);
  policy->backward({&rollout, 1}, std::vector<double>{1, 1}, 0.1);
  for (const float g : policy->gradient()) EXPECT_TRUE(std::isfinite(g));
}

TEST(Colocrl, HasTheGradientOfTheExpectedCostAndSoHasReinforce) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}}, {{0, 1}}, 1);
  Enumerated all("colocrl", small, p);
  all.check_gradient_of_expected_cost({3, 1, 4, 1.5});
  for (const double baseline : {0.0, 2.5}) all.check_reinforce({3, 1, 4, 1.5}, baseline, 1, 20000);
}

// What is drawn step by step is what teacher forcing thinks was drawn.
TEST(Colocrl, IsTheSameDistributionStepByStepWhereTheDecoderIsAligned) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}, {"c", {2, 1}}}, {{0, 1}, {0, 2}}, 1);
  const std::string aligned = std::string(small) + "\naligned = true";
  Enumerated all("colocrl", aligned.c_str(), p);
  all.check_reinforce({3, 1, 4, 1.5, 2, 6, 5, 3.5}, 2.5, 1, 20000);
}

// In 200 samples of two chains of four equal ops: how many of their 1200 pairs of neighbours are on different devices.
int neighbours_apart(const Policy& policy, double progress) {
  int count = 0;
  for (std::uint32_t index = 0; index < 200; ++index) {
    Rollout rollout;
    rollout.progress = progress;
    Stream stream{{.seed = 1, .purpose = Purpose::test, .index = index}};
    const SampleSlot draw{&stream, {&rollout, 1}};
    policy.sample({&draw, 1});
    for (const std::size_t op : {0, 1, 2, 4, 5, 6})
      count += rollout.placement.device[op] != rollout.placement.device[op + 1] ? 1 : 0;
  }
  return count;
}

TEST(Colocrl, DrawsUnitsOfABlockTogetherAtFirstAndAloneInTheEnd) {
  const Problem p = two_chains(1);
  const std::vector<PolicyProblem> list = {{&p, make_grouping(p, GroupingKind::op)}};
  const auto options = ConfigTable::parse_toml(std::string(small) + "\ncoarse_units = 2\ncoarse_share = 0.2", "");
  const auto policy = make_policy("colocrl", options, list, 1);
  // The second of three levels draws the halves of a chain separately, which affects one of its three pairs. The first
  // probabilities differ a little from unit to unit.
  EXPECT_LT(neighbours_apart(*policy, 0), 100);
  EXPECT_LT(neighbours_apart(*policy, 0.09), 100);
  EXPECT_NEAR(neighbours_apart(*policy, 0.1), 200, 80);
  EXPECT_NEAR(neighbours_apart(*policy, 0.2), 600, 80);
  EXPECT_NEAR(neighbours_apart(*policy, 1), 600, 80);
}

TEST(Colocrl, RefusesProblemsOfDifferentSizes) {
  const Problem one = chain_5(2), two = fork_join(2);
  const Problem three = tiny(plain_devices(3), {{"x", {1, 1, 1}}}, {}, 1);
  const auto message = [&](const Problem& other) -> std::string {
    const std::vector<PolicyProblem> list = {{&one, make_grouping(one, GroupingKind::op)},
                                             {&other, make_grouping(other, GroupingKind::op)}};
    try {
      make_policy("colocrl", ConfigTable{}, list, 1);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message(two), HasSubstr("has 5 and 'tiny' has 4"));
  EXPECT_THAT(message(three), HasSubstr("'tiny' has"));
}

TEST(Colocrl, RefusesMoreUnitsThanMemoryIsThereFor) {
  std::vector<TinyOp> ops(8193, TinyOp{"", {1}});
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i].name = "op" + std::to_string(i);
  const Problem p = tiny(plain_devices(1), ops, {}, 1);
  const std::vector<PolicyProblem> list = {{&p, make_grouping(p, GroupingKind::op)}};
  try {
    make_policy("colocrl", ConfigTable{}, list, 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("at most 8192 units, but 'tiny' has 8193"));
  }
}

TEST(Colocrl, RefusesACheckpointWithNumbersThatAreNotFinite) {
  const Problem p = chain_5(2);
  const std::vector<PolicyProblem> list = {{&p, make_grouping(p, GroupingKind::op)}};
  const auto policy = make_policy("colocrl", ConfigTable::parse_toml(small, ""), list, 1);
  policy->parameters_changed();
  policy->parameters().back() = std::nanf("");
  EXPECT_THROW(policy->parameters_changed(), InputError);
}

TEST(Colocrl, PlacesAGraphWithOneOp) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 2}}}, {}, 1);
  const Enumerated all("colocrl", small, p);
  EXPECT_NEAR(all.probabilities()[0] + all.probabilities()[1], 1, 1e-6);
}

}  // namespace
}  // namespace emplace::policy::colocrl_test
