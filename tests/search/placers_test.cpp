// Properties of single placers that the conformance test does not check, worked by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "emplace/search/placer.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::search::placers_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

PlacerResult place(const std::string& method, const Problem& problem,
                   std::optional<std::uint64_t> budget = std::nullopt,
                   ConfigTable options = ConfigTable("command line"), std::uint64_t seed = 0) {
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, Schedule::fifo);
  PlacerRequest request;
  request.problem = &problem;
  request.seed = seed;
  request.evaluations = budget;
  request.evaluator = evaluator.get();
  return place_with(method, request, options);
}

std::string refusal(const std::string& method, const Problem& problem,
                    std::optional<std::uint64_t> budget = std::nullopt) {
  try {
    place(method, problem, budget);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Single, TakesTheBestDevice) {
  // chain-5: device 0 takes 4+6+8+6+4 = 28, device 1 8+3+2+3+8 = 24.
  const PlacerResult result = place("single", chain_5(2));
  EXPECT_EQ(result.outcome.makespan, 24 * ms);
  EXPECT_EQ(result.evaluations, 2u);
}

TEST(Device, TakesTheNamedDeviceEvenIfItsNameHasAColon) {
  EXPECT_EQ(place("device:gpu:0", chain_5(2)).outcome.makespan, 28 * ms);
  EXPECT_EQ(place("device:gpu:1", chain_5(2)).outcome.makespan, 24 * ms);
}

TEST(Device, SendsWhatItCannotRunToTheFastestOther) {
  const Problem p = tiny(plain_devices(3), {{"a", {1, 1, 1}}, {"b", {no, 7, 5}}}, {{0, 1}}, 1);
  EXPECT_THAT(place("device:gpu:0", p).placement.device, ElementsAre(0, 2));
}

TEST(Device, NamesTheNearestDevice) {
  EXPECT_EQ(refusal("device:gpu:7", chain_5(2)), "command line: unknown device 'gpu:7' (did you mean 'gpu:0'?)");
  EXPECT_THAT(refusal("device", chain_5(2)), HasSubstr("needs a name, as in 'device:gpu:0'"));
}

TEST(PlaceWith, NamesTheNearestMethod) {
  EXPECT_THAT(refusal("gredy", chain_5(2)), HasSubstr("unknown placer 'gredy' (did you mean 'greedy'?)"));
  EXPECT_THAT(refusal("divice:gpu:1", chain_5(2)), HasSubstr("did you mean 'device:gpu:1'?"));
  EXPECT_THAT(refusal("", chain_5(2)), HasSubstr("there are: single, device"));
}

TEST(PlaceWith, RefusesEmptyBudgets) {
  EXPECT_THAT(refusal("greedy", chain_5(2), 0), HasSubstr("0 evaluations"));
  const Problem p = chain_5(2);
  PlacerRequest request;
  request.problem = &p;
  for (const double seconds : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    request.seconds = seconds;
    EXPECT_THROW(place_with("greedy", request, ConfigTable{}), InputError);
  }
}

TEST(RoundRobin, TakesDevicesInTurnAndSkipsThoseThatCannot) {
  // b cannot run on device 1, whose turn it is, so device 2 takes it, and the next op continues from there.
  const Problem p = tiny(plain_devices(3), {{"a", {1, 1, 1}}, {"b", {1, no, 1}}, {"c", {1, 1, 1}}, {"d", {1, 1, 1}}},
                         {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_THAT(place("round-robin", p).placement.device, ElementsAre(0, 2, 0, 1));
}

TEST(Random, FindsTheOptimumOfASmallProblem) {
  // 2^5 placements, 1000 tries: all are tried (probability of missing one below 32 e^-31).
  EXPECT_EQ(place("random", chain_5(2)).outcome.makespan, 20 * ms);
  EXPECT_EQ(place("random", chain_5(2)).evaluations, 1000u);
}

TEST(Random, TakesItsNumberFromTheBudgetOrTheOption) {
  EXPECT_EQ(place("random", chain_5(2), 1234).evaluations, 1234u);
  ConfigTable options("command line");
  options.set("samples", {std::int64_t{17}, "command line"});
  EXPECT_EQ(place("random", chain_5(2), std::nullopt, options).evaluations, 17u);
}

TEST(Random, ALargerBudgetIsNeverWorse) {
  Ticks last = total_limit;
  for (const std::uint64_t budget : {1, 3, 10, 40, 100}) {
    const Ticks now = place("random", two_chains(1), budget).outcome.makespan;
    EXPECT_LE(now, last);
    last = now;
  }
}

TEST(Random, DrawsEachDeviceEquallyOften) {
  // One op, device times 2, 1: a budget of 1 takes device 0 or 1 by the seed. 400 seeds: 200 +- 10 of each; 5 sigma.
  const Problem p = tiny(plain_devices(2), {{"a", {2, 1}}}, {});
  int second = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed)
    second += place("random", p, 1, ConfigTable{}, seed).placement.device[0];
  EXPECT_NEAR(second, 200, 50);
}

TEST(Contiguous, CutsWhereTheBusiestPieceIsShortest) {
  // Three equal devices, costs 3 3 2 2 2 in a row, free transfers, but a chain: no cut helps a chain, so one device
  // wins.
  const std::vector<TinyOp> row = {
      {"a", {3, 3, 3}}, {"b", {3, 3, 3}}, {"c", {2, 2, 2}}, {"d", {2, 2, 2}}, {"e", {2, 2, 2}}};
  EXPECT_EQ(place("contiguous", tiny(plain_devices(3), row, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 1)).outcome.makespan,
            12 * ms);
  // Without edges: one device 12, two 6 + 6, three 3+... the best cut is [3] [3 2] [2 2] -> 5.
  const PlacerResult free = place("contiguous", tiny(plain_devices(3), row, {}));
  EXPECT_EQ(free.outcome.makespan, 5 * ms);
}

TEST(Contiguous, PrefersGpusAndUsesFewerWhereThatIsBetter) {
  // Independent ops: cpu 10 each, gpus 1 each: 4 ops on two gpus take 2.
  const std::vector<TinyOp> ops = {{"a", {10, 1, 1}}, {"b", {10, 1, 1}}, {"c", {10, 1, 1}}, {"d", {10, 1, 1}}};
  const Problem p = tiny({{"cpu:0", "cpu"}, {"gpu:0", "gpu"}, {"gpu:1", "gpu"}}, ops, {});
  const PlacerResult result = place("contiguous", p);
  EXPECT_EQ(result.outcome.makespan, 2 * ms);
  EXPECT_THAT(result.placement.device, ElementsAre(1, 1, 2, 2));
}

TEST(Contiguous, CutsByMemoryWhereBalanceAloneOverflows) {
  // The costs lead to [a] [b c d], the weights (4 bytes each, 8 per device) to [a b] [c d].
  const Problem p = tiny({{"gpu:0", "gpu", 8}, {"gpu:1", "gpu", 8}},
                         {{"a", {9, 9}, "", 4}, {"b", {3, 3}, "", 4}, {"c", {3, 3}, "", 4}, {"d", {3, 3}, "", 4}}, {});
  const PlacerResult result = place("contiguous", p);
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_THAT(result.placement.device, ElementsAre(0, 0, 1, 1));
}

TEST(Greedy, GivesEachUnitToTheDeviceThatFinishesFirst) {
  // 5 -> d0; 4 -> d1; 3: 8 or 7 -> d1; 2: 7 or 9 -> d0. Loads 7 and 7.
  const Problem p = tiny(plain_devices(2), {{"a", {5, 5}}, {"b", {4, 4}}, {"c", {3, 3}}, {"d", {2, 2}}}, {});
  const PlacerResult result = place("greedy", p);
  EXPECT_THAT(result.placement.device, ElementsAre(0, 1, 1, 0));
  EXPECT_EQ(result.outcome.makespan, 7 * ms);
}

TEST(Greedy, TurnsToAnotherDeviceWhenMemoryIsUsedUp) {
  // Device 0 is faster for all but holds only one weight of 5 bytes.
  const Problem p = tiny({{"gpu:0", "gpu", 9}, {"gpu:1", "gpu", 100}},
                         {{"a", {1, 9}, "", 5}, {"b", {1, 9}, "", 5}, {"c", {1, 9}, "", 5}}, {});
  const PlacerResult result = place("greedy", p);
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_THAT(result.placement.device, ElementsAre(0, 1, 1));
}

TEST(ProofOf, IsTheLargerBoundAndWhetherTheResultReachesIt) {
  PlacerResult result;
  result.outcome.makespan = 10;
  result.lower_bound = 8;
  EXPECT_EQ(proof_of(result, "milp", {7, "load"}).bound.method, "milp");
  EXPECT_FALSE(proof_of(result, "milp", {7, "load"}).optimal);
  result.bound_by = "energy";
  EXPECT_EQ(proof_of(result, "best", {7, "load"}).bound.method, "energy")
      << "a bound inside the placer has its own name";
  EXPECT_EQ(proof_of(result, "milp", {8, "load"}).bound.method, "load");
  EXPECT_TRUE(proof_of(result, "milp", {10, "load"}).optimal);
  result.outcome.why = Infeasible::memory;
  EXPECT_FALSE(proof_of(result, "milp", {10, "load"}).optimal) << "a bound is for feasible placements";
  result.outcome.why = Infeasible::no;
  result.proved_optimal = true;
  EXPECT_TRUE(proof_of(result, "milp", {7, "load"}).optimal);
}

}  // namespace
}  // namespace emplace::search::placers_test
