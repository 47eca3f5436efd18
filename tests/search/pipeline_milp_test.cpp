// The integer program against hand-worked toys, brute force and the dynamic program.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "emplace/problem/grouping.hpp"
#include "search/exact/integer_program.hpp"
#include "search/pipeline/split_descent.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "tests/search/pipeline_table.hpp"
#include "tests/search/pipeline_toys.hpp"
#include "tests/search/random_split.hpp"

namespace emplace::search::pipeline_milp_test {
namespace {

using namespace test;
using Options = std::vector<std::pair<std::string, std::string>>;

const Options any_split = {{"contiguous", "no"}};

// Equal up to one part in a million, the program's resolution, and up to the ticks of transfers and idle ops, which the
// program leaves out.
bool equal_loads(Ticks found, Ticks least, const Problem& problem) {
  return found >= least && static_cast<double>(found - least) <=
                               1e-6 * static_cast<double>(least) + static_cast<double>(2 * problem.op_count());
}

TEST(PipelineMilp, FindsTheLeastLoadOfEveryToy) {
  for (const PipelineToy& toy : pipeline_toys()) {
    SCOPED_TRACE(toy.name);
    const Problem problem = toy.problem.problem();
    const PlacerResult any = place_pipeline("milp", problem, any_split, toy.count);
    EXPECT_EQ(any.outcome.feasible(), toy.free.has_value());
    EXPECT_EQ(any.proved_optimal, toy.free.has_value());
    EXPECT_NEAR(toy.free ? load_ms(any) : 0, toy.free.value_or(0), 1e-8);
    const PlacerResult contiguous = place_pipeline("milp", problem, {}, toy.count);
    EXPECT_EQ(contiguous.outcome.feasible(), toy.contiguous.has_value());
    EXPECT_FALSE(contiguous.proved_optimal);
    EXPECT_NEAR(toy.contiguous ? load_ms(contiguous) : 0, toy.contiguous.value_or(0), 1e-8);
  }
}

// Items of different sizes on four devices. A stop at the first chance comes before CBC knows any bound.
TEST(PipelineMilp, StoppedInTheLinearProgramOfTheRootClaimsNothing) {
  constexpr int items = 60, devices = 4;
  IntegerProgram program;
  const int largest = program.add_column(0, 1e6, 1, false);
  std::vector<std::vector<std::pair<int, double>>> load(devices, {{largest, -1.0}});
  double total = 0;
  for (int i = 0; i < items; ++i) {
    std::vector<std::pair<int, double>> once;
    for (auto& terms : load) {
      once.emplace_back(program.add_column(0, 1, 0, true), 1.0);
      terms.emplace_back(once.back().first, 10 + i * 7919 % 31);
    }
    total += 10 + i * 7919 % 31;
    program.add_row(once, 1, 1);
  }
  for (const auto& terms : load) program.add_row(terms, -1e30, 0);
  const IntegerAnswer answer = minimise(program, {.stop = [] { return true; }});
  EXPECT_FALSE(answer.finished);
  EXPECT_GE(answer.bound, 0);
  EXPECT_LE(answer.bound, total / devices + 1);
  std::size_t asked = 0;
  const IntegerAnswer whole = minimise_here(program, {.seconds = 20, .stop = [&] { return ++asked == 0; }});
  EXPECT_GT(asked, 100U) << "it asks in the linear program too";
  EXPECT_NEAR(whole.objective, std::ceil(total / devices), 1e-6);
}

TEST(PipelineMilp, IsTheBestOfAllSplitsByBruteForce) {
  EXPECT_TRUE(rc::check("milp = brute force", [] {
    const RandomSplit random = *random_split();
    const Problem problem = random.problem.problem();
    const bool contiguous = *rc::gen::arbitrary<bool>();
    const auto least = brute_force(problem, random.count, [&](const auto& devices) {
      return !contiguous || !simulate::non_contiguous_device(problem, devices);
    });
    const PlacerResult result = place_pipeline("milp", problem, contiguous ? Options{} : any_split, random.count);
    if (!least) {
      RC_ASSERT(result.note.find("split is feasible") != std::string::npos);
      RC_ASSERT(!result.proved_optimal);
      return;
    }
    RC_ASSERT(result.outcome.feasible());
    RC_ASSERT(equal_loads(result.outcome.makespan, *least, problem));
    RC_ASSERT(result.proved_optimal == !contiguous);
    const bool bounded = contiguous ? result.lower_bound == 0 : result.lower_bound <= *least;
    RC_ASSERT(bounded);
    if (contiguous) RC_ASSERT(!simulate::non_contiguous_device(problem, result.placement.device));
  }));
}

TEST(PipelineMilp, IsTheBestOfAllSplitsWithFewCuts) {
  EXPECT_TRUE(rc::check("milp = brute force", [] {
    const RandomSplit random = *random_split();
    Problem problem = random.problem.problem();
    problem.max_cuts = *rc::gen::inRange<std::uint32_t>(0, 4);
    const auto least = brute_force(problem, random.count, [](const auto&) { return true; });
    const PlacerResult result = place_pipeline("milp", problem, any_split, random.count);
    RC_ASSERT(result.outcome.feasible() == least.has_value());
    if (!least) return;
    RC_ASSERT(equal_loads(result.outcome.makespan, *least, problem));
    RC_ASSERT(result.proved_optimal);
    RC_ASSERT(result.lower_bound <= *least);
  }));
}

TEST(PipelineMilp, ProvesALoadThatIsTinyBesideTheTimeOfAllOps) {
  // Two ops of 0 s (one tick each) and one of 1 s on the accelerator and 0 on the CPU; no cut is allowed, so all three
  // run on the CPU in three ticks, below a billionth of what the ops take on their slowest devices.
  Partitioning chain = chain_of({0, 0, 1});
  chain.cpus = 1;
  for (PartitionNode& node : chain.nodes) node.cpu = 0;
  Problem problem = chain.problem();
  problem.max_cuts = 0;
  const PlacerResult result = place_pipeline("milp", problem, any_split);
  EXPECT_LE(result.outcome.makespan, 3);
  EXPECT_TRUE(result.proved_optimal) << result.note;
}

TEST(PipelineMilp, GivesAValidLowerBoundAndANoteWithoutASearchTree) {
  // Without a search tree, three heavy ops on two devices: 6 + 1 is the least load, fractions of ops would allow 4.5.
  Partitioning chain = chain_of({3, 3, 3});
  chain.accelerators = 2;
  const PlacerResult result = place_pipeline("milp", chain.problem(), {{"contiguous", "no"}, {"nodes", "0"}});
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_LE(result.lower_bound, 7'000'000'000);
  EXPECT_TRUE(result.proved_optimal || result.note.starts_with("the solver ended early: no split has a load below"));
}

TEST(PipelineMilp, IsRightWhereverItEnds) {
  EXPECT_TRUE(rc::check("bound <= brute force", [] {
    RandomSplit random = *random_split(10);
    // Values below the solver's tolerances: one byte too many beside 2^32, times from picoseconds to seconds.
    const int range = *rc::gen::inRange(0, 3);
    if (range == 1) random.problem.memory <<= 32;
    for (PartitionNode& node : random.problem.nodes) {
      if (range == 1) node.size = (node.size << 32) + *rc::gen::inRange(0, 2);
      const auto wide = [](double& value) { value *= std::pow(10.0, *rc::gen::inRange(-9, 4)); };
      if (range != 2) continue;
      wide(node.accelerator), wide(node.cpu), wide(node.cost);
    }
    const Problem problem = random.problem.problem();
    const bool contiguous = *rc::gen::arbitrary<bool>();
    const auto least = brute_force(problem, random.count, [&](const auto& devices) {
      return !contiguous || !simulate::non_contiguous_device(problem, devices);
    });
    const PlacerResult result = place_pipeline("milp", problem,
                                               {{"contiguous", contiguous ? "yes" : "no"},
                                                {"ideals", contiguous ? "2" : "20000"},
                                                {"nodes", std::to_string(*rc::gen::element(0, 1, 2, 1000))}},
                                               random.count);
    const bool claims_best = result.proved_optimal || result.note == "no contiguous split has a smaller load";
    RC_ASSERT(least.has_value() || !claims_best);
    if (!least) return;
    RC_ASSERT(result.note.find("split is feasible") == std::string::npos);
    RC_ASSERT(result.lower_bound <= *least);
    if (claims_best) RC_ASSERT(equal_loads(result.outcome.makespan, *least, problem));
  }));
}

TEST(SplitDescent, EndsWhereNoMoveHelpsAndIsNeverWorse) {
  EXPECT_TRUE(rc::check("local optimum", [] {
    const RandomSplit random = *random_split();
    const Problem problem = random.problem.problem();
    const auto engine = simulate::make_pipeline_engine(problem, random.count);
    Placement placement{place_pipeline("greedy", problem, {}, random.count).placement.device, {}};
    const Outcome start = engine->evaluate(placement);
    RC_PRE(start.feasible());
    const Ticks load = descend(problem, random.count, placement.device, Deadline({}));
    RC_ASSERT(load <= start.makespan);
    const Outcome end = engine->evaluate(placement);
    RC_ASSERT(end.feasible());
    RC_ASSERT(end.makespan == load);
    const Grouping units = make_grouping(problem, GroupingKind::colocation);
    for (std::size_t unit = 0; unit < units.count(); ++unit)
      for (std::size_t d = 0; d < problem.device_count(); ++d) {
        Placement moved = placement;
        for (const std::uint32_t op : units.members[unit]) moved.device[op] = static_cast<std::uint8_t>(d);
        const Outcome outcome = engine->evaluate(moved);
        RC_ASSERT(!outcome.feasible() || outcome.makespan >= load);
      }
  }));
}

TEST(SplitDescent, LeavesContiguousSplitsBehind) {
  // {1, 2} and {3}: 4 + 6 + 1. Moving node 1 to node 3 gives {1, 3} and {2}: 4 + 4 + 1 + 1.
  Partitioning chain = chain_of({4, 6, 4});
  chain.accelerators = 2;
  const Problem problem = chain.problem();
  std::vector<std::uint8_t> devices = {0, 0, 1};
  EXPECT_EQ(descend(problem, {}, devices, Deadline({})), 10'000'000'000);
  EXPECT_EQ(devices, (std::vector<std::uint8_t>{1, 0, 1}));
}

TEST(PipelineMilp, PrintsNothing) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  place_pipeline("milp", pipeline_toys().front().problem.problem(), any_split);
  place_pipeline("milp", chain_of({4, 6, 4, 5, 6, 4}).problem(), any_split, {}, 0.1);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(PipelineMilp, StopsWithTheTime) {
  Partitioning wide;  // a bin packing problem that takes CBC long
  for (int v = 0; v < 40; ++v) wide.nodes.push_back({.accelerator = 3.5 + 0.01 * (v * 37 % 41), .cpu = 1000});
  wide.accelerators = 7;
  const PlacerResult result = place_pipeline("milp", wide.problem(), {{"contiguous", "no"}, {"ideals", "2"}}, {}, 0.2);
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_FALSE(result.proved_optimal);
  EXPECT_GT(result.lower_bound, 0);
  EXPECT_LE(result.lower_bound, result.outcome.makespan);
}

TEST(PipelineMilp, RefusesProgramsBeyondItsReach) {
  Partitioning chain = chain_of(std::vector<double>(3000, 1));
  chain.accelerators = 200;
  EXPECT_THROW(place_pipeline("milp", chain.problem()), InputError);
}

TEST(PipelineMilp, RefusesBadOptions) {
  const Problem problem = chain_of({1, 2}).problem();
  EXPECT_THROW(place_pipeline("milp", problem, {{"seconds", "0"}}), InputError);
  EXPECT_THROW(place_pipeline("milp", problem, {{"contiguous", "perhaps"}}), InputError);
}

}  // namespace
}  // namespace emplace::search::pipeline_milp_test
