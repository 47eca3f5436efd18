// Placeto's policy: the beginning, the rounds and the end of its episodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "emplace/base/error.hpp"
#include "emplace/policy/policy.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::policy::placeto_test {
namespace {

using namespace test;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Made {
  Made(Problem of, const std::string& options, GroupingKind kind = GroupingKind::op)
      : problem(std::move(of)),
        list{{&problem, make_grouping(problem, kind)}},
        policy(make_policy(
            "placeto", ConfigTable::parse_toml("size = \"small\"\nmessage_rounds = 1\n" + options, "test"), list, 1)) {}

  // All rounds of a sample; every placement has the start times `starts`.
  std::vector<Rollout> episode(std::uint32_t sample, const std::vector<Ticks>& starts = {},
                               const Placement* best = nullptr) {
    Stream stream({.seed = 5, .purpose = Purpose::sample_placement, .update = 1, .index = sample});
    std::vector<Rollout> rounds(policy->rounds(0));
    for (std::uint32_t r = 0; r < rounds.size(); ++r) {
      rounds[r].sample = sample;
      rounds[r].round = r;
      const SampleSlot draw{&stream, std::span(rounds).first(r + 1), false, best};
      policy->sample({&draw, 1});
      rounds[r].starts = starts;
    }
    return rounds;
  }

  Problem problem;
  std::vector<PolicyProblem> list;
  std::unique_ptr<Policy> policy;
};

// The third op cannot run on device 0.
Problem three_ops() {
  return tiny(plain_devices(3), {{"a", {1, 1, 1}}, {"b", {1, 1, 1}}, {"c", {no, 1, 1}}}, {{0, 1}, {1, 2}}, 1);
}

// The initial placements of 20 episodes.
std::set<std::vector<std::uint8_t>> beginnings(Made& made) {
  std::set<std::vector<std::uint8_t>> all;
  for (std::uint32_t sample = 0; sample < 20; ++sample) {
    const Rollout first = made.episode(sample).front();
    check_placement(made.problem, first.placement);
    EXPECT_NE(first.placement.device[2], 0) << "c cannot run there";
    EXPECT_THAT(first.actions, IsEmpty());
    all.insert(first.placement.device);
  }
  return all;
}

TEST(Placeto, BeginsEveryEpisodeWithOneRandomPlacementUnlessItIsToldOtherwise) {
  Made once(three_ops(), ""), each(three_ops(), "initial = \"random-each\"");
  EXPECT_EQ(beginnings(once).size(), 1U);
  EXPECT_GT(beginnings(each).size(), 5U) << "20 draws of 18 placements";
}

TEST(Placeto, BeginsOnFirstDevicesAndShowsThemOrNone) {
  Made first(three_ops(), "initial = \"first\""), none(three_ops(), "initial = \"none\"");
  EXPECT_THAT(beginnings(first), ElementsAre(ElementsAre(0, 0, 1)));
  EXPECT_THAT(beginnings(none), ElementsAre(ElementsAre(0, 0, 1)));
  EXPECT_THAT(first.episode(0).front().observation, ElementsAre(0.0F, 0.0F, 1.0F));
  EXPECT_THAT(none.episode(0).front().observation, Each(255.0F)) << "on no device";
}

TEST(Placeto, BeginsWithTheBestSoFarOnceThereIsOne) {
  Made made(three_ops(), "initial = \"best\"");
  EXPECT_GT(beginnings(made).size(), 5U) << "no best placement yet: each begins at random";
  const Placement best{{2, 0, 1}, {}};
  for (std::uint32_t sample = 0; sample < 5; ++sample)
    EXPECT_THAT(made.episode(sample, {}, &best).front().placement.device, ElementsAre(2, 0, 1));
}

TEST(Placeto, PlacesOneUnitARoundAndEachUnitOnce) {
  // {a, c} and {d, f} are units, so an order of 4 units; the random one is drawn once for all episodes.
  const Problem problem = tiny(
      plain_devices(2),
      {{"a", {1, 1}, "g"}, {"b", {1, 1}}, {"c", {1, 1}, "g"}, {"d", {1, 1}, "h"}, {"e", {1, 1}}, {"f", {1, 1}, "h"}},
      {{0, 1}, {2, 3}, {3, 4}}, 1);
  for (const char* traversal : {"topo", "random"}) {
    Made made(problem, std::string("traversal = \"") + traversal + "\"", GroupingKind::colocation);
    const Grouping& units = made.list.front().grouping;
    ASSERT_EQ(units.count(), 4U);
    std::vector<std::set<std::size_t>> changed(5);  // by round, in any of 40 episodes
    for (std::uint32_t sample = 0; sample < 40; ++sample) {
      const std::vector<Rollout> rounds = made.episode(sample);
      ASSERT_EQ(rounds.size(), 5U);
      for (std::size_t r = 1; r < rounds.size(); ++r) {
        ASSERT_EQ(rounds[r].actions.size(), 1U);
        for (std::size_t op = 0; op < 6; ++op)
          if (rounds[r].placement.device[op] != rounds[r - 1].placement.device[op]) {
            changed[r].insert(units.unit_of_op[op]);
            EXPECT_EQ(rounds[r].placement.device[op], rounds[r].actions.front());
          }
      }
    }
    std::vector<std::size_t> order;
    for (std::size_t r = 1; r < 5; ++r) {
      ASSERT_EQ(changed[r].size(), 1U) << traversal << ", round " << r;
      order.push_back(*changed[r].begin());
    }
    if (std::string(traversal) == "topo")
      EXPECT_THAT(order, ElementsAre(0, 1, 2, 3));
    else
      EXPECT_THAT(order, ::testing::AllOf(::testing::UnorderedElementsAre(0, 1, 2, 3),
                                          ::testing::Not(ElementsAre(0, 1, 2, 3))));
  }
}

TEST(Placeto, ReadsWhenUnitsStartedInThePlacementBefore) {
  // Round 1 places the first of starts 0 6 9 11 16, round 4 the fourth: -11 -5 -2 0 5, the largest 11.
  Made made(chain_5(2), "initial = \"first\"");
  const std::vector<Rollout> rounds = made.episode(0, {0, 6 * ms, 9 * ms, 11 * ms, 16 * ms});
  EXPECT_THAT(rounds[1].observation, ElementsAre(0.0F, 6.0F / 16, 9.0F / 16, 11.0F / 16, 1.0F));
  EXPECT_THAT(rounds[4].observation, ElementsAre(-1.0F, -5.0F / 11, -2.0F / 11, 0.0F, 5.0F / 11));
  EXPECT_THAT(made.episode(0)[4].observation, Each(0.0F)) << "not timed";
}

TEST(Placeto, HasTheGradientOfABatchThatIsTheSumOfItsEpisodes) {
  // 100 units: an episode has seven blocks of states; a batch of three episodes has other blocks.
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 100; ++i) {
    ops.push_back({std::to_string(i), {1, 2}});
    if (i >= 3) edges.push_back({i - 3, i});
  }
  Made made(tiny(plain_devices(2), ops, edges, 1), "initial = \"random-each\"");
  std::vector<Rollout> batch;
  std::vector<double> coefficients;
  std::vector<double> sum(made.policy->parameters().size(), 0.0);
  LogProbabilities log;
  const auto gradient = [&](std::span<const Rollout> rollouts, std::span<const double> weights) {
    std::ranges::fill(made.policy->gradient(), 0.0F);
    made.policy->backward(rollouts, weights, 0.1);
    return std::vector<float>(made.policy->gradient().begin(), made.policy->gradient().end());
  };
  for (std::uint32_t sample = 0; sample < 3; ++sample) {
    const std::vector<Rollout> episode = made.episode(sample);
    std::vector<double> weights;
    for (std::size_t i = 0; i < 100; ++i) weights.push_back(std::sin(static_cast<double>(100 * sample + i)));
    made.policy->forward(episode, log);
    made.episode(7);  // sampling in between changes nothing
    const std::vector<float> alone = gradient(episode, weights);
    EXPECT_EQ(gradient(episode, weights), alone) << "nor does a second call";
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += alone[i];
    batch.insert(batch.end(), episode.begin(), episode.end());
    coefficients.insert(coefficients.end(), weights.begin(), weights.end());
  }
  made.policy->forward(batch, log);
  const std::vector<float> together = gradient(batch, coefficients);
  double largest = 0;
  for (const double g : sum) largest = std::max(largest, std::abs(g));
  EXPECT_GT(largest, 0.1);
  for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(together[i], sum[i], 1e-4 * largest) << i;
}

TEST(Placeto, RefusesMoreUnitsThanItCanKeepRelativesOf) {
  std::vector<TinyOp> ops;
  for (int i = 0; i < 4097; ++i) ops.push_back({std::to_string(i), {1, 1}});
  try {
    Made made(tiny(plain_devices(2), ops, {}), "");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("at most 4096, but 'tiny' has 4097; `groups` reduces them"));
  }
}

}  // namespace
}  // namespace emplace::policy::placeto_test
