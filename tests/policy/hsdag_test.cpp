// HSDAG's policy: its episodes, their check when a checkpoint is read, and the problems that it supports
// (docs/papers/hsdag.md, sections 2.5 and 7.7).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "emplace/base/error.hpp"
#include "emplace/policy/policy.hpp"
#include "policy/hsdag/features.hpp"
#include "policy/hsdag/network.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::policy::hsdag_test {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 12 ops: a path with some shortcuts, and one op by itself. The third cannot run on device 0.
Problem twelve_ops() {
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t op = 0; op < 12; ++op) {
    ops.push_back({"op" + std::to_string(op), {1, 2, 3}, "", 0, static_cast<Bytes>(10 * op)});
    if (op == 2) ops.back().milliseconds[0] = no;
    if (op > 0 && op < 11) edges.push_back({op - 1, op});
    if (op % 4 == 3 && op < 11) edges.push_back({op - 3, op});
  }
  return tiny(plain_devices(3), ops, edges, 1);
}

struct Made {
  explicit Made(const std::string& options, Problem of = twelve_ops(), std::uint64_t seed = 1)
      : problem(std::move(of)), list{{&problem, make_grouping(problem, GroupingKind::op)}} {
    policy = make_policy("hsdag", ConfigTable::parse_toml("hidden = 8\nupdate_timestep = 3\n" + options, "test"), list,
                         seed);
  }

  std::vector<Rollout> begin_episode(std::uint32_t sample, std::uint64_t update = 1) const {
    std::vector<Rollout> rounds(policy->rounds(0));
    for (std::uint32_t r = 0; r < rounds.size(); ++r) {
      rounds[r].update = update;
      rounds[r].sample = sample;
      rounds[r].round = r;
    }
    return rounds;
  }
  void draw_round(std::vector<Rollout>& rounds, std::size_t round, Stream& stream, bool greedy = false) const {
    const SampleSlot draw{&stream, std::span(rounds).first(round + 1), greedy};
    policy->sample({&draw, 1});
  }
  std::vector<Rollout> episode(std::uint32_t sample, std::uint64_t update = 1, bool greedy = false) const {
    Stream stream({.seed = 5, .purpose = Purpose::sample_placement, .update = update, .index = sample});
    std::vector<Rollout> rounds = begin_episode(sample, update);
    for (std::size_t r = 0; r < rounds.size(); ++r) draw_round(rounds, r, stream, greedy);
    return rounds;
  }
  std::vector<double> log_probabilities(const std::vector<Rollout>& rounds) const {
    LogProbabilities log;
    policy->forward(rounds, log);
    return log.value;
  }

  Problem problem;
  std::vector<PolicyProblem> list;
  std::unique_ptr<Policy> policy;
};

const std::string learned = "grouping = \"learned\"\ngroups = 4\n";
const std::string none_grouped = "grouping = \"none\"\n";

TEST(Hsdag, PlacesEveryClusterOnOneDeviceThatRunsIt) {
  for (const std::string& options : {std::string(), learned, none_grouped, std::string("parsing_passes = 2\n")}) {
    const Made made(options);
    for (std::uint32_t sample = 0; sample < 20; ++sample)
      for (const Rollout& round : made.episode(sample)) {
        check_placement(made.problem, round.placement);
        EXPECT_NE(round.placement.device[2], 0) << options;
        if (!options.empty()) continue;
        ASSERT_EQ(round.observation.size(), 12U);
        for (std::size_t unit = 0; unit < 12; ++unit)
          EXPECT_EQ(round.placement.device[made.list[0].grouping.members[unit].front()],
                    round.actions[static_cast<std::size_t>(round.observation[unit])]);
      }
  }
}

TEST(Hsdag, PlacesNodesOneByOneWithoutGrouping) {
  const Made made(none_grouped);
  for (const Rollout& round : made.episode(0)) EXPECT_EQ(round.actions.size(), 12U);
  std::set<std::vector<std::uint8_t>> seen;
  for (std::uint32_t sample = 0; sample < 20; ++sample) seen.insert(made.episode(sample).front().actions);
  EXPECT_GT(seen.size(), 15U);
}

