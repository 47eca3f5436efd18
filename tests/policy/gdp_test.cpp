// GDP's distribution over placements (docs/papers/gdp.md, section 7), and what it draws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "emplace/policy/policy.hpp"
#include "problem/order.hpp"
#include "tests/policy/enumerated.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::policy::gdp_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

// Gives the ops of the toys different types.
Problem with_types(Problem problem) {
  problem.op_types = problem.op_names;
  return problem;
}

constexpr const char* small =
    "hidden = 8\ntype_width = 4\nheads = 2\nfeedforward = 8\ngraph_layers = 1\nplacer_layers = 1";

std::unique_ptr<Policy> policy_of(const Problem& p, const std::string& options, std::uint64_t seed = 1,
                                  PolicyUse use = PolicyUse::begin_training) {
  static std::vector<std::unique_ptr<std::vector<PolicyProblem>>> kept;
  kept.push_back(std::make_unique<std::vector<PolicyProblem>>());
  kept.back()->push_back({&p, make_grouping(p, GroupingKind::op)});
  const std::vector<std::string> types = op_types_of(*kept.back());
  return find_entry(policies(), "gdp", "policy")
      .make(ConfigTable::parse_toml(options, ""), {*kept.back(), types, seed, use});
}

TEST(Gdp, StartsNearlyUniform) {
  for (const char* options : {"", "device_head = \"features\"", "superposition = \"graph\"", "rounds = 3"}) {
    const Problem p = with_types(two_chains(1));
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto policy = policy_of(p, options, seed);
      Rollout rollout;
      Stream stream{{}};
      const SampleSlot draw{&stream, {&rollout, 1}};
      policy->sample({&draw, 1});
      LogProbabilities log;
      policy->forward({&rollout, 1}, log);
      for (const double value : log.value) EXPECT_NEAR(std::exp(value), 0.5, 0.02) << options;
    }
  }
}

TEST(Gdp, IsADistributionWithTheGradientOfTheExpectedCost) {
  const Problem p =
      with_types(tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}, {"c", {2, 1}}}, {{0, 1}, {0, 2}}, 1));
  Enumerated all("gdp", small, p);
  double sum = 0;
  for (const double q : all.probabilities()) sum += q;
  EXPECT_NEAR(sum, 1, 1e-6);
  all.check_gradient_of_expected_cost({3, 1, 4, 1.5, 2, 6, 5, 3.5});
  all.check_reinforce({3, 1, 4, 1.5, 2, 6, 5, 3.5}, 2.5, 1, 20000);
}

TEST(Gdp, WithMoreColumnsThanDevicesIsADistributionOverTheDevicesThatThereAre) {
  const Problem p =
      with_types(tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}, {"c", {2, 1}}}, {{0, 1}, {0, 2}}, 1));
  Enumerated all("gdp", std::string(small) + "\ndevices = 4", p);
  double sum = 0;
  for (const double q : all.probabilities()) sum += q;
  EXPECT_NEAR(sum, 1, 1e-6);
  all.check_gradient_of_expected_cost({3, 1, 4, 1.5, 2, 6, 5, 3.5});
}

TEST(Gdp, OfOneNumberOfColumnsHasEqualParametersOnMachinesOfAllSizes) {
  const std::string options = std::string(small) + "\ndevices = 3";
  const Problem two = with_types(two_chains(1));
  const Problem three = with_types(tiny(plain_devices(3), {{"a", {1, 2, 3}}, {"b", {1, 1, 1}}}, {{0, 1}}, 1));
  const auto shape_of_head = [&](const Problem& p) {
    const auto layout = policy_of(p, options)->layout();
    return std::ranges::find(layout, "head/weight", &Policy::ParameterInfo::name)->shape;
  };
  EXPECT_EQ(shape_of_head(two), (std::vector<std::uint64_t>{8, 3}));
  EXPECT_EQ(shape_of_head(three), shape_of_head(two));
  const std::vector<PolicyProblem> both = {{&two, make_grouping(two, GroupingKind::op)},
                                           {&three, make_grouping(three, GroupingKind::op)}};
  EXPECT_NO_THROW(
      find_entry(policies(), "gdp", "policy")
          .make(ConfigTable::parse_toml(options, ""), {both, op_types_of(both), 1, PolicyUse::begin_training}));
  EXPECT_THAT([&] { policy_of(three, std::string(small) + "\ndevices = 2"); },
              ::testing::ThrowsMessage<InputError>(HasSubstr("gdp.devices: is 2, but")));
}

