// The dynamic programs over ideals against hand-worked toys, brute force and laws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "emplace/base/error.hpp"
#include "emplace/search/bound.hpp"
#include "search/pipeline/contiguous_split.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "tests/search/pipeline_table.hpp"
#include "tests/search/pipeline_toys.hpp"
#include "tests/search/random_split.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::search::pipeline_dp_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

TEST(PipelineDp, FindsTheLeastContiguousLoadOfEveryToy) {
  for (const PipelineToy& toy : pipeline_toys()) {
    SCOPED_TRACE(toy.name);
    const PlacerResult result = place_pipeline("dp", toy.problem.problem(), {}, toy.count);
    EXPECT_EQ(result.outcome.feasible(), toy.contiguous.has_value());
    EXPECT_DOUBLE_EQ(toy.contiguous ? load_ms(result) : 0, toy.contiguous.value_or(0));
  }
}

TEST(PipelineDp, IsTheBestSequenceOfPiecesByBruteForce) {
  EXPECT_TRUE(rc::check("dp = brute force over sequences", [] {
    const RandomSplit random = *random_split();
    const Problem problem = random.problem.problem();
    const auto least = brute_force(problem, random.count, [&](const auto& devices) {
      return simulate::devices_form_a_sequence(problem, devices);
    });
    for (const char* merge : {"false", "true"}) {
      const PlacerResult result = place_pipeline("dp", problem, {{"merge_idle", merge}}, random.count);
      const PlacerResult linear = place_pipeline("dpl", problem, {{"merge_idle", merge}}, random.count);
      if (!least) {
        RC_ASSERT(result.note.find("no split into pieces that follow one another keeps") == 0);
        continue;
      }
      // Idle ops take their ticks to the class that they are merged with.
      const Ticks moved = *merge == 't' ? static_cast<Ticks>(problem.op_count()) : 0;
      RC_ASSERT(result.outcome.feasible());
      RC_ASSERT(result.outcome.makespan >= *least);
      RC_ASSERT(result.outcome.makespan <= *least + moved);
      RC_ASSERT(simulate::devices_form_a_sequence(problem, result.placement.device));
      if (linear.note.empty()) RC_ASSERT(linear.outcome.makespan >= result.outcome.makespan);
      RC_ASSERT(result.outcome.makespan >= pipeline_lower_bound(problem).ticks);
    }
  }));
}

TEST(PipelineDp, KnowsDevicesThatDiffer) {
  EXPECT_TRUE(rc::check("dp = brute force on general machines", [](RandomProblem random) {
    random.devices = static_cast<std::uint8_t>(1 + random.devices % 4);
    if (random.ops.size() > 5) random.ops.resize(5);
    const Problem problem = problem_of(random);
    const simulate::PipelineOptions count{*rc::gen::arbitrary<bool>(), false};
    const auto least = brute_force(
        problem, count, [&](const auto& devices) { return simulate::devices_form_a_sequence(problem, devices); });
    const PlacerResult result = place_pipeline("dp", problem, {{"merge_idle", "false"}}, count);
    if (least)
      RC_ASSERT(result.outcome.makespan == *least);
    else
      RC_ASSERT(result.note.find("no split into pieces that follow one another keeps") == 0);
  }));
}

TEST(PipelineDp, IsNeverWorseWithMoreDevicesOrMoreMemory) {
  EXPECT_TRUE(rc::check("monotone in k, l and memory", [] {
    RandomSplit random = *random_split(14);
    const auto load = [&] {
      const PlacerResult result =
          place_pipeline("dp", random.problem.problem(), {{"merge_idle", "false"}}, random.count);
      return result.outcome.feasible() && result.note.find("no split into pieces that follow one another has") == 0
                 ? result.outcome.makespan
                 : total_limit;
    };
    const Ticks before = load();
    switch (*rc::gen::inRange(0, 3)) {
      case 0: ++random.problem.accelerators; break;
      case 1: ++random.problem.cpus; break;
      default: random.problem.memory += 3; break;
    }
    RC_ASSERT(load() <= before);
  }));
}

TEST(PipelineDpl, IsTheBestCutOfALongChain) {
  // 1500 ops: long enough that dpl first computes a bound with blocks of ops. A chain has one order, so dp searches the
  // same splits. Blocks of 6 ops alone would not be exact here, because heavy ops and cheap cuts are at irregular
  // positions.
  Partitioning chain;
  for (int v = 0; v < 1500; ++v) {
    chain.nodes.push_back(
        {.accelerator = 1.0 + (v * 7919 % 97 == 0 ? 40 : 0), .cpu = 25, .cost = v * 31 % 13 == 0 ? 0.5 : 5, .size = 1});
    if (v > 0) chain.edges.emplace_back(v - 1, v);
  }
  chain.accelerators = 5;
  chain.cpus = 1;
  chain.memory = 350;
  const Problem problem = chain.problem();
  const PlacerResult linear = place_pipeline("dpl", problem);
  EXPECT_TRUE(linear.outcome.feasible());
  // Without the bound by blocks: over_ideals() is used from the beginning.
  PlacerRequest request;
  request.problem = &problem;
  request.objective = Objective::pipeline;
  ContiguousSplitter splitter(request, "test", split_classes(problem, true));
  ASSERT_TRUE(splitter.find_ideals(2000));
  const auto split = splitter.over_ideals();
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(simulate::make_pipeline_engine(problem)->evaluate({*split, {}}).makespan, linear.outcome.makespan);
}

TEST(PipelineDp, NeedsTheObjectivePipeline) {
  const Problem problem = chain_of({1, 2}).problem();
  PlacerRequest request;
  request.problem = &problem;
  for (const char* method : {"dp", "dpl"}) {
    try {
      place_with(method, request, ConfigTable("command line"));
      FAIL() << "took the objective step";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("needs --objective pipeline, found step"));
    }
  }
}

TEST(PipelineDp, RefusesMoreIdealsThanItIsGiven) {
  Partitioning free;  // 2^30 ideals
  free.nodes.assign(30, {.accelerator = 1, .cpu = 1});
  try {
    place_pipeline("dp", free.problem(), {{"ideals", "5000"}});
    FAIL() << "took 2^30 ideals";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "command line: the 30 classes of ops have more than 5000 ideals (the option ideals sets the limit); "
                 "dpl, which tries one order only, can be used instead");
  }
  EXPECT_THROW(place_pipeline("dp", free.problem(), {{"ideals", "1"}}), InputError);
  // 2^100 ideals: the memory limit ends the search, whatever option is given.
  free.nodes.assign(100, {.accelerator = 1, .cpu = 1});
  free.accelerators = 200;
  free.cpus = 55;
  EXPECT_THROW(place_pipeline("dp", free.problem(), {{"ideals", "100000000"}}), InputError);
}

TEST(PipelineDp, SaysThatTheBudgetEndedFirst) {
  const PlacerResult result = place_pipeline("dp", chain_of({1, 2, 3}).problem(), {}, {}, 1e-9);
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_THAT(result.note, HasSubstr("the budget of seconds ended before the dynamic program"));
}

}  // namespace
}  // namespace emplace::search::pipeline_dp_test