TEST(Hsdag, DrawsOneOfSoManyGroupsForEachNodeWhereGroupsAreLearned) {
  const Made made(learned);
  const Rollout round = made.episode(0).front();
  const std::set<std::uint8_t> groups(round.actions.begin(), round.actions.begin() + 12);
  EXPECT_LE(groups.size(), 4U);
  EXPECT_EQ(round.actions.size(), 12 + groups.size());
}

TEST(Hsdag, GrowsItsFeaturesFromRoundToRoundAndBeginsEachEpisodeAnew) {
  const Made made("dropout = 0\n");
  const auto first = made.episode(0);
  const auto logs = made.log_probabilities(first);
  // The same decisions in the same clusters, one round later: other features, other probabilities.
  std::vector<Rollout> again = first;
  for (Rollout& round : again) {
    round.observation = first[0].observation;
    round.actions = first[0].actions;
  }
  const auto repeated = made.log_probabilities(again);
  const std::size_t heads = first[0].actions.size();
  for (std::size_t h = 0; h < heads; ++h) EXPECT_EQ(repeated[h], logs[h]);
  EXPECT_FALSE(std::equal(repeated.begin(), repeated.begin() + static_cast<std::ptrdiff_t>(heads),
                          repeated.begin() + static_cast<std::ptrdiff_t>(heads)));
  // A second episode in the same call begins where the first one did.
  std::vector<Rollout> both = first;
  both.insert(both.end(), first.begin(), first.end());
  const auto twice = made.log_probabilities(both);
  EXPECT_TRUE(std::equal(logs.begin(), logs.end(), twice.begin()));
  EXPECT_TRUE(std::equal(logs.begin(), logs.end(), twice.begin() + static_cast<std::ptrdiff_t>(logs.size())));
}

TEST(Hsdag, GoesOnWithAnEpisodeThatAnotherBegan) {
  for (const std::string& options : {std::string(), learned}) {
    const Made one(options), two(options);
    Stream stream({.seed = 5, .purpose = Purpose::sample_placement, .update = 1, .index = 7});
    std::vector<Rollout> rounds = one.begin_episode(7);
    one.draw_round(rounds, 0, stream);
    two.draw_round(rounds, 1, stream);
    one.draw_round(rounds, 2, stream);
    const auto wanted = one.episode(7);
    for (std::size_t r = 0; r < rounds.size(); ++r) {
      EXPECT_EQ(rounds[r].actions, wanted[r].actions);
      EXPECT_EQ(rounds[r].observation, wanted[r].observation);
    }
  }
}

TEST(Hsdag, DrawsFromTheProbabilitiesThatItLearnsFromDropoutIncluded) {
  // Every round has its own masks: without them, all samples would have the same probabilities in the first round.
  const Made made("dropout = 0.3\n" + none_grouped), without("dropout = 0\n" + none_grouped);
  const auto probabilities = [](const Made& from, std::uint32_t sample, std::uint64_t update) {
    auto rounds = from.episode(sample, update);
    for (Rollout& round : rounds) std::ranges::fill(round.actions, std::uint8_t{1});
    auto logs = from.log_probabilities(rounds);
    logs.resize(12);
    return logs;
  };
  EXPECT_EQ(probabilities(made, 0, 1), probabilities(made, 0, 1));
  EXPECT_NE(probabilities(made, 0, 1), probabilities(made, 1, 1));
  EXPECT_NE(probabilities(made, 0, 1), probabilities(made, 0, 2));
  EXPECT_EQ(probabilities(without, 0, 1), probabilities(without, 1, 2));
  // Frequencies of the first node over many masks against the mean probability: 5 standard deviations of 4000 draws.
  double expected = 0, found = 0;
  for (std::uint32_t sample = 0; sample < 4000; ++sample) {
    const auto rounds = made.episode(sample);
    found += rounds.front().actions.front() == 1 ? 1 : 0;
    auto asked = rounds;
    asked.front().actions.front() = 1;
    expected += std::exp(made.log_probabilities(asked).front());
  }
  EXPECT_NEAR(found, expected, 5 * std::sqrt(4000 * 0.25));
}