TEST(Gdp, IsADistributionOverDevicesAndPriorityLevelsWithTheGradientOfTheExpectedCost) {
  const Problem p = with_types(tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}}, {{0, 1}}, 1));
  Enumerated all("gdp", std::string(small) + "\nschedule_levels = 3", p, 0, 3);
  const std::vector<double> probabilities = all.probabilities();
  ASSERT_EQ(probabilities.size(), 36U);  // 2 x 2 devices, 3 x 3 levels
  double sum = 0;
  std::vector<double> cost;
  for (const double q : probabilities) {
    sum += q;
    cost.push_back(static_cast<double>((cost.size() * 7) % 11) / 4);
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  all.check_gradient_of_expected_cost(cost);
  all.check_reinforce(cost, 1.25, 2, 20000);
}

Rollout drawn_with(const Policy& policy, std::uint32_t index) {
  Rollout rollout;
  Stream stream{{.seed = 1, .purpose = Purpose::test, .update = 1, .index = index}};
  const SampleSlot draw{&stream, {&rollout, 1}};
  policy.sample({&draw, 1});
  return rollout;
}

TEST(Gdp, HasTheSameOtherParametersAndDrawsTheSameDevicesWithPriorityLevels) {
  const Problem p = with_types(two_chains(1));
  for (const std::string more : {"", "\ncoarse_units = 2", "\ndevice_head = \"features\""}) {
    const auto without = policy_of(p, small + more), with = policy_of(p, small + more + "\nschedule_levels = 5");
    const std::size_t shared = without->parameter_count();
    ASSERT_EQ(with->parameter_count(), shared + 8 * 5 + 5);
    EXPECT_TRUE(std::ranges::equal(without->parameters(), with->parameters().first(shared)));
    for (std::uint32_t index = 0; index < 20; ++index) {
      const Rollout plain = drawn_with(*without, index), scheduled = drawn_with(*with, index);
      EXPECT_EQ(plain.placement.device, scheduled.placement.device);
      EXPECT_TRUE(plain.placement.order.empty());
      EXPECT_EQ(plain.actions.size(), 8U);
      EXPECT_TRUE(std::ranges::equal(plain.actions, std::span(scheduled.actions).first(8)));
    }
  }
}

TEST(Gdp, OrdersOpsByTheLevelsOfTheirUnits) {
  const Problem p = with_types(two_chains(1));
  const auto policy = policy_of(p, std::string(small) + "\nschedule_levels = 5");
  for (std::uint32_t index = 0; index < 20; ++index) {
    const Rollout rollout = drawn_with(*policy, index);
    check_placement(p, rollout.placement);
    ASSERT_EQ(rollout.actions.size(), 16U);
    EXPECT_EQ(rollout.placement.order, level_order(p, std::span(rollout.actions).last(8)));
  }
}

TEST(Gdp, DrawsOneLevelForABlockWhereNoTrainingFollows) {
  const Problem p = with_types(two_chains(1));
  const auto policy = policy_of(p, std::string(small) + "\nschedule_levels = 3\ncoarse_units = 2", 1, PolicyUse::place);
  std::vector<int> count(3, 0);
  for (std::uint32_t index = 0; index < 300; ++index) {
    Rollout rollout;
    rollout.update = 1;
    rollout.sample = 3;  // of levels of 1, 2, 4 and 8 blocks, the second one first in update 1
    Stream stream{{.seed = 1, .purpose = Purpose::test, .update = 1, .index = index}};
    const SampleSlot draw{&stream, {&rollout, 1}};
    policy->sample({&draw, 1});
    const auto level = std::span(rollout.actions).last(8);
    EXPECT_EQ(std::ranges::count(level, level[0]), 8);
    ++count[level[0]];
  }
  for (const int each : count) EXPECT_NEAR(each, 100, 40);  // nearly uniform at the start
}

TEST(Gdp, GivesAForbiddenDeviceNoProbabilityAndAFiniteGradient) {
  const Problem p = tiny(plain_devices(3), {{"a", {1, no, 2}}, {"b", {1, 1, 1}}}, {{0, 1}}, 1);
  const auto policy = policy_of(p, small);
  Rollout rollout;
  rollout.actions = {1, 0};
  LogProbabilities log;
  policy->forward({&rollout, 1}, log);
  EXPECT_EQ(log.value[0], -std::numeric_limits<double>::infinity());
  EXPECT_THROW(policy->check({&rollout, 1}), InputError);
  rollout.actions = {2, 0};
  policy->forward({&rollout, 1}, log);
  policy->backward({&rollout, 1}, std::vector<double>{1, 1}, 0.1);
  for (const float g : policy->gradient()) EXPECT_TRUE(std::isfinite(g));
}

// In 200 samples of two_chains: how often two neighbours of a chain are on different devices, and how often any two
// ops.
struct Apart {
  int neighbours = 0, any = 0;
};

