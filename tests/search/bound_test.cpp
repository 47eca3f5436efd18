#include "emplace/search/bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "emplace/simulate/engine.hpp"
#include "search/bounds/assignment_dual.hpp"
#include "search/bounds/context.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/search/every_schedule.hpp"
#include "tests/search/random_step.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::search::bound_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

Ticks by(const std::string& method, const Problem& problem) {
  for (const LowerBound& each : lower_bounds(problem, Objective::step, 5).methods)
    if (each.method == method) return each.ticks;
  ADD_FAILURE() << "no bound " << method;
  return 0;
}

TEST(LowerBound, CountsTransfersThatNoChoiceOfDevicesAvoids) {
  // chain-5: fastest times 4 3 2 3 4 on devices 0 1 1 1 0. With transfers of 2: 4 +2 +3 +2 +3 +2 +4 = 20, which beats
  // staying on device 0 (28) or 1 (24); with transfers of 9 staying on device 1 is best.
  EXPECT_EQ(by("critical-path", chain_5(2)), 20 * ms);
  EXPECT_EQ(by("critical-path", chain_5(9)), 24 * ms);
  // Each op runs on one device only: 3 + 5 + 4.
  EXPECT_EQ(by("critical-path", tiny(plain_devices(2), {{"a", {3, no}}, {"b", {no, 4}}}, {{0, 1}}, 5)), 12 * ms);
}

TEST(LowerBound, KeepsGroupsTogetherOnThePath) {
  // a and c are fast on device 0, b on device 1. Apart: 1 + 2 + 1 + 2 + 1 = 7. With b in a's group: 1 + 9 + 1 = 11 on
  // device 0, where all three must then be, or 9 + 1 + 9 = 19 on device 1; c may leave: 9 + 1 + 2 + 1 = 13.
  const auto problem = [](const char* group) {
    return tiny(plain_devices(2), {{"a", {1, 9}, group}, {"b", {9, 1}, group}, {"c", {1, 9}}}, {{0, 1}, {1, 2}}, 2);
  };
  EXPECT_EQ(by("critical-path", problem("")), 7 * ms);
  EXPECT_EQ(by("critical-path", problem("g")), 11 * ms);
}