TEST(Hsdag, IsTheSameForEveryLikeliestEpisode) {
  const Made made("");
  const auto one = made.episode(0, 1, true), other = made.episode(3, 9, true);
  for (std::size_t r = 0; r < one.size(); ++r) EXPECT_EQ(one[r].actions, other[r].actions);
}

// Item 7.7: no gradient flows through X_t. The gradient of an episode is the sum over its rounds, each computed as a
// separate network with fixed features.
TEST(Hsdag, HasTheGradientOfItsRoundsWithTheirFeaturesHeldFixed) {
  const Made made("dropout = 0\nscore_layers = 1\n");
  const auto rounds = made.episode(0);
  const auto logs = made.log_probabilities(rounds);
  std::vector<double> coefficients;
  for (std::size_t h = 0; h < logs.size(); ++h) coefficients.push_back(std::sin(static_cast<double>(h) + 1));
  std::ranges::fill(made.policy->gradient(), 0.0F);
  made.policy->backward(rounds, coefficients, 0.2);

  HsdagOptions options;
  const auto types = op_types_of(made.list);
  const HsdagGraph graph = hsdag_graph(made.list.front());
  const HsdagColumns columns = hsdag_columns(options, {made.list, types}, {&graph, 1});
  const auto features = hsdag_features(made.list.front(), graph, columns, types, 1, 0);
  const HsdagNetwork network({.features = columns.width(), .hidden = 8, .devices = 3, .score_layers = 1});
  const std::vector<double> values(made.policy->parameters().begin(), made.policy->parameters().end());
  std::vector<double> x(features.begin(), features.end()), wanted(values.size(), 0.0);
  std::size_t head = 0;
  for (const Rollout& round : rounds) {
    nn::Tape<double> tape;
    tape.begin(values, wanted);
    HsdagPass<double> pass(tape, network, {x.data(), 12, columns.width()}, {});
    HsdagLevels levels;
    pool_parsed(pass, graph.graph, 1, levels, [&](std::size_t, const NodeGraph& now, nn::Var, Clusters& clusters) {
      clusters.of_node.assign(round.observation.begin(), round.observation.end());
      complete(now, round.actions.size(), clusters);
    });
    const auto result = pass.finish();
    std::vector<std::uint8_t> allowed(round.actions.size() * 3, 1);
    allowed[levels.cluster_of_node[made.list[0].grouping.unit_of_op[2]] * 3] = 0;
    const auto rows = nn::categorical<double>(tape, result.logits, allowed);
    for (std::size_t c = 0; c < round.actions.size(); ++c)
      EXPECT_NEAR(rows.log_probability(c, round.actions[c]), logs[head + c], 1e-4);
    nn::seed<double>(tape, rows, round.actions, std::span(coefficients).subspan(head, round.actions.size()), 0.2);
    tape.backward();
    head += round.actions.size();
    const auto z = tape.value(result.embedding);
    for (std::size_t v = 0; v < 12; ++v)
      for (std::size_t j = 0; j < columns.width(); ++j) x[v * columns.width() + j] += z(levels.cluster_of_node[v], j);
  }
  double largest = 0;
  for (const double g : wanted) largest = std::max(largest, std::abs(g));
  EXPECT_GT(largest, 0.01);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    ASSERT_NEAR(made.policy->gradient()[i], wanted[i], 2e-4 * largest) << i;
}

TEST(Hsdag, KeepsItsClustersWhenItsParametersMove) {
  Made made("");
  const auto rounds = made.episode(0);
  for (float& parameter : made.policy->parameters()) parameter = -parameter;
  std::size_t heads = 0;
  for (const Rollout& round : rounds) heads += round.actions.size();
  EXPECT_EQ(made.log_probabilities(rounds).size(), heads);
}