Apart apart(const Policy& policy, std::uint64_t update, std::uint32_t sample = 0, double progress = 1) {
  Apart count;
  for (std::uint32_t index = 0; index < 200; ++index) {
    Rollout rollout;
    rollout.update = update;
    rollout.progress = progress;
    rollout.sample = sample;
    Stream stream{{.seed = 1, .purpose = Purpose::test, .update = update, .index = 200 * sample + index}};
    const SampleSlot draw{&stream, {&rollout, 1}};
    policy.sample({&draw, 1});
    const auto& device = rollout.placement.device;
    EMPLACE_CHECK(device.size() == 8);  // of two chains
    for (const std::size_t op : {0, 1, 2, 4, 5, 6}) count.neighbours += device[op] != device[op + 1];
    count.any += std::ranges::adjacent_find(device, std::not_equal_to<>()) != device.end();
  }
  return count;
}

TEST(Gdp, DrawsUnitsOfABlockTogetherAtFirstAndAloneInTheEnd) {
  const Problem p = two_chains(1);  // ops of one type, so the first probabilities are nearly the same for all
  const std::string options = std::string(small) + "\ncoarse_units = 2\ncoarse_share = 0.2";
  for (const PolicyUse use : {PolicyUse::begin_training, PolicyUse::go_on_training}) {
    const auto policy = policy_of(p, options, 1, use);
    const auto splits = [&](double progress) { return apart(*policy, 1, 0, progress).neighbours; };
    // 1200 pairs of neighbours; the second level draws the halves of a chain separately, which affects one of its three
    // pairs.
    EXPECT_LT(splits(0), 30);
    EXPECT_LT(splits(0.09), 30);
    EXPECT_NEAR(splits(0.1), 200, 50);
    EXPECT_NEAR(splits(0.2), 600, 80);
    EXPECT_NEAR(splits(1), 600, 80);
  }
}

TEST(Gdp, DrawsBlocksOfAllSizesInTurnWhereNoTrainingFollows) {
  const Problem p = two_chains(1);
  const auto policy = policy_of(p, std::string(small) + "\ncoarse_units = 2", 1, PolicyUse::place);
  // Levels of 1, 2, 4 and 8 blocks, the second one first in update 1: two chains of equal ops, each in one piece.
  EXPECT_NEAR(apart(*policy, 1, 0).any, 100, 30);
  EXPECT_GT(apart(*policy, 1, 2).any, 180);
  EXPECT_EQ(apart(*policy, 1, 3).any, 0);
  EXPECT_NEAR(apart(*policy, 1, 4).any, 100, 30);
  EXPECT_NEAR(apart(*policy, 2, 3).any, 100, 30) << "the next batch begins with the next level";
  EXPECT_GT(apart(*policy_of(p, small, 1, PolicyUse::place), 1, 3).any, 180) << "every unit alone";
}

// How often each device was drawn for a graph's only block in `draws` draws.
std::vector<int> drawn_devices(const Policy& policy, std::uint32_t all_in_one, std::size_t devices,
                               std::uint32_t draws) {
  std::vector<int> count(devices, 0);
  for (std::uint32_t index = 0; index < draws; ++index) {
    Rollout rollout;
    rollout.update = 1;
    rollout.sample = all_in_one;
    Stream stream{{.seed = 1, .purpose = Purpose::test, .update = 1, .index = index}};
    const SampleSlot draw{&stream, {&rollout, 1}};
    policy.sample({&draw, 1});
    const auto& device = rollout.placement.device;
    EXPECT_EQ(std::ranges::count(device, device[0]), std::ssize(device)) << "the block is split";
    ++count[device[0]];
  }
  return count;
}

TEST(Gdp, DrawsABlockFromTheMeanOfItsUnitsProbabilitiesWhereNoTrainingFollows) {
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t op = 0; op < 4; ++op) {
    ops.push_back({"op" + std::to_string(op), {1, op == 3 ? no : 1, 1}});
    if (op > 0) edges.push_back({op - 1, op});
  }
  const Problem p = with_types(tiny(plain_devices(3), ops, edges, 1));
  const auto policy =
      policy_of(p, std::string(small) + "\ncentered = true\nhead_gain = 3\ncoarse_units = 1", 1, PolicyUse::place);
  std::vector<double> mean(3, 0.0);
  std::vector<double> first(3);
  for (std::uint8_t d = 0; d < 3; ++d) {
    Rollout rollout;
    rollout.actions.assign(4, d);
    LogProbabilities log;
    policy->forward({&rollout, 1}, log);
    for (const double each : log.value) mean[d] += std::exp(each) / 4;
    first[d] = std::exp(log.value[0]);
  }
  // Op 3 cannot run on device 1.
  const double wanted = mean[0] / (mean[0] + mean[2]);
  ASSERT_GT(std::abs(wanted - 0.5), 0.1) << "otherwise a uniform draw would pass";
  ASSERT_GT(std::abs(wanted - first[0] / (first[0] + first[2])), 0.05)
      << "otherwise the first unit's probabilities would pass";
  constexpr std::uint32_t all_in_one = 2;  // of the levels of 1, 2 and 4 blocks, the second one first in update 1
  const std::vector<int> count = drawn_devices(*policy, all_in_one, 3, 4000);
  EXPECT_EQ(count[1], 0);
  EXPECT_NEAR(count[0] / 4000.0, wanted, 0.03);  // four standard deviations
}

