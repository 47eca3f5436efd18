// The critical path on hand-worked steps, and its laws on random ones. Times are ticks.
#include "simulate/timeline/critical_path.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tests/simulate/toy.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::critical_path_test {
namespace {

using test::RandomPlacement;
using test::RandomProblem;
using test::simulate;
using test::Toy;

// "op0 0-2 after none", "t1>d1 2-5 waited 1 after channel busy c0": short enough to read a whole path in a test.
std::vector<std::string> words(const std::vector<PathStep>& path, const Timeline& timeline) {
  std::vector<std::string> out;
  for (const PathStep& step : path) {
    std::string text;
    if (step.is_op()) {
      text = fmt::format("op{}", step.op.value);
    } else {
      const Timeline::Transfer& transfer = timeline.transfers[step.transfer];
      text = fmt::format("t{}>d{}", transfer.tensor.value, transfer.to.value);
    }
    text += fmt::format(" {}-{}", step.start, step.end);
    if (step.wait() > 0) text += fmt::format(" waited {}", step.wait());
    text += fmt::format(" {}", name_of(step.reason));
    if (!step.tensor.is_none()) text += fmt::format(" t{}", step.tensor.value);
    if (!step.channel.is_none()) text += fmt::format(" c{}", step.channel.value);
    out.push_back(text);
  }
  return out;
}

using Words = std::vector<std::string>;

struct Found {
  Words path;
  PathShares shares;
};

Found find(const Problem& problem, const Placement& placement, Schedule schedule = Schedule::fifo) {
  const test::Answer answer = simulate(problem, placement, schedule);
  const auto path = critical_path(problem, placement, schedule, answer.timeline);
  return {words(path, answer.timeline), shares_of(path)};
}

TEST(CriticalPath, FollowsTheInputThatArrivedLast) {
  // op0 (2) and op1 (5) run at once on devices 0 and 1; op2 needs both, on device 0. t0 is local, there at 2. t1 leaves
  // at 5 and takes 1 + 3 x 1 = 4, so it arrives at 9; op2 9-12.
  Toy toy(2);
  toy.route(1, 0, {toy.channel(1, 1)});
  const OpId op0 = toy.op({2, 2}), op1 = toy.op({5, 5}), op2 = toy.op({3, 3});
  toy.tensor(op0, 7, {op2});
  toy.tensor(op1, 3, {op2});
  const Found found = find(toy.build(), {{0, 1, 0}, {}});
  EXPECT_EQ(found.path, (Words{"op1 0-5 none", "t1>d0 5-9 input t1", "op2 9-12 input t1"}));
  EXPECT_EQ(found.shares.computing, 8);
  EXPECT_EQ(found.shares.transferring, 4);
  EXPECT_EQ(found.shares.waiting, 0);
}

TEST(CriticalPath, OfTwoInputsThatArriveTogetherTakesTheSmallerId) {
  Toy toy(2);
  toy.route(1, 0, {toy.channel(1, 1)});
  // t0 is local and there at 5; t1 arrives at 3 + 1 + 1 = 5.
  const OpId op0 = toy.op({5, 5}), op1 = toy.op({3, 3}), op2 = toy.op({1, 1});
  toy.tensor(op0, 0, {op2});
  toy.tensor(op1, 1, {op2});
  EXPECT_EQ(find(toy.build(), {{0, 1, 0}, {}}).path, (Words{"op0 0-5 none", "op2 5-6 input t0"}));
}

TEST(CriticalPath, NamesTheOpThatHeldTheDevice) {
  // One device, no tensors: op0 0-2, op1 2-6, op2 6-7, all ready at 0.
  Toy toy(1);
  toy.op({2});
  toy.op({4});
  toy.op({1});
  const Found found = find(toy.build(), {{0, 0, 0}, {}});
  EXPECT_EQ(found.path, (Words{"op0 0-2 none", "op1 2-6 waited 2 device busy", "op2 6-7 waited 6 device busy"}));
  // Only the time of the last op was needed for its result; the others kept the device busy.
  EXPECT_EQ(found.shares.computing, 1);
  EXPECT_EQ(found.shares.waiting, 6);
}

TEST(CriticalPath, NamesTheTransferThatHeldTheChannel) {
  // op0 0-1 sends t0 (4 bytes) and t1 (2 bytes) over one channel: t0 1-5, t1 waits 4, 5-7; op2 on device 1 needs t1.
  Toy toy(2);
  const ChannelId channel = toy.channel(0, 1);
  toy.route(0, 1, {channel});
  const OpId op0 = toy.op({1, 1}), op1 = toy.op({1, 1}), op2 = toy.op({3, 3});
  toy.tensor(op0, 4, {op1});
  toy.tensor(op0, 2, {op2});
  const Found found = find(toy.build(), {{0, 1, 1}, {}});
  EXPECT_EQ(found.path,
            (Words{"op0 0-1 none", "t0>d1 1-5 input t0", "t1>d1 5-7 waited 4 channel busy c0", "op2 7-10 input t1"}));
  EXPECT_EQ(found.shares.computing, 4);     // op0, op2
  EXPECT_EQ(found.shares.transferring, 2);  // t1
  EXPECT_EQ(found.shares.waiting, 4);       // waiting for the channel that t0 uses
}

TEST(CriticalPath, NamesTheChannelOfARouteThatWasBusy) {
  // NICs: d0 leaves by c0 and d1 by c1; d2 is entered by c2. t0 from d0 2-6 on c0 and c2; t1 from d1, requested at 3,
  // waits for c2 alone until 6.
  Toy toy(3);
  const ChannelId out0 = toy.channel(0, 1), out1 = toy.channel(0, 1), in2 = toy.channel(0, 1);
  toy.route(0, 2, {out0, in2});
  toy.route(1, 2, {out1, in2});
  const OpId op0 = toy.op({2, 2, 2}), op1 = toy.op({3, 3, 3}), op2 = toy.op({1, 1, 1});
  toy.tensor(op0, 4, {op2});
  toy.tensor(op1, 1, {op2});
  EXPECT_EQ(find(toy.build(), {{0, 1, 2}, {}}).path,
            (Words{"op0 0-2 none", "t0>d2 2-6 input t0", "t1>d2 6-7 waited 3 channel busy c2", "op2 7-8 input t1"}));
}

TEST(CriticalPath, InOrderSaysWhichWaitsForItsTurnAndWhichForABusyDevice) {
  // op2 0-5 on device 1; its tensor arrives at 6 on device 0, whose order is op1 (needs it), op0, op3 (need nothing).
  // Device 0 idles until 6: op1 6-8, op0 8-11 and op3 11-12 waited for their turn.
  Toy toy(2);
  toy.route(1, 0, {toy.channel(1, 1)});
  toy.op({3, 3});
  const OpId op1 = toy.op({2, 2}), op2 = toy.op({5, 5});
  toy.op({1, 1});
  toy.tensor(op2, 0, {op1});
  const Problem problem = toy.build();
  EXPECT_EQ(find(problem, {{0, 0, 1, 0}, {2, 1, 0, 3}}, Schedule::in_order).path,
            (Words{"op2 0-5 none", "t0>d0 5-6 input t0", "op1 6-8 input t0", "op0 8-11 waited 8 turn",
                   "op3 11-12 waited 11 turn"}));
  // Order 0 3 2 1: device 0 never idles before op3: it only was busy. op1 comes last, at 6.
  EXPECT_EQ(
      find(problem, {{0, 0, 0, 0}, {0, 3, 2, 1}}, Schedule::in_order).path,
      (Words{"op0 0-3 none", "op3 3-4 waited 3 device busy", "op2 4-9 waited 4 device busy", "op1 9-11 input t0"}));
}

TEST(CriticalPath, IsEmptyForAPlacementWithoutATimeline) {
  Toy toy(2);
  toy.op({1, -1});
  const Problem problem = toy.build();
  const Placement placement{{1}, {}};
  const test::Answer answer = simulate(problem, placement);
  EXPECT_TRUE(critical_path(problem, placement, Schedule::fifo, answer.timeline).empty());
}

// Checks every step of the path by the rules, independently of the code under test.
void assert_right(const Problem& p, const Placement& placement, Schedule schedule, const test::Answer& answer) {
  const auto path = critical_path(p, placement, schedule, answer.timeline);
  if (!answer.outcome.timed()) {
    RC_ASSERT(path.empty());
    return;
  }
  RC_ASSERT(path.back().end == answer.outcome.makespan);
  RC_ASSERT(path.back().is_op());
  RC_ASSERT(path.front().start == 0);
  RC_ASSERT(path.front().reason == Reason::none);
  for (std::size_t i = 1; i < path.size(); ++i) {
    const PathStep& before = path[i - 1];
    const PathStep& step = path[i];
    RC_ASSERT(step.start == before.end);
    RC_ASSERT(step.duration() > 0);
    RC_ASSERT(step.wait() >= 0);
    switch (step.reason) {
      case Reason::none: RC_FAIL("a later step began for no reason");
      case Reason::input: {
        RC_ASSERT(step.wait() == 0);
        RC_ASSERT(p.producer[step.tensor.index()] == (before.is_op() ? before.op : p.producer[step.tensor.index()]));
        if (!before.is_op()) RC_ASSERT(answer.timeline.transfers[before.transfer].tensor == step.tensor);
        if (step.is_op()) {
          const auto consumers = p.consumers[step.tensor.index()];
          RC_ASSERT(std::ranges::find(consumers, step.op.value) != consumers.end());
        }
        break;
      }
      case Reason::device_busy:
      case Reason::turn:
        RC_ASSERT(step.is_op() && before.is_op());
        RC_ASSERT(step.wait() > 0);
        RC_ASSERT(placement.device[step.op.index()] == placement.device[before.op.index()]);
        RC_ASSERT(step.reason == Reason::device_busy || schedule == Schedule::in_order);
        break;
      case Reason::channel_busy: {
        RC_ASSERT(!step.is_op() && !before.is_op());
        RC_ASSERT(step.wait() > 0);
        for (const PathStep& user : {before, step}) {
          const Timeline::Transfer& transfer = answer.timeline.transfers[user.transfer];
          const auto route = p.route(transfer.from, transfer.to);
          RC_ASSERT(std::ranges::find(route, step.channel.value) != route.end());
        }
        RC_ASSERT(p.channels[step.channel.index()].contention);
        break;
      }
    }
  }
  const PathShares shares = shares_of(path);
  RC_ASSERT(shares.computing + shares.transferring + shares.waiting == answer.outcome.makespan);
}

TEST(CriticalPath, FillsTheStepWithoutAGapOnRandomProblems) {
  EXPECT_TRUE(rc::check("tiles [0, makespan]", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = problem_of(random);
    const Placement placement = placement_of(problem, genes);
    for (const Schedule schedule : {Schedule::fifo, Schedule::priority, Schedule::in_order}) {
      test::Answer answer;
      answer.outcome = make_reference_engine(problem, schedule)->evaluate(placement, {nullptr, &answer.timeline});
      assert_right(problem, placement, schedule, answer);
    }
  }));
}

}  // namespace
}  // namespace emplace::simulate::critical_path_test
