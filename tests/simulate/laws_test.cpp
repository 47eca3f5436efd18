// Laws that hold for every problem.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/simulate/engine.hpp"
#include "tests/simulate/answers.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::laws_test {
namespace {

using test::placement_of;
using test::RandomPlacement;
using test::RandomProblem;

Schedule any_schedule() { return *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order); }

// Largest k so that every total stays within 2^62 when all times are multiplied by it.
Ticks largest_scale(const Problem& problem) {
  Ticks total = 1;
  for (const Ticks time : problem.op_time) total += std::max<Ticks>(time, 0);
  for (const Ticks time : problem.transfer_time) total += time * static_cast<Ticks>(problem.device_count());
  return total_limit / total;
}

TEST(Law, ScalingAllTimesScalesTheStepAlsoBeyondTheNarrowKeys) {
  // Scaled to the limit, times of about 60 bits leave no room for op ids in 64-bit keys.
  EXPECT_TRUE(rc::check("makespan(k x) = k makespan(x)", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = problem_of(random);
    const Placement placement = placement_of(problem, genes);
    const Schedule schedule = any_schedule();
    const Ticks largest = largest_scale(problem);
    const Ticks k = *rc::gen::element<Ticks>(2, 1000003, largest);
    Problem scaled = problem;
    for (Ticks& time : scaled.op_time)
      if (time != cannot_run) time *= k;
    for (Ticks& time : scaled.transfer_time) time *= k;
    Usage usage, scaled_usage;
    const Outcome outcome =
        make_exact_engine(problem, schedule)->evaluate(placement, {.usage = &usage, .timeline = {}});
    const auto engine = make_exact_engine(scaled, schedule);
    for (int twice = 0; twice < 2; ++twice) {
      const Outcome big = engine->evaluate(placement, {.usage = &scaled_usage, .timeline = {}});
      RC_ASSERT(big.why == outcome.why);
      RC_ASSERT(big.makespan == (outcome.timed() ? outcome.makespan * k : Outcome::unknown));
      RC_ASSERT(scaled_usage.device_peak == usage.device_peak);
    }
  }));
}

TEST(Law, KindsOfDevicesAndTypesOfOpsChangeNothing) {
  EXPECT_TRUE(rc::check("other kinds and types", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = problem_of(random);
    const Placement placement = placement_of(problem, genes);
    const Schedule schedule = any_schedule();
    Problem other = problem;
    for (Device& device : other.devices) device.kind = *rc::gen::element<std::string>("", "cpu", "gpu");
    for (std::string& type : other.op_types) type = *rc::gen::element<std::string>("", "MatMul", "Variable");
    for (const auto& make : {make_exact_engine, make_reference_engine})
      test::assert_equal(*make(other, schedule), *make(problem, schedule), placement);
  }));
}

TEST(Law, OneDeviceTakesTheSumOfItsOps) {
  EXPECT_TRUE(rc::check("sum", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = problem_of(random);
    Placement placement = placement_of(problem, genes);
    std::fill(placement.device.begin(), placement.device.end(), std::uint8_t{0});
    Ticks sum = 0;
    for (std::size_t op = 0; op < problem.op_count(); ++op) {
      RC_PRE(problem.can_run(OpId{op}, DeviceId{0}));
      sum += problem.time(OpId{op}, DeviceId{0});
    }
    RC_ASSERT(make_exact_engine(problem, any_schedule())->evaluate(placement).makespan == sum);
  }));
}

TEST(Law, TheStepIsNeverBelowTheBusiestDeviceOrChannelNorAboveAllWorkTogether) {
  EXPECT_TRUE(rc::check("bounds", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = problem_of(random);
    Usage usage;
    Timeline timeline;
    const Outcome outcome = make_exact_engine(problem, any_schedule())
                                ->evaluate(placement_of(problem, genes), {.usage = &usage, .timeline = &timeline});
    RC_PRE(outcome.timed());
    Ticks all = 0;
    for (const Ticks busy : usage.device_busy) {
      RC_ASSERT(busy <= outcome.makespan);
      all += busy;
    }
    for (std::size_t c = 0; c < problem.channels.size(); ++c)
      RC_ASSERT(!problem.channels[c].contention || usage.channel_busy[c] <= outcome.makespan);
    for (const auto& transfer : timeline.transfers) all += transfer.end - transfer.start;
    RC_ASSERT(outcome.makespan <= all);
  }));
}

