// Explanations: one read as a whole, hand-worked; laws on random problems.
#include "report/explanation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <nlohmann/json.hpp>

#include "tests/report/ops.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::report::explanation_test {
namespace {

using nlohmann::json;
using test::op;
using test::RandomPlacement;
using test::RandomProblem;
using ::testing::HasSubstr;

// load (1 s, 8 GiB resident) feeds left and right (4 s each) on gpu:0 and both feed join (1 s) on cpu:0, each by 1 GiB
// at 1 GiB/s. gpu:0 runs load 0-1, left 1-5, right 5-9; d2h carries left's 5-6 and right's 9-10; join 10-11.
struct Diamond {
  Problem problem;
  Placement placement{{1, 1, 1, 0}, {}};
  Diamond() {
    constexpr Bytes gib = Bytes{1} << 30;
    ProblemBuilder builder("diamond");
    builder.add_device({"cpu:0", "cpu", 64 * gib});
    builder.add_device({"gpu:0", "gpu", 12 * gib});
    const ChannelId h2d = builder.add_channel({"h2d", 0, static_cast<double>(gib)});
    const ChannelId d2h = builder.add_channel({"d2h", 0, static_cast<double>(gib)});
    builder.add_route(DeviceId{0U}, DeviceId{1U}, {h2d});
    builder.add_route(DeviceId{1U}, DeviceId{0U}, {d2h});
    OpSpec first = op("load", {1, 1}, "Load");
    first.resident = 8 * gib;
    const OpId load = builder.add_op(first);
    const OpId left = builder.add_op(op("left", {5, 4}, "MatMul"));
    const OpId right = builder.add_op(op("right", {5, 4}, "MatMul"));
    const OpId join = builder.add_op(op("join", {1, std::nan("")}, "Add"));
    builder.add_tensor(load, gib, {left, right});
    builder.add_tensor(left, gib, {join});
    builder.add_tensor(right, gib, {join});
    problem = builder.build();
  }
};

// Worth reading: this is what a person sees. Worked by hand:
// - Path: load 0-1, left 1-5 (only in the way of right), right 5-9, its tensor 9-10, join 10-11: computing 1 + 4 + 1,
//   moving 1, waiting 4.
// - Peak of gpu:0: load's 8 GiB and output, left's output until 6, right's output from 5: 8 + 3 GiB at 5 s. cpu:0: the
//   copies of left's (5-11) and right's (9-11).
// - Limits: gpu:0 is busy for 9 of 11 s; load, left, its tensor and join need one another: 7 s; d2h carries 2 s.
// - Moves: left to cpu:0: load 0-1, its tensor 1-2, left on cpu 2-7, right on gpu 1-5, its tensor 5-6, join 7-8: 8 s.
//   right to cpu:0 the same. load to cpu:0: its tensor 1-2, then all 1 s later: 12 s, no help.
TEST(Explanation, ReadsWell) {
  const Diamond diamond;
  const Explanation e = explain(diamond.problem, diamond.placement, Schedule::fifo);
  EXPECT_EQ(explanation_text(diamond.problem, diamond.placement, e),
            R"text(diamond: 11 s a step (fifo schedule), feasible

What limits the step
No device, link or chain of ops fills the step:
  the device gpu:0 is busy 82 % of the step (idle for 2 s)
  a chain of 3 ops that need one another's results takes 64 % of the step (55 % computing, 9.1 % moving tensors); on the critical path, work that is ready waits for 36 % of the step: 36 % for gpu:0
  the link d2h is busy 18 % of the step (idle for 9 s)

Critical path
The chain of 5 steps that the step time is made of: each begins exactly when the one before it ends.

its time goes into
computing: ops whose result the next step needs                                       6 s  54.5 %
moving: tensors that the next step needs                                              1 s   9.1 %
waiting: the next step is ready, but other work comes first on its device or channel  4 s  36.4 %

stretch of the path  begins  lasts   share  steps  longest of them
on gpu:0                0 s    9 s  81.8 %      3  left
gpu:0 to cpu:0          9 s    1 s   9.1 %      1  right on its way to cpu:0
on cpu:0               10 s    1 s   9.1 %      1  join

Longest waits on it
  right waited 4 s: gpu:0 was busy, last with left

Devices
device  ops  busy   share  idle   share                when it was busy
cpu:0     1   1 s   9.1 %  10 s  90.9 %  ...........................▆██
gpu:0     3   9 s  81.8 %   2 s  18.2 %  ████████████████████████▅.....

Channels (moved between devices: 2.00 GiB, transfers: 2)
channel     moved  busy   share
h2d           0 B   0 s   0.0 %
d2h      2.00 GiB   2 s  18.2 %

Ops that last longest
op       type     on  lasts   share  fastest on  there
left   MatMul  gpu:0    4 s  36.4 %    this one
right  MatMul  gpu:0    4 s  36.4 %    this one
load     Load  gpu:0    1 s   9.1 %    this one
join      Add  cpu:0    1 s   9.1 %    this one

Tensors that take longest to move (waiting: for a channel)
tensor made by      size     on  sent to  moving  waiting
left            1.00 GiB  gpu:0    cpu:0     1 s      0 s
right           1.00 GiB  gpu:0    cpu:0     1 s      0 s

Peak memory
device       peak     memory  peak at  resident   outputs    copies  scratch                       over time
cpu:0    2.00 GiB  64.00 GiB      9 s       0 B       0 B  2.00 GiB      0 B  .............▄▄▄▄▄▄▄▄▄▄▄██████
gpu:0   11.00 GiB  12.00 GiB      5 s  8.00 GiB  3.00 GiB       0 B      0 B  ▇▇███████████████████████▇▇▇▆▆
at its peak cpu:0 holds
  1.00 GiB copy of left
  1.00 GiB copy of right
at its peak gpu:0 holds 4 items, of which the largest are
  8.00 GiB resident of load
  1.00 GiB made by load
  1.00 GiB made by left

Single moves that help most (all 3 were tried)
move    from     to  step then     gain
right  gpu:0  cpu:0        8 s  27.27 %
left   gpu:0  cpu:0        8 s  27.27 %
)text");
}

// A saturated device: its ops also form the critical path, but the device is what limits the step.
TEST(Explanation, NamesASaturatedDeviceAndNoChain) {
  ProblemBuilder builder("saturated");
  builder.add_device({"gpu:0", "gpu", no_memory_limit});
  builder.add_device({"gpu:1", "gpu", no_memory_limit});
  for (const char* name : {"a", "b", "c"}) builder.add_op(op(name, {1, 1}));
  const Problem problem = builder.build();
  const Placement placement{{0, 0, 0}, {}};
  const Explanation e = explain(problem, placement, Schedule::fifo);
  const std::string text = explanation_text(problem, placement, e);
  EXPECT_THAT(text, HasSubstr("What limits the step\n"
                              "  the device gpu:0 is busy 100 % of the step, so only less work on it makes the step "
                              "shorter\n\nCritical path"));
  const json limits = json::parse(explanation_json(problem, placement, e))["limits"];
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0]["kind"], "device");
  EXPECT_EQ(limits[0]["name"], "gpu:0");
  EXPECT_EQ(limits[0]["share"], 1.0);
  EXPECT_EQ(limits[0]["slack_s"], 0.0);
}

