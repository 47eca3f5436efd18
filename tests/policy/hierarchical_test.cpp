// The Hierarchical Planner's policy (docs/papers/hierarchical.md, section 7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "emplace/base/error.hpp"
#include "policy/hierarchical/group_features.hpp"
#include "policy/hierarchical/options.hpp"
#include "tests/policy/enumerated.hpp"
#include "tests/policy/greedy.hpp"
#include "tests/policy/hierarchical_made.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::policy::hierarchical_test {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string message_of(const std::vector<PolicyProblem>& list, const std::string& options) {
  try {
    make_policy("hierarchical", ConfigTable::parse_toml(options, "test"), list, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Hierarchical, SharesOneGroupingAmongThePlacementsThatAreDrawnForIt) {
  Made made(two_chains(1), quiet + "groups = 4\nplacements_per_grouping = 4\n");
  std::vector<std::vector<std::uint8_t>> groups;
  std::set<std::vector<std::uint8_t>> placements;
  for (std::uint32_t sample = 0; sample < 8; ++sample) {
    const Rollout rollout = made.draw(1, sample, sample);
    EXPECT_EQ(rollout.actions.size(), 8U + 4U);
    groups.emplace_back(rollout.actions.begin(), rollout.actions.begin() + 8);
    placements.insert(rollout.placement.device);
  }
  for (std::size_t sample = 0; sample < 8; ++sample) EXPECT_EQ(groups[sample], groups[sample / 4 * 4]);
  EXPECT_NE(groups[0], groups[4]);
  EXPECT_GT(placements.size(), 2U);
  EXPECT_NE(made.draw(2, 0, 0).actions, made.draw(1, 0, 0).actions) << "another update draws another grouping";
}

TEST(Hierarchical, PlacesEachUnitOnTheDeviceOfItsGroup) {
  Made made(two_chains(1), quiet + "groups = 3\n");
  const Rollout rollout = made.draw(1, 0, 0);
  for (std::size_t op = 0; op < 8; ++op)
    EXPECT_EQ(rollout.placement.device[op], rollout.actions[8 + rollout.actions[op]]);
}

TEST(Hierarchical, CountsTheDrawOfACoLocationGroupOnce) {
  Made made(tiny(plain_devices(2), {{"a", {1, 1}, "g"}, {"b", {1, 1}}, {"c", {1, 1}, "g"}}, {{0, 1}, {1, 2}}, 1),
            quiet + "groups = 2\n", GroupingKind::colocation);
  const Rollout rollout = made.draw(1, 0, 0);
  EXPECT_EQ(rollout.actions.size(), 2U + 2U) << "two units, two groups";
  EXPECT_EQ(rollout.placement.device[0], rollout.placement.device[2]);
  LogProbabilities log;
  made.policy->forward({&rollout, 1}, log);
  EXPECT_EQ(log.value.size(), 4U);
}

TEST(Hierarchical, KeepsEveryDeviceWithinTheBoundsOfTheSquash) {
  // |logit| <= 5, so 1 / (1 + (D - 1) e^10) <= p <= 1 / (1 + (D - 1) e^-10), however large the parameters: with two
  // devices 4.54e-5 to 0.9999546, with three 2.27e-5 to 0.9999092.
  const std::tuple<std::size_t, double, double> bounds[] = {{2, 4.5397e-5, 0.99995461}, {3, 2.2699e-5, 0.99990921}};
  for (const auto& [devices, least, most] : bounds) {
    const std::vector<double> times(devices, 1);
    Made made(tiny(plain_devices(devices), {{"a", times}, {"b", times}, {"c", times}}, {{0, 1}, {1, 2}}, 1),
              quiet + "groups = 3\n");
    made.perturb(100);
    double lowest = 1, highest = 0;
    for (std::uint8_t device = 0; device < devices; ++device) {
      Rollout rollout;
      rollout.actions = {0, 1, 2, device, device, device};
      LogProbabilities log;
      made.policy->forward({&rollout, 1}, log);
      for (std::size_t t = 3; t < 6; ++t) {
        lowest = std::min(lowest, std::exp(log.value[t]));
        highest = std::max(highest, std::exp(log.value[t]));
      }
    }
    EXPECT_LE(highest, most);
    EXPECT_GE(lowest, least);
    EXPECT_GT(highest, 0.999) << "the probability must come close to the bound, or this test shows nothing";
  }
}

TEST(Hierarchical, IsADistributionOverGroupingsAndPlacements) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}, {"c", {2, 1}}}, {{0, 1}, {0, 2}}, 1);
  const Enumerated all("hierarchical", quiet + "groups = 2\n", p, 2);
  const std::vector<double> probabilities = all.probabilities();
  EXPECT_EQ(probabilities.size(), 8U * 4U);
  double sum = 0;
  for (const double q : probabilities) sum += q;
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(Hierarchical, HasTheGradientOfTheExpectedCostAndSoHasReinforceWithSharedGroupings) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {1, 1}}, {"c", {2, 1}}}, {{0, 1}, {0, 2}}, 1);
  Enumerated all("hierarchical", quiet + "groups = 2\nplacements_per_grouping = 4\n", p, 2);
  std::vector<double> cost;
  for (std::size_t i = 0; i < 32; ++i) cost.push_back(static_cast<double>(i * 7 % 11));
  all.check_gradient_of_expected_cost(cost);
  for (const double baseline : {0.0, 5.0}) all.check_reinforce(cost, baseline, 4, 5000);
}

