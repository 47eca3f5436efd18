// GDP's distribution over placements (sheet, section 7), and what it draws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "emplace/base/error.hpp"
#include "emplace/policy/policy.hpp"
#include "policy/enumerated.hpp"
#include "problem/tiny.hpp"

namespace emplace {
namespace {

using namespace testing;
using ::testing::HasSubstr;

// Types tell the ops of the toys apart.
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
      const Draw draw{&stream, {&rollout, 1}};
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

// Of 200 samples of a graph of equal ops: how often two neighbours of a chain are apart, and how often any two ops.
struct Apart {
  int neighbours = 0, any = 0;
};

Apart apart(const Policy& policy, std::uint64_t update, std::uint32_t sample = 0) {
  Apart count;
  for (std::uint32_t index = 0; index < 200; ++index) {
    Rollout rollout;
    rollout.update = update;
    rollout.sample = sample;
    Stream stream{{.seed = 1, .purpose = Purpose::test, .update = update, .index = 200 * sample + index}};
    const Draw draw{&stream, {&rollout, 1}};
    policy.sample({&draw, 1});
    const auto& device = rollout.placement.device;
    for (const std::size_t op : {0, 1, 2, 4, 5, 6}) count.neighbours += device[op] != device[op + 1];
    count.any += std::ranges::adjacent_find(device, std::not_equal_to<>()) != device.end();
  }
  return count;
}

TEST(Gdp, DrawsUnitsOfABlockTogetherAtFirstAndAloneInTheEnd) {
  const Problem p = two_chains(1);  // ops of one type, so the first probabilities are nearly the same for all
  const std::string options = std::string(small) + "\ncoarse_units = 2\nupdates_per_level = 10";
  for (const PolicyUse use : {PolicyUse::begin_training, PolicyUse::go_on_training}) {
    const auto policy = policy_of(p, options, 1, use);
    const auto splits = [&](std::uint64_t update) { return apart(*policy, update).neighbours; };
    // 1200 pairs; halves of a chain are drawn apart in the second level, which is one of its three pairs.
    EXPECT_LT(splits(1), 30);
    EXPECT_LT(splits(10), 30);
    EXPECT_NEAR(splits(11), 200, 50);
    EXPECT_NEAR(splits(21), 600, 80);
    EXPECT_NEAR(splits(std::uint64_t{1} << 55), 600, 80);
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

TEST(Gdp, GivesABlockOneDeviceThatAllItsUnitsCanRunOnWhereNoTrainingFollows) {
  // Op 3 has other probabilities than its neighbours: drawn one by one they would be apart.
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t op = 0; op < 6; ++op) {
    ops.push_back({"op" + std::to_string(op), {1, op == 3 ? no : 1, 1}});
    if (op > 0) edges.push_back({op - 1, op});
  }
  const Problem p = with_types(tiny(plain_devices(3), ops, edges, 1));
  const std::string options = std::string(small) + "\ncoarse_units = 1";
  constexpr std::uint32_t all_in_one = 3;  // of the levels of 1, 2, 3 and 6 blocks, the second one first in update 1
  EXPECT_GT(apart(*policy_of(p, options), 1).any, 20) << "in a training";
  const auto policy = policy_of(p, options, 1, PolicyUse::place);
  EXPECT_EQ(apart(*policy, 1, all_in_one).any, 0);
  std::set<std::uint8_t> used;
  for (std::uint32_t index = 0; index < 200; ++index) {
    Rollout rollout;
    rollout.update = 1;
    rollout.sample = all_in_one;
    Stream stream{{.seed = 1, .purpose = Purpose::test, .update = 1, .index = index}};
    const Draw draw{&stream, {&rollout, 1}};
    policy->sample({&draw, 1});
    used.insert(rollout.placement.device[0]);
  }
  EXPECT_THAT(used, ::testing::IsSubsetOf({0, 2})) << "op 3 cannot run on device 1";
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
      const Draw draw{&stream, {&rollout, 1}};
      policy->sample({&draw, 1});
      check_placement(p, rollout.placement);
      LogProbabilities log;
      policy->forward({&rollout, 1}, log);
      policy->backward({&rollout, 1}, std::vector<double>(log.value.size(), 1.0), 0.1);
      for (const float g : policy->gradient()) EXPECT_TRUE(std::isfinite(g));
    }
}

TEST(Gdp, WantsAsManyDevicesEverywhereUnlessTheyHaveFeatures) {
  const Problem two = chain_5(2), three = tiny(plain_devices(3), {{"x", {1, 1, 1}}}, {}, 1);
  const std::vector<PolicyProblem> list = {{&two, make_grouping(two, GroupingKind::op)},
                                           {&three, make_grouping(three, GroupingKind::op)}};
  try {
    make_policy("gdp", ConfigTable::parse_toml(small, ""), list, 1);
    FAIL() << "it took them";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'tiny' has 2 and 'tiny' has 3"));
  }
  const std::string featured = std::string(small) + "\ndevice_head = \"features\"";
  const auto policy = make_policy("gdp", ConfigTable::parse_toml(featured, ""), list, 1);
  for (std::uint32_t p = 0; p < 2; ++p) {
    Rollout rollout;
    rollout.problem = p;
    Stream stream{{}};
    const Draw draw{&stream, {&rollout, 1}};
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
}  // namespace emplace