TEST(Explanation, HasItsHeadAfterTheFirstLine) {
  const Diamond diamond;
  const Explanation e = explain(diamond.problem, diamond.placement, Schedule::fifo);
  const verdict::Verdict head{.rows = {{"step time", e.outcome.makespan}},
                              .sentences = {"worse than one device"},
                              .about_bound = {},
                              .next = "emplace bound p.json"};
  EXPECT_THAT(explanation_text(diamond.problem, diamond.placement, e, head),
              ::testing::StartsWith("diamond: 11 s a step (fifo schedule), feasible\n\nstep time  11 s\n"
                                    "worse than one device\nnext: emplace bound p.json\n\nWhat limits the step\n"));
  const json parsed = json::parse(explanation_json(diamond.problem, diamond.placement, e, head));
  EXPECT_EQ(parsed["verdict"]["rows"][0], (json{{"name", "step time"}, {"makespan_s", 11.0}}));
  EXPECT_EQ(parsed["verdict"]["sentences"], json::array({"worse than one device"}));
  EXPECT_EQ(parsed["verdict"]["next"], "emplace bound p.json");
}

TEST(Explanation, OfASingleOpWithNowhereToGoSaysSo) {
  ProblemBuilder builder("alone");
  builder.add_device({"d", "", no_memory_limit});
  builder.add_op(op("a", {1}));
  const Problem problem = builder.build();
  const Placement placement{{0}, {}};
  const std::string text = explanation_text(problem, placement, explain(problem, placement, Schedule::fifo));
  EXPECT_THAT(text, HasSubstr("The chain of one step that"));
  EXPECT_THAT(text, HasSubstr("There is no move to try: no op can run on another device."));
}

