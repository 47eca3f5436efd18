// What every published simulator must show (docs/simulators.md, section 7), and that `plain` is the reference engine.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "simulate/published/published.hpp"
#include "tests/simulate/answers.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::published_laws_test {
namespace {

using test::Answer;
using test::ask;
using test::assert_equal;
using test::Joined;
using test::placement_of;
using test::RandomPlacement;
using test::RandomProblem;

Schedule any_schedule() { return *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order); }

TEST(SwitchedEngine, IsTheReferenceUnderThePlainSwitches) {
  EXPECT_TRUE(rc::check("plain, any channels",
                        [](const RandomProblem& random, const RandomPlacement& first, const RandomPlacement& second) {
                          Problem problem = problem_of(random);
                          const Schedule schedule = any_schedule();
                          for (Device& device : problem.devices)
                            device.memory = *rc::gen::element<Bytes>(3, 9, 20, no_memory_limit);
                          const auto reference = make_reference_engine(problem, schedule);
                          const auto plain = choose_simulator("plain").make(problem, schedule);
                          for (const RandomPlacement& genes : {first, second, first})
                            assert_equal(*plain, *reference, placement_of(problem, genes));
                        }));
}

// Checks the other scopes on problems whose channels have that scope.
void check_scope(ChannelScope scope, Joined joined) {
  EXPECT_TRUE(rc::check("scope", [=](RandomProblem random, const RandomPlacement& genes) {
    random.joined = joined;
    for (auto& channel : random.channels) channel.contention = scope != ChannelScope::none;
    const Problem problem = problem_of(random);
    const Placement placement = placement_of(problem, genes);
    assert_equal(*make_switched_engine(problem, {.channels = scope}), *make_reference_engine(problem, Schedule::fifo),
                 placement);
  }));
}

TEST(SwitchedEngine, IsTheReferenceWithAChannelAPair) { check_scope(ChannelScope::pair, Joined::pairs); }
TEST(SwitchedEngine, IsTheReferenceWithAChannelADeviceOut) { check_scope(ChannelScope::egress, Joined::egress); }
TEST(SwitchedEngine, IsTheReferenceWithOneChannelADeviceForBothDirections) {
  EXPECT_TRUE(rc::check("shared", [](RandomProblem random, const RandomPlacement& genes) {
    random.joined = Joined::egress;  // as many channels as devices: the route from i to j now takes both of theirs
    for (auto& channel : random.channels) channel.contention = true;
    Problem problem = problem_of(random);
    problem.routes = {};
    const auto devices = static_cast<std::uint32_t>(problem.device_count());
    for (std::uint32_t from = 0; from < devices; ++from)
      for (std::uint32_t to = 0; to < devices; ++to) {
        if (from != to) problem.routes.items.insert(problem.routes.items.end(), {from, to});
        problem.routes.begin.push_back(static_cast<std::uint32_t>(problem.routes.items.size()));
      }
    assert_equal(*make_switched_engine(problem, {.channels = ChannelScope::shared}),
                 *make_reference_engine(problem, Schedule::fifo), placement_of(problem, genes));
  }));
}
TEST(SwitchedEngine, IsTheReferenceWithoutContention) {
  // RandomChannel's default has contention; a problem without channel genes is no case of this.
  EXPECT_TRUE(rc::check("none", [](RandomProblem random, const RandomPlacement& genes) {
    random.channels.push_back({1, 1, false});
    for (auto& channel : random.channels) channel.contention = false;
    const Problem problem = problem_of(random);
    assert_equal(*make_switched_engine(problem, {.channels = ChannelScope::none}),
                 *make_reference_engine(problem, Schedule::fifo), placement_of(problem, genes));
  }));
}

// A placement on which every simulator has a time.
struct Timed {
  Problem problem;
  Placement placement;
};

Timed timed(RandomProblem random, RandomPlacement genes) {
  random.joined = Joined::pairs;
  genes.only_where_it_runs = genes.groups_together = true;
  Timed timed{problem_of(random), {}};
  timed.placement = placement_of(timed.problem, genes);
  return timed;
}

// The duration of an op: in Placeto's simulator ops of cost 0 take no time, all others take at least a tick.
Ticks cost(const std::string& simulator, const Problem& problem, std::size_t op, std::size_t device) {
  const bool zero = problem.zero_cost[op * problem.device_count() + device] != 0;
  return simulator == "placeto" && zero ? 0 : problem.time(OpId{op}, DeviceId{device});
}

// The simulator without the host's time to launch kernels, which tests of its own have.
std::string without_dispatch(const std::string& simulator) {
  return simulator == "tensorflow-1" ? "tensorflow-1?dispatch_us=0" : simulator;
}

