// Post from coarse to fine: at first blocks of neighbouring units share a device; they are split level by level.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "emplace/problem/grouping.hpp"
#include "tests/learn/training.hpp"

namespace emplace::learn::levels_test {
namespace {

using test::ms;
using test::number;
using test::whole;

// A chain of 1 ms ops on equal devices; every cut costs 5 ms, so the optimum is one device: `count` ms.
Problem chain(std::size_t count) {
  std::vector<test::TinyOp> ops;
  std::vector<test::TinyEdge> edges;
  for (std::size_t i = 0; i < count; ++i) {
    ops.push_back({.name = "op" + std::to_string(i), .milliseconds = {1, 1}, .bytes = 100});
    if (i > 0) edges.push_back({i - 1, i});
  }
  return test::tiny(test::plain_devices(2), ops, edges, 5);
}

struct Levels {
  explicit Levels(const ConfigTable& policy_options, std::uint64_t seed = 1, const ConfigTable& learner_options = {})
      : problem(chain(48)) {
    list.push_back({&problem, make_grouping(problem, GroupingKind::op)});
    policy = policy::make_policy("post", policy_options, list, seed);
    learner = find_entry(learners(), "post", "learner").make(learner_options, {list});
    const Problem* const pointers[] = {&problem};
    evaluator = evaluate::make_local_evaluator(pointers, Schedule::fifo);
    trainer = std::make_unique<Trainer>(*policy, *learner, *evaluator, list,
                                        TrainerOptions{.seed = seed, .budget_used = test::budget_of(100)});
  }
  Ticks best_of(std::uint64_t updates) {
    while (trainer->updates() < updates) trainer->step();
    return trainer->best().front().outcome.makespan;
  }
  // Of the likeliest decisions after so many updates. The best sample says little: of three blocks few placements
  // exist.
  Ticks likeliest_after(std::uint64_t updates) {
    best_of(updates);
    const Placement placement = test::greedy(*policy, 0).placement;
    const evaluate::EvaluationJob job{0, &placement};
    return evaluator->evaluate(std::span(&job, 1)).front().makespan;
  }
  Problem problem;
  std::vector<policy::PolicyProblem> list;
  std::unique_ptr<policy::Policy> policy;
  std::unique_ptr<Learner> learner;
  std::unique_ptr<evaluate::Evaluator> evaluator;
  std::unique_ptr<Trainer> trainer;
};

ConfigTable coarse() { return test::table({{"coarse_units", whole(3)}, {"coarse_share", number(0.8)}}); }

TEST(PostLevels, EveryLevelsBlocksAreUnionsOfTheNextOnes) {
  const Problem problem = chain(48);
  const Grouping fine = make_grouping(problem, GroupingKind::op);
  const Grouping coarse = coarsen(problem, fine, 6);
  EXPECT_EQ(coarse.count(), 6U);
  const Grouping coarser = coarsen(problem, coarse, 3);
  EXPECT_EQ(coarser.count(), 3U);
  for (std::size_t block = 0; block < coarse.count(); ++block)
    for (const std::uint32_t op : coarse.members[block])
      EXPECT_EQ(coarser.unit_of_op[op], coarser.unit_of_op[coarse.members[block].front()]);
}

TEST(PostLevels, BlocksDoubleUntilTheUnitsAreReachedWithAllPartsOfTheMethodAndWithEach) {
  // Levels 3, 6, 12, 24, 48, each a fifth of 100 updates.
  for (const char* steps : {"both", "proximal", "cross-entropy"}) {
    Levels levels(coarse(), 1, test::table({{"steps", test::text(steps)}}));
    for (const auto& [updates, heads] : {std::pair<std::uint64_t, std::size_t>{20, 3},
                                         {21, 6},
                                         {40, 6},
                                         {41, 12},
                                         {61, 24},
                                         {80, 24},
                                         {81, 48},
                                         {100, 48}}) {
      levels.best_of(updates);
      EXPECT_EQ(test::greedy(*levels.policy, 0).actions.size(), heads) << steps << " after " << updates << " updates";
    }
  }
}

TEST(PostLevels, FindTheUncutChainThatIndependentUnitsMiss) {
  int solved_without = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_EQ(Levels(coarse(), seed).likeliest_after(100), 48 * ms) << "seed " << seed;
    solved_without += Levels(ConfigTable{}, seed).likeliest_after(100) == 48 * ms;
  }
  EXPECT_LT(solved_without, 5) << "the case is too easy to show anything";
}

TEST(PostLevels, ParametersAloneCarryTheLevel) {
  Levels first(coarse());
  first.best_of(45);
  Levels second(coarse());
  std::copy(first.policy->parameters().begin(), first.policy->parameters().end(), second.policy->parameters().begin());
  second.policy->parameters_changed();
  EXPECT_EQ(test::greedy(*second.policy, 0).actions, test::greedy(*first.policy, 0).actions);
  second.learner->load(first.learner->save(), *second.policy);
  second.trainer->load(first.trainer->save());
  EXPECT_EQ(second.best_of(90), first.best_of(90));
  EXPECT_TRUE(std::equal(first.policy->parameters().begin(), first.policy->parameters().end(),
                         second.policy->parameters().begin()));
}

TEST(PostLevels, ElitesOfACoarserLevelCountAtAFinerOne) {
  // Levels 3, 6, 12, ... Elites of the first put its blocks on devices 1, 0, 1.
  Levels levels(coarse());
  policy::Rollout elite;
  elite.actions = {1, 0, 1};
  levels.policy->fit({&elite, 1});
  levels.policy->advance(0.2);
  ASSERT_EQ(test::greedy(*levels.policy, 0).actions.size(), 6U);
  const Placement before = test::greedy(*levels.policy, 0).placement;
  elite.actions = {0, 1, 0};
  levels.policy->fit({&elite, 1});
  const Placement after = test::greedy(*levels.policy, 0).placement;
  for (std::size_t op = 0; op < 48; ++op) EXPECT_NE(after.device[op], before.device[op]) << op;
}

TEST(PostLevels, ElitesThatNoTrainingDrewAreRefused) {
  Levels levels(coarse());
  policy::Rollout elite;
  for (const std::vector<std::uint8_t>& actions : {std::vector<std::uint8_t>{0, 1}, {0, 1, 2}}) {
    elite.actions = actions;
    EXPECT_THROW(levels.policy->check({&elite, 1}), InputError) << actions.size();
  }
}

// Logits of devices that a block cannot run on have other positions in the parameters at each level.
TEST(PostLevels, ParametersCarryForbiddenDevicesOfTheirLevel) {
  Problem problem = chain(48);
  for (const std::size_t op : {5U, 40U}) problem.op_time[op * 2 + 1] = cannot_run;
  const std::vector<policy::PolicyProblem> list = {{&problem, make_grouping(problem, GroupingKind::op)}};
  const auto first = policy::make_policy("post", coarse(), list, 1),
             second = policy::make_policy("post", coarse(), list, 1);
  first->advance(1);
  ASSERT_EQ(test::greedy(*first, 0).actions.size(), 48U);
  std::ranges::copy(first->parameters(), second->parameters().begin());
  second->parameters_changed();
  EXPECT_EQ(test::greedy(*second, 0).placement, test::greedy(*first, 0).placement);

  for (const auto& [op, device, value] :
       {std::tuple(5, 1, 0.0F), {5, 0, -std::numeric_limits<float>::infinity()}, {6, 1, std::nanf("")}}) {
    std::ranges::copy(first->parameters(), second->parameters().begin());
    second->parameters()[static_cast<std::size_t>(op * 2 + device)] = value;
    EXPECT_THROW(second->parameters_changed(), InputError) << op << " " << device;
  }
}

TEST(PostLevels, ALevelThatNoTrainingLeavesIsRefused) {
  Levels levels(coarse());
  levels.policy->parameters().back() = -1;
  EXPECT_THROW(levels.policy->parameters_changed(), InputError);
}

}  // namespace
}  // namespace emplace::learn::levels_test