TEST(Explanation, SaysWhyAnOpWaited) {
  // c waits for the device, then for its turn in the order, then its tensor for the channel: see critical_path_test for
  // the reasons themselves.
  const Diamond diamond;
  const Placement placement{{1, 1, 1, 0}, {0, 2, 1, 3}};
  const auto text = [&](Schedule schedule) {
    return explanation_text(diamond.problem, placement, explain(diamond.problem, placement, schedule));
  };
  EXPECT_THAT(text(Schedule::fifo), HasSubstr("  right waited 4 s: gpu:0 was busy, last with left\n"));
  EXPECT_THAT(text(Schedule::in_order), HasSubstr("  left waited 4 s: gpu:0 was busy, last with right\n"));
}

TEST(Explanation, OfAPlacementThatCannotRunSaysWhyAndWhichMoveRepairsIt) {
  const Diamond diamond;
  const Placement placement{{1, 1, 1, 1}, {}};
  const Explanation e = explain(diamond.problem, placement, Schedule::fifo);
  const std::string text = explanation_text(diamond.problem, placement, e);
  EXPECT_THAT(text,
              HasSubstr("diamond: no time (fifo schedule), not feasible: op 'join' cannot run on device 'gpu:0'"));
  EXPECT_THAT(text, HasSubstr("join  gpu:0  cpu:0  11 s, feasible"));
  const json parsed = json::parse(explanation_json(diamond.problem, placement, e));
  EXPECT_TRUE(parsed["makespan_ps"].is_null());
  EXPECT_TRUE(parsed["critical_path"].is_null());
  EXPECT_EQ(parsed["moves"]["best"][0]["ops"], json::array({"join"}));
}