TEST(Hsdag, RefusesClustersThatParsingCannotProduce) {
  for (const char* options : {"", "parsing_passes = 2\n"}) {
    const Made made(options);
    const auto drawn = made.episode(0);
    EXPECT_NO_THROW(made.policy->check(drawn));
    const auto refused = [&](const std::function<void(Rollout&)>& change, const char* why) {
      auto rounds = drawn;
      change(rounds[1]);
      try {
        made.policy->check(rounds);
        ADD_FAILURE() << "wanted: " << why;
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr(why));
      }
    };
    refused([](Rollout& r) { r.observation[3] = 0.5F; }, "a node in cluster 0.5, wanted a whole number below 12");
    refused([](Rollout& r) { r.observation[3] = -1; }, "a node in cluster -1, wanted a whole number below 12");
    refused([](Rollout& r) { r.observation[3] = NAN; }, "a node in cluster nan, wanted a whole number below 12");
    refused([](Rollout& r) { r.observation[3] = 12; }, "a node in cluster 12, wanted a whole number below 12");
    refused([](Rollout& r) { r.observation[0] = 1; }, "not connected, or not in their order");
    refused([](Rollout& r) { r.observation[11] = 0; }, "not connected, or not in their order");
    refused([](Rollout& r) { r.observation.resize(11); }, "clusters of 11 of 12 nodes");
    refused([](Rollout& r) { r.observation.push_back(0); }, "after the clusters");
    refused([](Rollout& r) { r.actions.push_back(0); }, "devices in a round");
    refused([](Rollout& r) { r.actions[0] = 3; }, "device 3, wanted a number below 3");
  }
  const Made made(learned);
  auto rounds = made.episode(0);
  EXPECT_NO_THROW(made.policy->check(rounds));
  rounds[0].actions[2] = 4;
  EXPECT_THROW(made.policy->check(rounds), InputError);
  rounds[0].actions.resize(11);
  EXPECT_THROW(made.policy->check(rounds), InputError);
}

TEST(Hsdag, PlacesGraphsOfOneNodeOfIsolatedNodesAndWithoutBytes) {
  const Problem problems[] = {tiny(plain_devices(2), {{"only", {1, no}}}, {}),
                              tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}, {"c", {no, 1}}}, {}),
                              tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}, {"c", {1, 1}}}, {{0, 1}})};
  for (const Problem& problem : problems)
    for (const std::string& options : {std::string(), std::string("grouping = \"learned\"\ngroups = 2\n"), none_grouped,
                                       std::string("features = \"code\"\nparsing_passes = 3\n")}) {
      Made made(options, problem);
      const auto rounds = made.episode(0);
      made.policy->check(rounds);
      for (const Rollout& round : rounds) check_placement(problem, round.placement);
      const auto logs = made.log_probabilities(rounds);
      made.policy->backward(rounds, std::vector<double>(logs.size(), 1.0), 0.1);
      for (const float g : made.policy->gradient()) ASSERT_TRUE(std::isfinite(g));
    }
}

TEST(Hsdag, TakesTheFirstDeviceWhereNoneRunsACluster) {
  // Two joined ops that no device runs together are one cluster.
  const Made made("", tiny(plain_devices(2), {{"a", {1, no}}, {"b", {no, 1}}}, {{0, 1}}));
  for (const Rollout& round : made.episode(0)) EXPECT_THAT(round.placement.device, Each(0));
}

TEST(Hsdag, RefusesOptionsThatContradictEachOther) {
  const auto message = [](const std::string& options) {
    try {
      const Made made(options);
      return std::string("taken");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_THAT(message("groups = 3"),
              HasSubstr("groups is 3, but grouping 'parsed' determines the number itself: wanted 0"));
  EXPECT_THAT(message("grouping = \"learned\""), HasSubstr("grouping 'learned' needs a number of groups"));
  EXPECT_THAT(message("position_width = 3"), HasSubstr("position_width is 3, wanted an even number"));
}

TEST(Hsdag, RefusesProblemsOfDifferentNumbersOfDevices) {
  const Problem one = chain_5(1), two = twelve_ops();
  const std::vector<PolicyProblem> list = {{&one, make_grouping(one, GroupingKind::op)},
                                           {&two, make_grouping(two, GroupingKind::op)}};
  try {
    make_policy("hsdag", {}, list, 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("policy hsdag: all problems of one network need the same number of devices"));
  }
}

}  // namespace
}  // namespace emplace::policy::hsdag_test