TEST(Gdp, FindsTheDeviceThatABlockCanRunOnThoughItsUnitsAreSureOfOthers) {
  // a can run on 0 and 1, b on 0 and 2: both must be on 0, however large the network's probabilities of 1 and 2 are.
  const Problem p = with_types(tiny(plain_devices(3), {{"a", {1, 1, no}}, {"b", {1, no, 1}}}, {{0, 1}}, 1));
  int sure = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto policy = policy_of(p, std::string(small) + "\ncentered = true\nhead_gain = 100\ncoarse_units = 1", seed,
                                  PolicyUse::place);
    for (float& each : policy->parameters()) each *= 10;
    Rollout rollout;
    rollout.actions = {0, 0};
    LogProbabilities log;
    policy->forward({&rollout, 1}, log);
    sure += static_cast<float>(std::exp(log.value[0])) == 0 && static_cast<float>(std::exp(log.value[1])) == 0;
    EXPECT_EQ(drawn_devices(*policy, 1, 3, 10), (std::vector<int>{10, 0, 0})) << seed;
  }
  EXPECT_GT(sure, 0) << "no network preferred a device where the other unit cannot run";
}

TEST(Gdp, PlacesGraphsOfOneNodeOfNodesWithoutEdgesAndOfTensorsWithoutBytes) {
  const Problem graphs[] = {tiny(plain_devices(2), {{"a", {1, 2}}}, {}, 1),
                            tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 2}}, {"c", {1, 2}}}, {}, 1),
                            tiny(plain_devices(2), {{"a", {1, 2}, "", 0, 0}, {"b", {1, 2}, "", 0, 0}}, {{0, 1}}, 0),
                            tiny(plain_devices(1), {{"a", {1}}, {"b", {1}}}, {{0, 1}}, 1)};
  for (const Problem& p : graphs)
    for (const char* more :
         {"", "\nrounds = 2\ndevice_head = \"features\"\ncost_features = true\nposition_waves = 2"}) {
      const auto policy = policy_of(p, std::string(small) + more);
      Rollout rollout;
      Stream stream{{}};
      const SampleSlot draw{&stream, {&rollout, 1}};
      policy->sample({&draw, 1});
      check_placement(p, rollout.placement);
      LogProbabilities log;
      policy->forward({&rollout, 1}, log);
      policy->backward({&rollout, 1}, std::vector<double>(log.value.size(), 1.0), 0.1);
      for (const float g : policy->gradient()) EXPECT_TRUE(std::isfinite(g));
    }
}

TEST(Gdp, NeedsEqualNumbersOfDevicesUnlessTheyHaveFeatures) {
  const Problem two = chain_5(2), three = tiny(plain_devices(3), {{"x", {1, 1, 1}}}, {}, 1);
  const std::vector<PolicyProblem> list = {{&two, make_grouping(two, GroupingKind::op)},
                                           {&three, make_grouping(three, GroupingKind::op)}};
  try {
    make_policy("gdp", ConfigTable::parse_toml(small, ""), list, 1);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'tiny' has 2 and 'tiny' has 3"));
  }
  const std::string featured = std::string(small) + "\ndevice_head = \"features\"";
  const auto policy = make_policy("gdp", ConfigTable::parse_toml(featured, ""), list, 1);
  for (std::uint32_t p = 0; p < 2; ++p) {
    Rollout rollout;
    rollout.problem = p;
    Stream stream{{}};
    const SampleSlot draw{&stream, {&rollout, 1}};
    policy->sample({&draw, 1});
    check_placement(*list[p].problem, rollout.placement);
  }
}

TEST(Gdp, RefusesOptionsThatDoNotGoTogether) {
  const Problem p = chain_5(2);
  EXPECT_THROW(policy_of(p, "hidden = 8\nheads = 3"), InputError);
  EXPECT_THROW(policy_of(p, "device_kinds = [\"gpu\"]"), InputError);
}

}  // namespace
}  // namespace emplace::policy::gdp_test