TEST(Explanation, KeysForProgramsHoldTheSameFigures) {
  const Diamond diamond;
  const json parsed = json::parse(explanation_json(diamond.problem, diamond.placement,
                                                   explain(diamond.problem, diamond.placement, Schedule::fifo)));
  constexpr std::int64_t second = 1'000'000'000'000;
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  EXPECT_EQ(parsed["makespan_ps"], 11 * second);
  EXPECT_EQ(parsed["critical_path"]["computing_s"], 6.0);
  EXPECT_EQ(parsed["critical_path"]["transferring_s"], 1.0);
  EXPECT_EQ(parsed["critical_path"]["waiting_s"], 4.0);
  EXPECT_EQ(parsed["critical_path"]["steps"][2], (json{{"op", "right"},
                                                       {"device", "gpu:0"},
                                                       {"start_ps", 5 * second},
                                                       {"end_ps", 9 * second},
                                                       {"wait_ps", 4 * second},
                                                       {"reason", "device busy"}}));
  EXPECT_EQ(parsed["critical_path"]["steps"][3], (json{{"tensor", "right"},
                                                       {"from", "gpu:0"},
                                                       {"to", "cpu:0"},
                                                       {"start_ps", 9 * second},
                                                       {"end_ps", 10 * second},
                                                       {"wait_ps", 0},
                                                       {"reason", "input"}}));
  EXPECT_EQ(parsed["moved_bytes"], 2 * gib);
  EXPECT_EQ(parsed["devices"][1]["peak_memory_bytes"], 11 * gib);
  EXPECT_EQ(parsed["devices"][1]["peak_at_s"], 5.0);
  EXPECT_EQ(parsed["devices"][1]["at_peak"]["resident_bytes"], 8 * gib);
  EXPECT_EQ(parsed["devices"][1]["at_peak"]["output_bytes"], 3 * gib);
  EXPECT_EQ(parsed["devices"][1]["at_peak"]["largest"][0],
            (json{{"kind", "resident"}, {"op", "load"}, {"bytes", 8 * gib}}));
  EXPECT_EQ(parsed["devices"][0]["memory_over_time"], (json{{0.0, 0}, {5.0, gib}, {9.0, 2 * gib}, {11.0, 0}}));
  EXPECT_EQ(parsed["channels"][1],
            (json{{"name", "d2h"}, {"busy_s", 2.0}, {"busy_share", 2.0 / 11}, {"bytes", 2 * gib}}));
  EXPECT_EQ(parsed["ops"][0]["op"], "left");
  EXPECT_EQ(parsed["tensors"][0]["tensor"], "left");
  EXPECT_EQ(parsed["moves"]["simulated"], 3);
  EXPECT_EQ(parsed["moves"]["best"][0]["makespan_ps"], 8 * second);
}

TEST(Explanation, KeepsToOneScreenWidthAndEscapesHostileNames) {
  ProblemBuilder builder("evil\x1b[31m");
  builder.add_device({"dev\nice", "", no_memory_limit});
  builder.add_op(op(std::string(5000, 'x') + "\x07", {1}, "T\ty"));
  builder.add_op(op("model/layer/one/two/three/four/five/six/seven/eight/multiply", {1}));
  const Problem problem = builder.build();
  const Placement placement{{0, 0}, {}};
  const std::string text = explanation_text(problem, placement, explain(problem, placement, Schedule::fifo));
  for (const char bad : {'\x1b', '\x07', '\t'}) EXPECT_EQ(text.find(bad), std::string::npos);
  EXPECT_THAT(text, HasSubstr("model/layer/one/.../six/seven/eight/multiply"));
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find('\n', begin);
    EXPECT_LT(std::min(end, text.size()) - begin, 300U);  // bytes; bars have three each
  }
}

TEST(Explanation, AddsUpOnRandomProblems) {
  EXPECT_TRUE(rc::check("sums", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = problem_of(random);
    const Placement placement = placement_of(problem, genes);
    const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order);
    const Explanation e = explain(problem, placement, schedule);
    RC_ASSERT(!explanation_text(problem, placement, e).empty());
    const json parsed = json::parse(explanation_json(problem, placement, e));
    RC_ASSERT(parsed["feasible"].get<bool>() == e.reason.empty());
    if (!e.outcome.timed()) return;
    Ticks along = 0;
    for (const PathStretch& stretch : e.stretches) {
      RC_ASSERT(stretch.start == along);
      RC_ASSERT(stretch.first <= stretch.longest && stretch.longest < stretch.first + stretch.count);
      along = stretch.end;
    }
    RC_ASSERT(along == e.outcome.makespan);
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      const PeakMemory& peak = e.at_peak[d];
      RC_ASSERT(peak.resident + peak.scratch + peak.outputs + peak.copies == e.usage.device_peak[d]);
    }
    RC_ASSERT(e.costly_ops.size() == std::min<std::size_t>(10, problem.op_count()));
    RC_ASSERT(e.costly_tensors.size() <= 10U);
    RC_ASSERT(e.costly_tensors.empty() == e.timeline.transfers.empty());
  }));
}

}  // namespace
}  // namespace emplace::report::explanation_test