TEST(LowerBound, SpreadsTheLoadOverUnlikeDevices) {
  // Two chains on two devices: path 40, load 80 / 2.
  EXPECT_EQ(lower_bound(two_chains(1)).ticks, 40 * ms);
  // Three independent ops of 5 on two devices: path 5, load 15 / 2 rounded up.
  const Problem p = tiny(plain_devices(2), {{"a", {5, 5}}, {"b", {5, 5}}, {"c", {5, 5}}}, {});
  EXPECT_EQ(by("load", p), 7'500'000'000);
  // Device 1 is three times slower: 12 of work split 9 to 3 of device 0's time, 9 on each.
  EXPECT_EQ(by("load", tiny(plain_devices(2), {{"a", {6, 18}}, {"b", {6, 18}}}, {})), 9 * ms);
  // a is best on 0 (2 against 6), b on 1 (2 against 4), c (6 and 6) is shared: a and b at home and c halved give 5, and
  // weights 1/2 prove it: 1 + 1 + 3.
  EXPECT_EQ(by("load", tiny(plain_devices(2), {{"a", {2, 6}}, {"b", {4, 2}}, {"c", {6, 6}}}, {})), 5 * ms);
}

TEST(LowerBound, FindsWeightsThatNoReferenceGives) {
  // a: 1 and 3, b: 2 and 1, c: 4 and 4, on two devices. Fractional optimum: a on 0, b on 1, c halved: 1 + 2 = 3.
  const Problem p = tiny(plain_devices(2), {{"a", {1, 3}}, {"b", {2, 1}}, {"c", {4, 4}}}, {});
  EXPECT_EQ(by("load", p), 3 * ms);
}

// s (1) -> five ops of 10 -> t (1) on two devices, transfers of 2.
Problem five_between_two() {
  return tiny(plain_devices(2),
              {{"s", {1, 1}},
               {"a", {10, 10}},
               {"b", {10, 10}},
               {"c", {10, 10}},
               {"d", {10, 10}},
               {"e", {10, 10}},
               {"t", {1, 1}}},
              {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {1, 6}, {2, 6}, {3, 6}, {4, 6}, {5, 6}}, 2);
}

TEST(LowerBound, PutsParallelWorkBetweenItsHeadAndItsTail) {
  // The path has 1 + 10 + 1 = 12, the load 52 / 2 = 26. The five run after s and before t: 1 + 50 / 2 + 1 = 27.
  const Problem p = five_between_two();
  EXPECT_EQ(by("critical-path", p), 12 * ms);
  EXPECT_EQ(by("load", p), 26 * ms);
  BoundContext context(p, 1);
  EXPECT_EQ(windows_bound().bound(context), 27 * ms) << "from the heads and tails of the path alone";
  EXPECT_GE(by("windows", p), 27 * ms) << "from those of joint-path";
}

TEST(LowerBound, CountsWholeOpsInAWindow) {
  // The same with the work of five ops of 10 that two devices cannot share equally: one of them runs three, after s (1)
  // and before t (1), which makes 32 where windows has 27.
  const Problem p = five_between_two();
  BoundContext context(p, 1);
  EXPECT_EQ(slots_bound().bound(context), 32 * ms);
  const auto alone = [](const Problem& problem) {
    BoundContext fresh(problem, 1);
    return slots_bound().bound(fresh);
  };
  // Of 7, 6, 5 and 1 on two devices, one runs two of the three longest: 5 + 6.
  EXPECT_EQ(alone(tiny(plain_devices(2), {{"a", {7, 8}}, {"b", {9, 6}}, {"c", {5, 5}}, {"d", {1, 1}}}, {})), 11 * ms);
  // A device that can run none of them does not count.
  EXPECT_EQ(alone(tiny(plain_devices(2), {{"a", {4, no}}, {"b", {4, no}}}, {})), 8 * ms);
}

TEST(LowerBound, CountsOpsThatTransfersKeepTogetherAsOne) {
  // Three pairs a -> b of 2 and 3 on two devices with transfers of 9: apart, a pair takes 14. Below that the three
  // pairs of 5 stay whole, and one device runs two of them: 10.
  const Problem p =
      tiny(plain_devices(2), {{"a", {2, 2}}, {"b", {3, 3}}, {"c", {2, 2}}, {"d", {3, 3}}, {"e", {2, 2}}, {"f", {3, 3}}},
           {{0, 1}, {2, 3}, {4, 5}}, 9);
  EXPECT_EQ(by("windows", p), 15 * ms / 2);
  EXPECT_EQ(by("slots", p), 10 * ms);
}

TEST(LowerBound, CountsThePartsOfOpsInAWindow) {
  // a (6) and b (2) on device 0; s (2) before b and t (2) after it on device 1. In a step of 9, b runs between 2 and 7,
  // and a does at least 4 of its 6 there, even if it begins at 0 or ends at 9: 6 in a window of 5. The optimum is 10.
  const Problem p =
      tiny(plain_devices(2), {{"a", {6, no}}, {"s", {no, 2}}, {"b", {2, no}}, {"t", {no, 2}}}, {{1, 2}, {2, 3}});
  EXPECT_EQ(by("windows", p), 8 * ms);
  EXPECT_NEAR(static_cast<double>(by("energy", p)), 10e9, 5) << "transfers take 1 ps";
  EXPECT_LE(by("energy", p), by("search", p));
}

TEST(LowerBound, KnowsThatMemoryForcesTransfers) {
  // A chain of 2 2 2, each 4 bytes resident, on three devices of 4 bytes: three devices, two transfers of 5. The second
  // cheapest cut goes through one transfer at least: 6 + 5.
  const std::vector<Device> small = {{"a", "", 4}, {"b", "", 4}, {"c", "", 4}};
  const std::vector<TinyOp> ops = {{"a", {2, 2, 2}, "", 4}, {"b", {2, 2, 2}, "", 4}, {"c", {2, 2, 2}, "", 4}};
  EXPECT_EQ(by("memory", tiny(small, ops, {{0, 1}, {1, 2}}, 5)), 11 * ms);
  // All ops fit on one device: no transfer is forced.
  const std::vector<Device> large = {{"a", "", 12}, {"b", "", 4}, {"c", "", 4}};
  EXPECT_EQ(by("memory", tiny(large, ops, {{0, 1}, {1, 2}}, 5)), 0);
}

TEST(LowerBound, ProvesThatNothingIsFeasible) {
  const auto reason = [](const Problem& problem) {
    return lower_bounds(problem, Objective::step, 1).infeasible.value_or("feasible");
  };
  const std::vector<Device> small = {{"a", "", 8}, {"b", "", 8}};
  EXPECT_THAT(reason(tiny(small, {{"big", {1, 1}, "", 9}}, {})), HasSubstr("'big' fits in the memory of no device"));
  EXPECT_THAT(reason(tiny(small, {{"x", {1, 1}, "", 6}, {"y", {1, 1}, "", 6}, {"z", {1, 1}, "", 6}}, {})),
              HasSubstr("18 B of resident memory, but all devices together have 16 B"));
  ProblemBuilder apart("apart");
  apart.add_device({"a", "", no_memory_limit});
  apart.add_device({"b", "", no_memory_limit});
  OpSpec first, second;
  first.name = "first", first.seconds = {1, no};
  second.name = "second", second.seconds = {no, 1};
  apart.add_op(first);
  apart.add_op(second);
  apart.add_tensor(OpId{0}, 1, {OpId{1}});
  EXPECT_THAT(reason(apart.build()), HasSubstr("run 'second' has routes from"));
}

TEST(LowerBound, ProvesThatWhatFollowsCannotBeReached) {
  // x runs anywhere, y on device 0 only and z on device 1 only; there are no routes. Each of y and z has a device where
  // its input can be, but x would have to be on both.
  ProblemBuilder fork("fork");
  fork.add_device({"a", "", no_memory_limit});
  fork.add_device({"b", "", no_memory_limit});
  fork.add_op({.name = "x", .type = "", .seconds = {1, 1}, .colocate = ""});
  fork.add_op({.name = "y", .type = "", .seconds = {1, no}, .colocate = ""});
  fork.add_op({.name = "z", .type = "", .seconds = {no, 1}, .colocate = ""});
  fork.add_tensor(OpId{0}, 1, {OpId{1}, OpId{2}});
  EXPECT_THAT(lower_bounds(fork.build(), Objective::step, 1).infeasible.value_or("feasible"),
              HasSubstr("run 'x' has routes to devices that can run all ops after it"));
}

TEST(LowerBound, ProvesThatResidentBytesCannotBePacked) {
  // Three ops of 6 bytes into two devices of 9: 18 bytes in all fit into 18, but no device holds two of them.
  const std::vector<Device> devices = {{"a", "", 9}, {"b", "", 9}};
  const Problem p = tiny(devices, {{"x", {1, 1}, "", 6}, {"y", {1, 1}, "", 6}, {"z", {1, 1}, "", 6}}, {});
  const BoundReport report = lower_bounds(p, Objective::step, 5);
  EXPECT_THAT(report.infeasible.value_or("feasible"), HasSubstr("search has ruled out every placement"));
  EXPECT_TRUE(report.methods.empty());
}

TEST(LowerBound, EndsSoonAfterItIsAskedToStop) {
  // 64 ops in 8 layers, each read by all ops of the next layer: branch and bound does not finish.
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 64; ++i) {
    const auto odd = static_cast<double>(i % 7);
    ops.push_back({"op" + std::to_string(i), {1 + odd, 8 - odd, 4}});
    for (std::size_t j = 0; i >= 8 && j < 8; ++j) edges.push_back({8 * (i / 8 - 1) + j, i});
  }
  const Problem p = tiny(plain_devices(3), ops, edges, 0.5);
  int asked = 0;
  const BoundReport report = lower_bounds(p, Objective::step, 3600, [&] { return ++asked > 100; });
  EXPECT_GT(asked, 100);
  EXPECT_GE(report.best().ticks, lower_bound(p).ticks);
}