TEST(Law, ADeviceNobodyUsesChangesNothing) {
  EXPECT_TRUE(rc::check("unused device", [](RandomProblem random, const RandomPlacement& genes) {
    // One channel for all, so that adding a device adds no channel.
    random.joined = test::Joined::bus;
    random.devices = std::max<std::uint8_t>(random.devices, 1);
    for (test::RandomOp& op : random.ops)  // the same times, and everywhere, with one device more
      op.ticks.assign(1, op.ticks.empty() || op.ticks[0] == test::RandomOp::cannot ? std::uint8_t{1} : op.ticks[0]);
    const Problem problem = problem_of(random);
    ++random.devices;
    const Problem larger = problem_of(random);
    const Placement placement = placement_of(problem, genes);
    const Schedule schedule = any_schedule();
    RC_ASSERT(make_exact_engine(larger, schedule)->evaluate(placement) ==
              make_exact_engine(problem, schedule)->evaluate(placement));
  }));
}

TEST(LocalEvaluator, AnswersEachJobForItsProblem) {
  EXPECT_TRUE(rc::check("jobs", [](const RandomProblem& first, const RandomProblem& second,
                                   const std::vector<std::pair<bool, RandomPlacement>>& genes) {
    const std::vector<Problem> problems{problem_of(first), problem_of(second)};
    const std::vector<const Problem*> pointers{&problems[0], &problems[1]};
    std::vector<Placement> placements;
    for (const auto& [which, gene] : genes) placements.push_back(placement_of(problems[which], gene));
    std::vector<evaluate::EvaluationJob> jobs;
    for (std::size_t i = 0; i < genes.size(); ++i) jobs.push_back({genes[i].first, &placements[i]});
    const std::vector<Outcome> outcomes = evaluate::make_local_evaluator(pointers, Schedule::fifo)->evaluate(jobs);
    RC_ASSERT(outcomes.size() == jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i)
      RC_ASSERT(outcomes[i] ==
                make_reference_engine(problems[jobs[i].problem], Schedule::fifo)->evaluate(placements[i]));
  }));
}

// An episode moves a few ops at a time; sometimes many ops move, or the order changes.
TEST(LocalEvaluator, SimulatesASeriesAsItSimulatesEachPlacement) {
  EXPECT_TRUE(rc::check("series", [](const RandomProblem& random, const std::vector<RandomPlacement>& genes,
                                     const std::vector<std::tuple<bool, std::uint32_t, std::uint8_t>>& moves) {
    const Problem problem = problem_of(random);
    const Problem* const pointer = &problem;
    const Schedule schedule = any_schedule();
    const auto evaluator = evaluate::make_local_evaluator({&pointer, 1}, schedule);
    const auto reference = make_reference_engine(problem, schedule);
    std::vector<Placement> placements;
    for (const RandomPlacement& gene : genes) placements.push_back(placement_of(problem, gene));
    for (const auto& [afresh, op, device] : moves) {
      for (Placement& placement : placements)
        placement.device[op % problem.op_count()] = static_cast<std::uint8_t>(device % problem.device_count());
      if (afresh && !placements.empty()) placements.front() = placement_of(problem, genes.back());
      for (std::uint32_t series = 0; series < placements.size(); ++series) {
        std::vector<Ticks> starts(3, 7);
        const evaluate::EvaluationJob job{0, &placements[series], &starts, series};
        const Outcome outcome = evaluator->evaluate({&job, 1}).front();
        Timeline timeline;
        RC_ASSERT(outcome == reference->evaluate(placements[series], {nullptr, &timeline, nullptr}));
        RC_ASSERT(starts == timeline.op_start);
      }
    }
  }));
}

}  // namespace
}  // namespace emplace::simulate::laws_test
