// The load model on problems with general channels (docs/papers/tarnawski.md, section 2.9), and as a law against that
// section's sums.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "emplace/evaluate/evaluator.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::pipeline_load_test {
namespace {

using test::placement_of;
using test::RandomPlacement;
using test::RandomProblem;

constexpr Ticks ms = 1'000'000'000;

// a -> b; hosts cpu:0 and cpu:1, gpu:0 with 1 ms to cpu:0 and 3 ms to cpu:1, back 4 ms and 2 ms. 10 ms per op.
struct TwoHosts {
  ProblemBuilder builder{"two hosts"};

  explicit TwoHosts(bool back = true, double out1_s = 3e-3) {
    builder.add_device({.name = "cpu:0", .kind = "cpu"});
    builder.add_device({.name = "cpu:1", .kind = "cpu"});
    builder.add_device({.name = "gpu:0", .kind = "gpu", .memory = 100});
    route("out0", 2, 0, 1e-3);
    route("out1", 2, 1, out1_s);
    if (back) {
      route("in0", 0, 2, 4e-3);
      route("in1", 1, 2, 2e-3);
    }
    for (const char* name : {"a", "b"})
      builder.add_op({.name = name, .type = {}, .seconds = {0.01, 0.01, 0.01}, .resident = 60, .colocate = {}});
    builder.add_tensor(OpId{0}, 7, {OpId{1}});
  }
  void route(const char* name, std::size_t from, std::size_t to, double latency) {
    const ChannelId channel = builder.add_channel({.name = name, .latency_s = latency, .bytes_per_s = 1e30});
    builder.add_route(DeviceId{from}, DeviceId{to}, {channel});
  }
};

TEST(PipelineLoad, TakesTheQuickestOfSeveralHostsInEachDirection) {
  const Problem problem = TwoHosts().builder.build();
  Usage usage;
  const auto engine = make_pipeline_engine(problem);
  // gpu:0 sends a: 10 + 1, over out0 although b runs on cpu:1.
  EXPECT_EQ(engine->evaluate({{2, 1}, {}}, {.usage = &usage, .timeline = nullptr}).makespan, 11 * ms);
  EXPECT_EQ(usage.channel_busy, (std::vector<Ticks>{1 * ms, 0, 0, 0}));
  EXPECT_EQ(usage.channel_bytes, (std::vector<Bytes>{7, 0, 0, 0}));
  EXPECT_EQ(usage.device_busy, (std::vector<Ticks>{0, 10 * ms, 10 * ms}));
  EXPECT_EQ(usage.device_peak, (std::vector<Bytes>{0, 60, 60}));
  // It receives a: 10 + 2, over in1.
  EXPECT_EQ(engine->evaluate({{0, 2}, {}}, {.usage = &usage, .timeline = nullptr}).makespan, 12 * ms);
  EXPECT_EQ(usage.channel_busy, (std::vector<Ticks>{0, 0, 0, 2 * ms}));
  // Transfers between hosts cost nothing and need no route.
  EXPECT_EQ(engine->evaluate({{0, 1}, {}}).makespan, 10 * ms);
}

TEST(PipelineLoad, TakesTheHostWithTheSmallestIdOfEquallyFastOnes) {
  const Problem problem = TwoHosts(true, 1e-3).builder.build();
  Usage usage;
  EXPECT_EQ(make_pipeline_engine(problem)->evaluate({{2, 1}, {}}, {.usage = &usage, .timeline = nullptr}).makespan,
            11 * ms);
  EXPECT_EQ(usage.channel_busy, (std::vector<Ticks>{1 * ms, 0, 0, 0}));
}

TEST(PipelineLoad, IsTheSameUnderEverySchedule) {
  const Problem problem = TwoHosts().builder.build();
  const Problem* const list[] = {&problem};
  const Placement without_order{{2, 1}, {}}, with_order{{2, 1}, {0, 1}};
  const evaluate::EvaluationJob jobs[] = {{0, &without_order}, {0, &with_order}};
  for (const Schedule schedule : {Schedule::fifo, Schedule::priority, Schedule::in_order})
    for (const Outcome& outcome : evaluate::make_local_evaluator(list, {schedule, Objective::pipeline})->evaluate(jobs))
      EXPECT_EQ(outcome, (Outcome{.makespan = 11 * ms})) << name_of(schedule);
}

TEST(PipelineLoad, ResidentBytesBeyondTheMemoryAreInfeasibleAndStillHaveALoad) {
  const Problem problem = TwoHosts().builder.build();
  Usage usage;
  const Outcome outcome = make_pipeline_engine(problem)->evaluate({{2, 2}, {}}, {.usage = &usage, .timeline = nullptr});
  EXPECT_EQ(outcome.why, Infeasible::memory);
  EXPECT_EQ(outcome.device, 2);
  EXPECT_EQ(outcome.overflow, 20);
  EXPECT_EQ(outcome.makespan, 20 * ms);
  EXPECT_EQ(pipeline_reason_text(problem, outcome, {2, 2}, usage), "device 'gpu:0' needs 120 B, 20 B more than it has");
}

TEST(PipelineLoad, ADeviceWithoutAWayFromAHostCannotReceive) {
  const Problem problem = TwoHosts(false).builder.build();
  const auto engine = make_pipeline_engine(problem);
  EXPECT_EQ(engine->evaluate({{2, 0}, {}}).makespan, 11 * ms);
  const Outcome outcome = engine->evaluate({{0, 2}, {}});
  EXPECT_EQ(outcome.why, Infeasible::missing_route);
  EXPECT_FALSE(outcome.timed());
  EXPECT_EQ(pipeline_reason_text(problem, outcome, {0, 2}, {}),
            "there is no route to device 'gpu:0' from a host, which the output of op 'a' needs");
  EXPECT_TRUE(pipeline_loads(problem, {{0, 2}, {}}).empty());
}

// The sums of that section, term by term: for every device, its set of ops and the tensors that cross the set's border.
Ticks load_by_definition(const Problem& p, const std::vector<std::uint8_t>& device, const PipelineOptions& options) {
  const bool hosts = std::ranges::any_of(p.devices, [](const Device& d) { return d.kind == "cpu"; });
  Ticks largest = 0, largest_forward = 0, largest_backward = 0;
  for (std::size_t d = 0; d < p.device_count(); ++d) {
    Ticks compute[2] = {}, transfer[2] = {};
    for (std::size_t op = 0; op < p.op_count(); ++op)
      if (device[op] == d) compute[p.is_backward(OpId{op})] += p.time(OpId{op}, DeviceId{d});
    for (std::size_t t = 0; t < p.tensor_count() && p.devices[d].kind != "cpu"; ++t) {
      std::set<bool> consumed_here;
      for (const std::uint32_t consumer : p.consumers[t]) consumed_here.insert(device[consumer] == d);
      const bool made_here = device[p.producer[t].index()] == d;
      if (!consumed_here.contains(!made_here)) continue;
      Ticks quickest = -1;
      for (std::size_t host = 0; host < p.device_count(); ++host) {
        if (host == d || (hosts && p.devices[host].kind != "cpu")) continue;
        const DeviceId from{made_here ? d : host}, to{made_here ? host : d};
        if (!p.has_route(from, to)) continue;
        const Ticks time = p.transfer(TensorId{t}, from, to);
        if (quickest < 0 || time < quickest) quickest = time;
      }
      if (quickest < 0) return Outcome::unknown;
      transfer[p.is_backward(p.producer[t])] += quickest;
    }
    const auto joined = [&](Ticks c, Ticks t) { return options.overlap ? std::max(c, t) : c + t; };
    largest = std::max(largest, joined(compute[0] + compute[1], transfer[0] + transfer[1]));
    largest_forward = std::max(largest_forward, joined(compute[0], transfer[0]));
    largest_backward = std::max(largest_backward, joined(compute[1], transfer[1]));
  }
  return options.separate_phases ? largest_forward + largest_backward : largest;
}

TEST(PipelineLoad, IsTheDocumentedSumOnRandomProblems) {
  EXPECT_TRUE(rc::check("load", [](const RandomProblem& random, const RandomPlacement& genes) {
    Problem problem = problem_of(random);
    const auto kinds = *rc::gen::container<std::vector<bool>>(problem.device_count(), rc::gen::arbitrary<bool>());
    for (std::size_t d = 0; d < kinds.size(); ++d) problem.devices[d].kind = kinds[d] ? "cpu" : "gpu";
    problem.backward =
        *rc::gen::container<std::vector<std::uint8_t>>(problem.op_count(), rc::gen::element<std::uint8_t>(0, 1));
    const PipelineOptions options{*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
    const Placement placement = placement_of(problem, genes);
    const Outcome outcome = make_pipeline_engine(problem, options)->evaluate(placement);
    RC_PRE(outcome.why != Infeasible::unsupported_op);
    RC_ASSERT(outcome.makespan == load_by_definition(problem, placement.device, options));
    RC_ASSERT((outcome.why == Infeasible::missing_route) == !outcome.timed());
    bool split = false;
    for (std::size_t a = 0; a < problem.op_count(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        split |= !problem.group[a].is_none() && problem.group[a] == problem.group[b] &&
                 placement.device[a] != placement.device[b];
    if (outcome.timed()) RC_ASSERT((outcome.why == Infeasible::split_group) == split);
    if (!options.separate_phases && outcome.timed()) {
      Ticks largest = 0;
      for (const DeviceLoad& load : pipeline_loads(problem, placement))
        largest = std::max(largest, load_of(load, options));
      RC_ASSERT(largest == outcome.makespan);
    }
  }));
}

TEST(PipelineLoad, IsWhatTheEvaluatorOfTheObjectiveScores) {
  const Problem problem = TwoHosts().builder.build();
  const Problem* const list[] = {&problem};
  const Placement placements[] = {{{2, 1}, {}}, {{0, 2}, {}}};
  const evaluate::EvaluationJob jobs[] = {{0, &placements[0]}, {0, &placements[1]}};
  const auto outcomes = evaluate::make_local_evaluator(list, {Schedule::fifo, Objective::pipeline})->evaluate(jobs);
  EXPECT_EQ(outcomes[0].makespan, 11 * ms);
  EXPECT_EQ(outcomes[1].makespan, 12 * ms);
}

// Contiguity by its definition: a path of forward ops that leaves a device and comes back.
bool leaves_and_returns(const Problem& p, const std::vector<std::uint8_t>& device, std::uint32_t op, std::size_t home,
                        bool left) {
  if (left && device[op] == home) return true;
  left = left || device[op] != home;
  for (const std::uint32_t tensor : p.outputs[op])
    for (const std::uint32_t next : p.consumers[tensor])
      if (!p.is_backward(OpId{next}) && leaves_and_returns(p, device, next, home, left)) return true;
  return false;
}

TEST(Contiguity, IsThatNoPathLeavesADeviceAndEntersItAgain) {
  EXPECT_TRUE(rc::check("contiguous", [](const RandomProblem& random, const RandomPlacement& genes) {
    Problem problem = problem_of(random);
    RC_PRE(problem.op_count() < 16U);
    problem.backward = *rc::gen::container<std::vector<std::uint8_t>>(
        problem.op_count(), rc::gen::weightedElement<std::uint8_t>({{3, 0}, {1, 1}}));
    const Placement placement = placement_of(problem, genes);
    std::optional<DeviceId> broken;
    for (std::size_t d = problem.device_count(); d-- > 0;)
      for (std::uint32_t op = 0; op < problem.op_count(); ++op)
        if (placement.device[op] == d && !problem.is_backward(OpId{op}) &&
            leaves_and_returns(problem, placement.device, op, d, false))
          broken = DeviceId{d};
    RC_ASSERT(non_contiguous_device(problem, placement.device) == broken);
    if (devices_form_a_sequence(problem, placement.device)) RC_ASSERT(!broken.has_value());
  }));
}

TEST(Contiguity, TwoContiguousDevicesNeedNotFormASequence) {
  // a -> b and c -> d with a, d on one device and b, c on the other: no path returns, but each feeds the other.
  ProblemBuilder builder("two edges");
  for (const char* name : {"x", "y"}) builder.add_device({.name = name, .kind = {}});
  for (const char* name : {"a", "b", "c", "d"})
    builder.add_op({.name = name, .type = {}, .seconds = {1, 1}, .colocate = {}});
  builder.add_tensor(OpId{0}, 0, {OpId{1}});
  builder.add_tensor(OpId{2}, 0, {OpId{3}});
  const Problem problem = builder.build();
  EXPECT_EQ(non_contiguous_device(problem, {0, 1, 1, 0}), std::nullopt);
  EXPECT_FALSE(devices_form_a_sequence(problem, {0, 1, 1, 0}));
  EXPECT_TRUE(devices_form_a_sequence(problem, {0, 1, 0, 1}));
}

}  // namespace
}  // namespace emplace::simulate::pipeline_load_test