// A proof with other weights than the optimal ones is still a proof.
TEST(LowerBound, AnyWeightsCertify) {
  const UnitTimes units{2, {2, 6, 4, 2, 6, 6}};
  EXPECT_EQ(load_certificate(units, {1, 1}), 5);  // (2 + 2 + 6) / 2
  EXPECT_EQ(load_certificate(units, {1, 0}), 0);  // all of it on device 1
  EXPECT_EQ(load_certificate(units, {2, 1}), 4);  // (4 + 2 + 6) / 3
  EXPECT_EQ(load_certificate(units, {3, 2}), 5);  // (6 + 4 + 12) / 5 = 4.4, rounded up
  EXPECT_EQ(best_load_weights(units, {{2, 1}, 4}, Deadline(5.0)).bound, 5);
}

TEST(LowerBound, PutsLoadPathAndMemoryIntoOneLinearProgram) {
  // A chain of four ops of 1 ms on device 0, which holds two of them, and 10 ms on device 1: the path is 4, the load 40
  // / 11, and one transfer of 1 ps is forced. Half of the ops' shares must be on device 1: 2 + 20.
  const std::vector<Device> devices = {{"small", "", 8}, {"slow", "", no_memory_limit}};
  std::vector<TinyOp> ops;
  for (const char* name : {"a", "b", "c", "d"}) ops.push_back({name, {1, 10}, "", 4});
  const Problem p = tiny(devices, ops, {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_LT(by("load", p), 4 * ms);
  EXPECT_LE(by("linear-program", p), 22 * ms);
  EXPECT_NEAR(static_cast<double>(by("linear-program", p)), 22e9, 1e3);
}

TEST(LowerBound, OfSmallGraphsIsTheOptimum) {
  // Fork and join of 1, 10, 10, 1 with transfers of 2: one of the two and then the join are better elsewhere, for the
  // other's result is there before it ends: 1 + 2 + 10 + 1.
  EXPECT_EQ(by("search", fork_join(2)), 14 * ms);
}

// a and b are 4 long and c, which reads both, 1, on two equal devices with transfers of t. Path: 4 + 1.
TEST(LowerBound, ChoosesBetweenOneDeviceAndATransfer) {
  const auto join = [](double t) {
    return tiny(plain_devices(2), {{"a", {4, 4}}, {"b", {4, 4}}, {"c", {1, 1}}}, {{0, 2}, {1, 2}}, t);
  };
  EXPECT_EQ(by("critical-path", join(3)), 5 * ms);
  EXPECT_EQ(by("joint-path", join(3)), 8 * ms) << "a sent: 4 + 3 + 1";
  EXPECT_EQ(by("joint-path", join(5)), 9 * ms) << "nothing sent: 4 + 4 + 1";
  // The same backwards: a first, then b and c.
  EXPECT_EQ(
      by("joint-path", tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {4, 4}}, {"c", {4, 4}}}, {{0, 1}, {0, 2}}, 3)),
      8 * ms);
}