TEST(Hierarchical, TakesRowChunksAsItTakesAllRows) {
  // 600 ops are three chunks: the same log-probabilities and gradient as from one matrix of all rows.
  const std::string chosen =
      quiet + "groups = 5\nposition_waves = 3\nnumber_of_outputs = true\ngrouper_entropy = 0.5\n";
  Made made(staggered_ops(600), chosen);
  made.perturb(0.3);
  const Rollout rollout = made.draw(1, 0, 0);
  LogProbabilities log;
  made.policy->forward({&rollout, 1}, log);
  std::vector<double> coefficients(log.value.size());
  for (std::size_t i = 0; i < 600; ++i) coefficients[i] = std::sin(static_cast<double>(i));
  made.policy->backward({&rollout, 1}, coefficients, 0.1);

  WholeGrouper whole(made, chosen);
  nn::Tape<float>& tape = whole.tape;
  const auto rows = nn::categorical<float>(tape, whole.logits, {});
  for (std::size_t i = 0; i < 600; ++i)
    ASSERT_NEAR(log.value[i], rows.log_probability(i, rollout.actions[i]), 1e-5) << "op " << i;
  nn::seed<float>(tape, rows, std::span(rollout.actions).first(600), std::span(coefficients).first(600), 0.1 * 0.5);
  tape.backward();
  whole.expect_gradient(made, 1e-3);
}

TEST(Hierarchical, BeginsWithGroupsInTheOrderOfLayersWhereItsPriorIsStrong) {
  // Twelve ops whose layers alternate: the first group has the first three of layer "first", and so on.
  Problem p = staggered_ops(12);
  p.layer.names = {"first", "second"};
  for (std::uint32_t op = 0; op < 12; ++op) p.layer.of_op.push_back(op % 2);
  Made made(std::move(p), quiet + "groups = 4\norder_prior = 1000\n");
  const Rollout rollout = made.draw(1, 0, 0);
  EXPECT_THAT(std::span(rollout.actions).first(12), ElementsAre(0, 2, 0, 2, 0, 2, 1, 3, 1, 3, 1, 3));
}

// Two ops without neighbours and with equal types and first outputs; the second op has two outputs more.
Problem one_and_three_outputs() {
  ProblemBuilder builder("outputs");
  for (Device& device : plain_devices(1)) builder.add_device(std::move(device));
  for (const char* name : {"one", "three"}) {
    OpSpec op;
    op.name = name;
    op.seconds = {1e-3};
    builder.add_op(std::move(op));
  }
  for (const std::size_t op : {0, 1, 1, 1}) builder.add_tensor(OpId{op}, 12, {});
  return builder.build("outputs");
}

