#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>

#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"
#include "formats/workload/workload.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/partitioning.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::search::pipeline_bound_test {
namespace {

using test::chain_of;
using test::Partitioning;

constexpr Ticks ms = 1'000'000'000;

TEST(PipelineBound, WeighsSlowDevicesByTheirBestOp) {
  // Two accelerators and a CPU that is at best 3 times slower: 3 x 6 / (2 + 1/3) = 7.714 ms.
  Partitioning chain = chain_of({6, 6, 6});
  chain.accelerators = 2;
  chain.cpus = 1;
  for (auto& node : chain.nodes) node.cpu = 60;
  chain.nodes[0].cpu = 18;
  const LowerBound bound = pipeline_lower_bound(chain.problem());
  EXPECT_NEAR(static_cast<double>(bound.ticks), 18e9 * 3 / 7, 10);
  EXPECT_EQ(bound.method, "load");
}

TEST(PipelineBound, IsAtLeastTheLongestOp) {
  Partitioning chain = chain_of({1, 9, 1});
  chain.accelerators = 3;
  EXPECT_EQ(pipeline_lower_bound(chain.problem()).ticks, 9 * ms);
}

TEST(PipelineBound, IsAtLeastTheLongestGroup) {
  Partitioning chain = chain_of({6, 1, 7});
  chain.accelerators = 3;
  chain.nodes[0].color = chain.nodes[2].color = 5;
  EXPECT_EQ(pipeline_lower_bound(chain.problem()).ticks, 13 * ms);
}

TEST(PipelineBound, IsNeverAboveALoad) {
  EXPECT_TRUE(rc::check("bound <= load", [](const test::RandomProblem& random, const test::RandomPlacement& genes) {
    const Problem problem = test::problem_of(random);
    const simulate::PipelineOptions options{*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
    const Outcome outcome =
        simulate::make_pipeline_engine(problem, options)->evaluate(test::placement_of(problem, genes));
    RC_PRE(outcome.timed() && outcome.why != Infeasible::split_group);
    RC_ASSERT(lower_bound(problem, Objective::pipeline).ticks <= outcome.makespan);
  }));
}

TEST(PipelineBound, OfBert24IsThePublishedOne) {
  // docs/papers/tarnawski.md, section 7 item 6: sum acc / (k + l x max acc / cpu) = 92.406 / 6.1 ms.
  const std::string file =
      test::outside_file("workloads/dnn-partitioning/throughput-inputs/LayerGraphs/bert24_inference.json");
  REQUIRE_OUTSIDE_FILE(file);
  const Problem problem = formats::read_problem_file({file, {}});
  EXPECT_NEAR(static_cast<double>(pipeline_lower_bound(problem).ticks) / ms, 92.406 / 6.1, 1e-5);
}

TEST(PipelineObjective, PlacersKeepThePlacementOfTheLeastLoad) {
  Partitioning chain = chain_of({3, 3, 3, 3});
  chain.accelerators = 4;
  const Problem problem = chain.problem();
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, {Schedule::fifo, Objective::pipeline});
  PlacerRequest request;
  request.problem = &problem;
  request.objective = Objective::pipeline;
  request.evaluator = evaluator.get();
  // One node each: a middle one pays 3 + 2. The step time would be 12 ms on one device.
  EXPECT_EQ(place_with("contiguous", request, ConfigTable("test")).outcome.makespan, 5 * ms);
}

}  // namespace
}  // namespace emplace::search::pipeline_bound_test