TEST(LowerBound, CountsTheOpsElsewhereToo) {
  // s (1) -> a, b, c (10 each) -> t (1) on two equal devices, transfers of 7. All on one device: 32. If t is not with
  // s, what t's device runs of a, b, c waits for s (1 + 7 + 10), and the rest goes one by one and is sent: with one
  // there, 1 + 20 + 7 + 1. If t is with s, the one op elsewhere is between two transfers: 1 + 7 + 10 + 7 + 1.
  const Problem p =
      tiny(plain_devices(2), {{"s", {1, 1}}, {"a", {10, 10}}, {"b", {10, 10}}, {"c", {10, 10}}, {"t", {1, 1}}},
           {{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}}, 7);
  EXPECT_EQ(by("search", p), 26 * ms);
  EXPECT_NEAR(static_cast<double>(by("joint-path", p)), 26e9, 26e6) << "starts are searched in steps";
}

constexpr Schedule schedules[] = {Schedule::fifo, Schedule::priority, Schedule::in_order};

// The shortest feasible step of some placements, under every schedule.
class Seen {
 public:
  explicit Seen(const Problem& problem) {
    for (const Schedule schedule : schedules) engines_.push_back(simulate::make_exact_engine(problem, schedule));
  }
  void add(const Placement& placement) {
    for (const auto& engine : engines_)
      if (const Outcome outcome = engine->evaluate(placement); outcome.feasible())
        best = std::min(best, outcome.makespan);
  }
  Ticks best = never;

 private:
  std::vector<std::unique_ptr<simulate::Engine>> engines_;
};

TEST(LowerBound, AnyMultipliersOfTheLinearProgramCertify) {
  std::size_t positive = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Stream random{{.seed = seed + 77}};
    const Problem problem = test::random_step_problem(random, 7, 3);
    BoundContext context(problem, 1);
    if (context.infeasible()) continue;
    const StepArcs arcs(problem, context.possible, context.earliest);
    Multipliers any;
    const auto fill = [&](std::vector<double>& list, std::size_t size, double most) {
      for (std::size_t i = 0; i < size; ++i)
        list.push_back(random.below(3) == 0 ? (random.below(1000) / 500.0 - 0.5) * most : 0);
    };
    fill(any.load, arcs.devices, 1);
    fill(any.memory, arcs.devices, 3);
    fill(any.arc, arcs.arcs.size(), 1);
    fill(any.move, arcs.arcs.size() * arcs.devices, 20);
    fill(any.tail, arcs.ops, 1);
    Seen seen(problem);
    for (int i = 0; i < 40; ++i) seen.add(test::random_placement(problem, random));
    const Ticks bound = dual_certificate(arcs, any);
    EXPECT_LE(bound, seen.best) << "seed " << seed;
    positive += bound > 0;
  }
  EXPECT_GT(positive, 500U);
}