TEST(Hierarchical, TellsOpsApartByTheirNumberOfOutputsAndLearnsFromIt) {
  const auto logs = [](Made& made) {
    made.perturb(0.5);
    Rollout rollout;
    rollout.actions = {0, 0, 0, 0};
    LogProbabilities log;
    made.policy->forward({&rollout, 1}, log);
    made.policy->backward({&rollout, 1}, std::vector<double>{1, 0, 0, 0}, 0);
    return log.value;
  };
  Made without(one_and_three_outputs(), quiet + "groups = 2\n");
  const auto equal = logs(without);
  EXPECT_EQ(equal[0], equal[1]);
  Made with(one_and_three_outputs(), quiet + "groups = 2\nnumber_of_outputs = true\n");
  const auto unequal = logs(with);
  EXPECT_GT(std::abs(unequal[0] - unequal[1]), 1e-3);
  // Rows of W1: 2 of the type, 2 of the shape, 1 of the number of outputs, 4 of neighbours. The first op has 1 output,
  // so the gradient by its row is log 2 x that by b1.
  const auto gradient = with.policy->gradient();
  const auto layout = with.policy->layout();
  ASSERT_EQ(layout[1].name, "grouper/weight");
  ASSERT_EQ(layout[1].shape[0], 9U);
  const std::size_t weight = layout[0].size(), row = weight + 4 * 4, bias = weight + layout[1].size();
  double largest = 0;
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(gradient[row + j], std::log(2.0) * gradient[bias + j], 1e-6);
    largest = std::max(largest, std::abs(static_cast<double>(gradient[row + j])));
  }
  EXPECT_GT(largest, 1e-3);
}

TEST(Hierarchical, GivesAGroupThatNoDeviceCanRunTheFirstDeviceWithoutAChoice) {
  // a runs on device 0 only, b on device 1 only: together in group 0 they are infeasible on every device.
  Made made(tiny(plain_devices(2), {{"a", {1, no}}, {"b", {no, 1}}}, {}, 1), quiet + "groups = 2\n");
  std::size_t together = 0;
  for (std::uint32_t sample = 0; sample < 64; ++sample) {
    const Rollout rollout = made.draw(1, sample, sample);
    const bool same = rollout.actions[0] == rollout.actions[1];
    LogProbabilities log;
    made.policy->forward({&rollout, 1}, log);
    made.policy->backward({&rollout, 1}, std::vector<double>(4, 1.0), 0.1);
    for (const float g : made.policy->gradient()) ASSERT_TRUE(std::isfinite(g));
    const std::size_t group = rollout.actions[0];
    EXPECT_EQ(rollout.actions[2 + group], 0);
    EXPECT_NEAR(log.value[2 + group], 0, 1e-6) << "one device allowed, or none";
    if (!same) {
      EXPECT_THAT(rollout.placement.device, ElementsAre(0, 1));
      continue;
    }
    ++together;
    EXPECT_THAT(rollout.placement.device, ElementsAre(0, 0));
  }
  EXPECT_GT(together, 0U);
  EXPECT_LT(together, 64U);
}

TEST(Hierarchical, WithoutGroupingPlacesUnitsInTopologicalOrder) {
  const Problem p = tiny(plain_devices(2), {{"b", {1, 1}}, {"a", {1, 1}}}, {{1, 0}}, 1);
  Made made(p, quiet + "grouping = \"none\"\n");
  const Rollout rollout = made.draw(1, 0, 0);
  ASSERT_EQ(rollout.actions.size(), 2U);
  EXPECT_EQ(rollout.placement.device[1], rollout.actions[0]) << "a is first";
  EXPECT_EQ(rollout.placement.device[0], rollout.actions[1]);
  const Enumerated all("hierarchical", quiet + "grouping = \"none\"\n", p);
  double sum = 0;
  for (const double q : all.probabilities()) sum += q;
  EXPECT_NEAR(sum, 1, 1e-6);
}