TEST(PublishedSimulators, OneDeviceTakesTheSumOfCostsAndGaps) {
  EXPECT_TRUE(rc::check("sum", [](const RandomProblem& random, const RandomPlacement& genes) {
    auto [problem, placement] = timed(random, genes);
    std::ranges::fill(placement.device, std::uint8_t{0});
    for (std::size_t op = 0; op < problem.op_count(); ++op) RC_PRE(problem.can_run(OpId{op}, DeviceId{0}));
    for (const SimulatorEntry& entry : simulators()) {
      Ticks sum = 0;
      for (std::size_t op = 0; op < problem.op_count(); ++op) {
        const Ticks time = cost(entry.name, problem, op, 0);
        sum += time + (entry.name == "placeto" && time > 0 ? 5700000 : 0);
      }
      RC_ASSERT(choose_simulator(without_dispatch(entry.name)).make(problem)->evaluate(placement).makespan == sum);
    }
  }));
}

TEST(PublishedSimulators, AreNeverFasterThanTheCriticalPathOrTheBusiestDevice) {
  EXPECT_TRUE(rc::check("bounds", [](const RandomProblem& random, const RandomPlacement& genes) {
    const auto [problem, placement] = timed(random, genes);
    for (const SimulatorEntry& entry : simulators()) {
      // A load is not the time of a step, and accelerators that wait for each other have no time.
      if (entry.name.starts_with("tarnawski")) continue;
      std::vector<Ticks> load(problem.device_count()), path(problem.op_count());
      Ticks bound = 0;
      for (const std::uint32_t op : problem.topological) {
        for (const std::uint32_t tensor : problem.inputs[op])
          path[op] = std::max(path[op], path[problem.producer[tensor].index()]);
        const Ticks time = cost(entry.name, problem, op, placement.device[op]);
        path[op] += time;
        load[placement.device[op]] += time;
        bound = std::max({bound, path[op], load[placement.device[op]]});
      }
      RC_ASSERT(choose_simulator(entry.name).make(problem)->evaluate(placement).makespan >= bound);
    }
  }));
}

TEST(PublishedSimulators, SendEachOutputOnceOrOnceADeviceOrOnceAnEdge) {
  EXPECT_TRUE(rc::check("transfers", [](const RandomProblem& random, const RandomPlacement& genes) {
    const auto [problem, placement] = timed(random, genes);
    std::size_t tensors = 0, pairs = 0, edges = 0;
    for (std::size_t t = 0; t < problem.tensor_count(); ++t) {
      std::set<std::uint8_t> devices;
      for (const std::uint32_t consumer : problem.consumers[t]) {
        if (placement.device[consumer] == placement.device[problem.producer[t].index()]) continue;
        devices.insert(placement.device[consumer]);
        ++edges;
      }
      tensors += !devices.empty();
      pairs += devices.size();
    }
    // A broadcast is listed once for each destination, all at the same time; it is recognised by the bytes on channels
    // and the times.
    const auto run = [&](const char* fan_out) {
      return ask(*choose_simulator("plain?fan_out=" + std::string(fan_out)).make(problem), placement);
    };
    const Answer broadcast = run("broadcast"), dest = run("dest"), edge = run("edge");
    RC_ASSERT(dest.timeline.transfers.size() == pairs);
    RC_ASSERT(edge.timeline.transfers.size() == edges);
    RC_ASSERT(broadcast.timeline.transfers.size() == pairs);
    std::map<TensorId, std::pair<Ticks, Ticks>> sent;
    for (const auto& transfer : broadcast.timeline.transfers) {
      const auto [at, is_new] = sent.emplace(transfer.tensor, std::pair(transfer.start, transfer.end));
      RC_ASSERT(at->second == std::pair(transfer.start, transfer.end));
    }
    RC_ASSERT(sent.size() == tensors);
  }));
}

TEST(PublishedSimulators, EqualInstantsDoNotDependOnTheOrderOfTensors) {
  // Reversing the consumers of each tensor changes the order in which events of one instant come, and nothing else.
  EXPECT_TRUE(rc::check("order", [](const RandomProblem& random, const RandomPlacement& genes) {
    const auto [problem, placement] = timed(random, genes);
    Problem reversed = problem;
    for (std::size_t t = 0; t < problem.tensor_count(); ++t)
      std::reverse(reversed.consumers.items.begin() + reversed.consumers.begin[t],
                   reversed.consumers.items.begin() + reversed.consumers.begin[t + 1]);
    for (const SimulatorEntry& entry : simulators()) {
      const Answer one = ask(*choose_simulator(entry.name).make(problem), placement);
      const Answer other = ask(*choose_simulator(entry.name).make(reversed), placement);
      RC_ASSERT(one.outcome == other.outcome);
      RC_ASSERT(one.timeline == other.timeline);
      RC_ASSERT(one.usage == other.usage);
    }
  }));
}

}  // namespace
}  // namespace emplace::simulate::published_laws_test