TEST(LowerBound, OfEveryMethodIsNeverAboveTheBestStepSeenInThousandsOfProblems) {
  std::size_t feasible = 0, tight = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Stream random{{.seed = seed}};
    const Problem problem = test::random_step_problem(random, 9, 4);
    Seen seen(problem);
    for (int i = 0; i < 40; ++i) seen.add(test::random_placement(problem, random));
    const BoundReport report = lower_bounds(problem, Objective::step, 5);
    if (seen.best == never) continue;
    ++feasible;
    EXPECT_FALSE(report.infeasible) << "seed " << seed << ": " << *report.infeasible;
    for (const LowerBound& each : report.methods) EXPECT_LE(each.ticks, seen.best) << each.method << ", seed " << seed;
    EXPECT_LE(lower_bound(problem).ticks, seen.best) << "seed " << seed;
    tight += report.best().ticks == seen.best;
  }
  EXPECT_GT(feasible, 2000U);
  EXPECT_GT(tight, 500U) << "and often equal to it";
}

// Without memory limits and contention branch and bound proves the optimum itself. The linear program is left out here,
// because each of its programs takes a process.
TEST(LowerBound, OfNoMethodIsAboveTheProvedOptimum) {
  std::size_t proved = 0, tight = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Stream random{{.seed = seed + 100'000}};
    const Problem problem = test::without_limits(test::random_step_problem(random, 9, 3));
    BoundContext context(problem, 3600);  // the search has to end by itself
    if (context.infeasible()) continue;
    context.weights = quick_load_weights(unit_times(problem, context.possible));
    Ticks joint = 0;
    for (const BoundEntry& entry :
         {critical_path_bound(), joint_path_bound(), windows_bound(), slots_bound(), energy_bound()})
      context.best = joint = std::max(joint, entry.bound(context));
    const Ticks optimum = search_bound().bound(context);
    if (context.nothing_feasible) continue;
    EXPECT_LE(joint, optimum) << "seed " << seed;
    ++proved;
    tight += joint == optimum;
  }
  EXPECT_GT(proved, 600U);
  EXPECT_GT(tight, proved / 2) << "and often equal to it";
}

TEST(LowerBound, OfEveryMethodIsNeverAboveTheBestOfAllSchedulesOverSharedChannels) {
  std::size_t feasible = 0, refuted = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Stream random{{.seed = seed + 40'000}};
    const Problem problem = test::random_step_problem(random, 5, 3, true);
    Ticks best = total_limit;
    for (const Schedule schedule : schedules) best = std::min(best, test::best_of_all(problem, schedule));
    const BoundReport report = lower_bounds(problem, Objective::step, 5);
    if (best == total_limit) {
      refuted += report.infeasible.has_value();
      continue;
    }
    ++feasible;
    EXPECT_FALSE(report.infeasible) << "seed " << seed << ": " << *report.infeasible;
    for (const LowerBound& each : report.methods) EXPECT_LE(each.ticks, best) << each.method << ", seed " << seed;
  }
  EXPECT_GT(feasible, 200U);
  EXPECT_GT(refuted, 5U);
}

TEST(LowerBound, IsNeverAboveASimulatedStep) {
  EXPECT_TRUE(rc::check(
      "bound <= makespan", [](const test::RandomProblem& random, const std::vector<test::RandomPlacement>& placements) {
        Problem problem = test::problem_of(random);
        if (*rc::gen::arbitrary<bool>())
          for (Device& device : problem.devices) device.memory = *rc::gen::inRange<Bytes>(5, 60);
        Seen seen(problem);
        for (const test::RandomPlacement& placement : placements) seen.add(test::placement_of(problem, placement));
        if (seen.best == never) return;
        const BoundReport report = lower_bounds(problem, Objective::step, 0.02);
        RC_ASSERT(!report.infeasible);
        for (const LowerBound& each : report.methods) RC_ASSERT(each.ticks <= seen.best);
        // At any time, the coarse form of the path bound is below the fine one.
        const auto possible = possible_devices(problem);
        const EarliestTimes fine = earliest_times(problem, possible), coarse = earliest_times(problem, possible, 0);
        for (std::size_t i = 0; i < fine.end.size(); ++i) {
          RC_ASSERT(coarse.end[i] <= fine.end[i]);
          RC_ASSERT(coarse.tail[i] <= fine.tail[i]);
        }
      }));
}

}  // namespace
}  // namespace emplace::search::bound_test