// The first devices of a new network are nearly uniform, so that units of a block, which share a random number, mostly
// get the same.
TEST(Hierarchical, DrawsNeighboursTogetherAtFirstAndAloneInTheEnd) {
  Made made(two_chains(1), quiet + "grouping = \"none\"\ncoarse_groups = 2\ncoarse_share = 0.2\n");
  // In 200 samples of 8 units: changes of the device within the first level's two blocks, and between them.
  const auto changes = [&](double progress) {
    made.progress = progress;
    std::pair<int, int> count;
    for (std::uint32_t key = 0; key < 200; ++key) {
      const std::vector<std::uint8_t> device = made.draw(1, 0, key).actions;
      for (std::size_t t = 0; t + 1 < 8; ++t) (t == 3 ? count.second : count.first) += device[t] != device[t + 1];
    }
    return count;
  };
  EXPECT_LT(changes(0).first, 100);
  EXPECT_NEAR(changes(0).second, 100, 30);
  EXPECT_NEAR(changes(0.1).first, 200, 80) << "four blocks of two";
  EXPECT_NEAR(changes(0.2).first, 600, 80);
  EXPECT_NEAR(changes(1).first, 600, 80);
}

TEST(Hierarchical, WithoutGroupingHasNoGrouperAndNoLogProbabilityOfGroups) {
  // Neither a grouper's parameters nor its heads: 8 units are 8 heads, all of devices.
  Made made(two_chains(1), quiet + "grouping = \"none\"\n"), learned(two_chains(1), quiet + "groups = 8\n");
  const auto grouper_parameters = [](const Made& of) {
    std::size_t count = 0;
    for (const Policy::ParameterInfo& info : of.policy->layout())
      if (info.name == "types" || info.name.starts_with("grouper")) count += info.size();
    return count;
  };
  EXPECT_EQ(grouper_parameters(made), 0U);
  // Types 1 x 2; W1 (2 + 2 + 4) x 4, b1 4; W2 4 x 8, b2 8.
  EXPECT_EQ(grouper_parameters(learned), 2U + 36U + 40U);
  EXPECT_EQ(learned.policy->parameter_count() - made.policy->parameter_count(), 78U) << "the placer is the same";
  const Rollout rollout = made.draw(1, 0, 0);
  LogProbabilities log;
  made.policy->forward({&rollout, 1}, log);
  EXPECT_EQ(rollout.actions.size(), 8U);
  EXPECT_EQ(log.value.size(), 8U);
  for (const double value : log.value) EXPECT_LT(value, 0) << "each unit's device is drawn";
}

TEST(Hierarchical, WithRandomGroupingHasNoGrouperToLearn) {
  Made made(two_chains(1), quiet + "grouping = \"random\"\ngroups = 2\nplacements_per_grouping = 1\n");
  for (const Policy::ParameterInfo& info : made.policy->layout())
    EXPECT_EQ(info.name.find("grouper"), std::string::npos);
  std::size_t ones = 0;
  for (std::uint32_t sample = 0; sample < 500; ++sample) {
    const Rollout rollout = made.draw(1, sample, sample);
    for (std::size_t op = 0; op < 8; ++op) ones += rollout.actions[op];
    LogProbabilities log;
    made.policy->forward({&rollout, 1}, log);
    EXPECT_EQ(log.value.size(), 2U) << "one head a group";
  }
  EXPECT_NEAR(static_cast<double>(ones), 2000, 5 * std::sqrt(1000)) << "4000 draws of probability 1/2";
}

TEST(Hierarchical, DecodesGreedilyTheLikeliestGroupsAndDevices) {
  Made made(chain_5(2), small + "groups = 2\n");
  made.perturb(1);
  const Rollout mode = greedy(*made.policy, 0);
  Rollout other = mode;
  LogProbabilities log, changed;
  made.policy->forward({&mode, 1}, log);
  for (std::size_t op = 0; op < 5; ++op) {
    other.actions[op] ^= 1;
    made.policy->forward({&other, 1}, changed);
    EXPECT_GE(log.value[op], changed.value[op]);
    other.actions[op] ^= 1;
  }
  other.actions.back() ^= 1;
  made.policy->forward({&other, 1}, changed);
  EXPECT_GE(log.value.back(), changed.value.back());
}

TEST(Hierarchical, TakesTheSmallestOfItsThreeDefaultsForTheNumberOfGroups) {
  // chain-5: min(256, 20 x 2, 5); 600 ops on 2 devices: 40.
  EXPECT_EQ(Made(chain_5(2), quiet).draw(1, 0, 0).actions.size(), 5U + 5U);
  std::vector<TinyOp> ops;
  for (int i = 0; i < 600; ++i) ops.push_back({"op" + std::to_string(i), {1, 1}});
  EXPECT_EQ(Made(tiny(plain_devices(2), ops, {}, 1), quiet).draw(1, 0, 0).actions.size(), 600U + 40U);
}

TEST(Hierarchical, KeepsTheNumberOfGroupsOfItsTrainingForOtherGraphs) {
  const auto chain = [](std::size_t ops) {
    std::vector<TinyOp> list;
    for (std::size_t i = 0; i < ops; ++i) list.push_back({"op" + std::to_string(i), {1, 1}});
    return tiny(plain_devices(2), list, {});
  };
  const Problem small_one = chain(3), trained_on = chain(12), large = chain(30);
  const auto as_list = [](const Problem& problem) {
    return std::vector<PolicyProblem>{{&problem, make_grouping(problem, GroupingKind::op)}};
  };
  const auto training = as_list(trained_on);
  const PolicyEntry& entry = find_entry(policies(), "hierarchical", "policy");
  const ConfigTable asked = ConfigTable::parse_toml(quiet, "test");
  const ConfigTable settled = entry.freeze_defaults(asked, {training, {}, 1});
  const std::size_t parameters = entry.make(asked, {training, {}, 1})->parameters().size();
  for (const Problem* problem : {&trained_on, &large, &small_one}) {
    const auto list = as_list(*problem);
    const auto policy = entry.make(settled, {list, {}, 1, PolicyUse::go_on_training});
    EXPECT_EQ(policy->parameters().size(), parameters) << problem->op_count();
    EXPECT_EQ(test::greedy(*policy, 0).placement.device.size(), problem->op_count());
  }
  EXPECT_NE(entry.make(asked, {as_list(large), {}, 1})->parameters().size(), parameters);
  const std::vector<PolicyProblem> small = as_list(small_one);
  EXPECT_LT(entry.make(settled, {small, {}, 1})->parameters().size(), parameters)
      << "a new training has no more groups than units";
}

TEST(Hierarchical, PlacesAGraphWithOneOp) {
  Made made(tiny(plain_devices(2), {{"a", {1, 2}}}, {}, 1), quiet);
  const Rollout rollout = made.draw(1, 0, 0);
  EXPECT_EQ(rollout.actions.size(), 2U);
  EXPECT_EQ(rollout.placement.device[0], rollout.actions[1]);
}

TEST(Hierarchical, RefusesWhatItsNetworksCannotTake) {
  const Problem five = chain_5(2), four = fork_join(2);
  const Problem three_devices = tiny(plain_devices(3), {{"x", {1, 1, 1}}}, {}, 1);
  const std::vector<PolicyProblem> one = {{&five, make_grouping(five, GroupingKind::op)}};
  const std::vector<PolicyProblem> sizes = {one[0], {&four, make_grouping(four, GroupingKind::op)}};
  const std::vector<PolicyProblem> devices = {one[0], {&three_devices, make_grouping(three_devices, GroupingKind::op)}};
  EXPECT_EQ(message_of(one, quiet + "groups = 6\n"), "no error");    // as many as there are units
  EXPECT_EQ(message_of(sizes, quiet + "groups = 5\n"), "no error");  // as many as the smallest problem has
  EXPECT_THAT(message_of(sizes, quiet + "grouping = \"none\"\n"), HasSubstr("'tiny' has 5 and 'tiny' has 4"));
  EXPECT_THAT(message_of(devices, quiet), HasSubstr("'tiny' has 2 and 'tiny' has 3"));
  EXPECT_THAT(message_of(one, quiet + "grouping = \"none\"\ngroups = 5\n"), HasSubstr("groups is 5, but"));
  for (const char* name : {"noise_size", "squash", "temperature"})
    EXPECT_THAT(message_of(one, small + name + " = 1e39\n"), AllOf(HasSubstr(name), HasSubstr("1e+39")));
  EXPECT_THAT(message_of(one, small + "temperature = 1e-39\n"), AllOf(HasSubstr("temperature"), HasSubstr("1e-39")));
  EXPECT_THAT(message_of(one, "hidden = 5\n"), HasSubstr("even"));
  EXPECT_THAT(message_of(one, "adjacency = 5\n"), HasSubstr("even"));
}

}  // namespace
}  // namespace emplace::policy::hierarchical_test
