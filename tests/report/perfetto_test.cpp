// Traces against the trace event format, checked by code that shares nothing with the writer, and against the timeline.
#include "report/perfetto.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "emplace/problem/builder.hpp"
#include "tests/report/ops.hpp"
#include "tests/report/trace_parser.hpp"
#include "tests/support/random_problem.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::report::perfetto_test {
namespace {

using nlohmann::json;
using test::op;
using test::parse_events;
using test::Parsed;
using test::RandomPlacement;
using test::RandomProblem;
using test::scaled;
using test::trace;
using test::Traced;
using test::TrackKey;

// The problem of the design page: a on gpu:0 0-1 ms, its 4096 bytes to cpu:0 in 10 us + 4096 / 12 GB/s, b 10 ms.
struct Example {
  Problem problem;
  Placement placement{{1, 0}, {}};
  simulate::Timeline timeline;
  Example() {
    ProblemBuilder builder("two-device \"chain\"");
    builder.add_device({"cpu:0", "cpu", no_memory_limit});
    builder.add_device({"gpu:0", "gpu", no_memory_limit});
    const ChannelId h2d = builder.add_channel({"h2d", 1e-5, 1.2e10});
    const ChannelId d2h = builder.add_channel({"d2h", 1e-5, 1.2e10});
    builder.add_route(DeviceId{0U}, DeviceId{1U}, {h2d});
    builder.add_route(DeviceId{1U}, DeviceId{0U}, {d2h});
    const OpId a = builder.add_op(op("a", {0.010, 0.001}, "MatMul"));
    const OpId b = builder.add_op(op("b", {0.010, std::nan("")}, "Relu"));
    builder.add_tensor(a, 4096, {b});
    problem = builder.build();
    simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline});
  }
};

TEST(Trace, OfTheDesignPagesExampleIsExactToThePicosecond) {
  const Example example;
  const Traced traced = trace(example.problem, example.placement, example.timeline);
  // 10 us + 4096 B / 12 GB/s = 10.341333 us; the makespan is 1000 + 10.341333 + 10000 us.
  using ::testing::HasSubstr;
  EXPECT_THAT(traced.text, HasSubstr(R"("name":"a","ts":0.000000,"dur":1000.000000,)"
                                     R"("args":{"type":"MatMul","start_ps":0,"duration_ps":1000000000})"));
  EXPECT_THAT(traced.text, HasSubstr(R"("name":"a","ts":1000.000000,"dur":10.341000,)"
                                     R"("args":{"from":"gpu:0","to":"cpu:0","bytes":4096,"waited_ps":0,)"
                                     R"("start_ps":1000000000,"duration_ps":10341333})"));
  EXPECT_THAT(traced.text, HasSubstr(R"("name":"b","ts":1010.341000,"dur":10000.000000,)"
                                     R"("args":{"type":"Relu","start_ps":1010341333,"duration_ps":10000000000})"));
  EXPECT_THAT(traced.text, HasSubstr(R"("problem":"two-device \"chain\"","makespan_ps":11010341333,"left_out":0)"));
  Parsed parsed;
  EXPECT_EQ(parse_events(traced.events, parsed), "");
  EXPECT_EQ(parsed.processes, (std::map<int, std::string>{{1, "cpu:0"}, {2, "gpu:0"}, {3, "channels"}}));
  using Levels = std::vector<std::pair<Ticks, Bytes>>;
  EXPECT_EQ(parsed.counters[2], (Levels{{0, 4096}, {1010341333, 0}}));
  EXPECT_EQ(parsed.counters[1], (Levels{{0, 0}, {1000000000, 4096}, {11010341333, 0}}));
  ASSERT_EQ(parsed.arrows.size(), 1U);
  EXPECT_EQ(parsed.arrows.begin()->second['s'].second, 0);
  EXPECT_EQ(parsed.arrows.begin()->second['t'].second, 1000000000);
  EXPECT_EQ(parsed.arrows.begin()->second['f'].second, 1010341000);
}

TEST(Trace, KeepsToTheFormatAndShowsEveryOpTransferAndLevelOnRandomProblems) {
  EXPECT_TRUE(rc::check("schema", [](const RandomProblem& random, const RandomPlacement& genes) {
    const Problem problem = scaled(problem_of(random), 1000);  // ticks are nanoseconds
    const Placement placement = placement_of(problem, genes);
    simulate::Timeline timeline;
    Usage usage;
    const Outcome outcome =
        simulate::make_reference_engine(problem, Schedule::fifo)->evaluate(placement, {&usage, &timeline});
    if (!outcome.timed()) return;
    const Traced traced = trace(problem, placement, timeline);
    Parsed parsed;
    const std::string wrong = parse_events(traced.events, parsed);
    if (!wrong.empty()) RC_FAIL(wrong);
    RC_ASSERT(parsed.processes.size() == problem.device_count() + (problem.channels.empty() ? 0 : 1));

    std::map<int, Ticks> busy;  // by process
    std::size_t slices = 0;
    for (const auto& [track, spans] : parsed.exact)
      for (const auto& [start, end] : spans) {
        busy[track.first] += end - start;
        ++slices;
      }
    std::size_t hops = 0;
    for (const simulate::Timeline::Transfer& transfer : timeline.transfers)
      hops += problem.route(transfer.from, transfer.to).size();
    RC_ASSERT(slices == problem.op_count() + hops);
    RC_ASSERT(parsed.arrows.size() == timeline.transfers.size());
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      const int pid = static_cast<int>(d) + 1;
      RC_ASSERT(parsed.processes[pid] == problem.devices[d].name);
      RC_ASSERT(busy[pid] == usage.device_busy[d]);
      Bytes peak = 0;
      for (const auto& [time, bytes] : parsed.counters[pid]) peak = std::max(peak, bytes);
      RC_ASSERT(peak == usage.device_peak[d]);
    }
    Ticks moving = 0;
    for (const Ticks channel : usage.channel_busy) moving += channel;
    RC_ASSERT(busy[static_cast<int>(problem.device_count()) + 1] == moving);
  }));
}

TEST(Trace, WithinItsLimitsKeepsTheLongestAndThePeakAndSaysWhatItLeftOut) {
  // A chain of ops of 1 to 40 ns that changes device at every step: 40 ops, 39 transfers of 3 ns.
  ProblemBuilder builder("chain");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  const ChannelId channel = builder.add_channel({"c", 3e-9, 1e24});
  builder.add_route(DeviceId{0U}, DeviceId{1U}, {channel});
  builder.add_route(DeviceId{1U}, DeviceId{0U}, {channel});
  Placement placement;
  for (unsigned i = 1; i <= 40; ++i) {
    const OpId id = builder.add_op(op("op" + std::to_string(i), {i * 1e-9, i * 1e-9}));
    if (i > 1) builder.add_tensor(OpId{id.index() - 1}, i, {id});
    placement.device.push_back(static_cast<std::uint8_t>(i % 2));
  }
  const Problem problem = builder.build();
  simulate::Timeline timeline;
  Usage usage;
  simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {&usage, &timeline});
  const Traced traced = trace(problem, placement, timeline, {.slices = 50, .arrows = 3, .levels = 8});
  Parsed parsed;
  EXPECT_EQ(parse_events(traced.events, parsed), "");
  // The 38 ops of 3 ns and more, and the first 12 of the transfers of 3 ns; then 3 of their arrows.
  EXPECT_EQ(traced.summary.slices, 50U);
  EXPECT_EQ(traced.summary.slices_left, 29U);
  EXPECT_EQ(parsed.slices[TrackKey(3, 6)].size(), 12U);
  EXPECT_EQ(parsed.arrows.size(), 3U);
  EXPECT_EQ(traced.summary.arrows_left, 36U);
  EXPECT_GT(traced.summary.levels_left, 0U);
  for (int pid : {1, 2}) {
    const auto& levels = parsed.counters[pid];
    EXPECT_LE(levels.size(), 5U);
    EXPECT_EQ(levels.back().second, 0);
    Bytes peak = 0;
    for (const auto& [time, bytes] : levels) peak = std::max(peak, bytes);
    EXPECT_EQ(peak, usage.device_peak[static_cast<std::size_t>(pid) - 1]);
  }
  EXPECT_EQ(json::parse(traced.text)["otherData"]["left_out"], traced.summary.left_out());
}

TEST(Trace, GivesTransfersOfAChannelWithoutContentionTracksOfTheirOwnWhileTheyOverlap) {
  // op0 sends three tensors at 1, of 2, 3 and 1 ticks: three tracks; op1 sends one at 5, when all are free: the first.
  ProblemBuilder builder("free");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  builder.add_route(DeviceId{0U}, DeviceId{1U}, {builder.add_channel({"wire", 0, 1e12, false})});
  const OpId op0 = builder.add_op(op("op0", {1e-12, 1e-12}));
  const OpId op1 = builder.add_op(op("op1", {4e-12, 4e-12}));
  const OpId op2 = builder.add_op(op("op2", {1e-12, 1e-12}));
  for (const Bytes bytes : {2, 3, 1}) builder.add_tensor(op0, bytes, {op2});
  builder.add_tensor(op1, 2, {op2});
  const Problem problem = builder.build();
  const Placement placement{{0, 0, 1}, {}};
  simulate::Timeline timeline;
  simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline});
  Parsed parsed;
  EXPECT_EQ(parse_events(trace(problem, placement, timeline).events, parsed), "");
  std::map<std::string, std::multimap<Ticks, Ticks>> wires;
  for (const auto& [track, name] : parsed.threads)
    if (track.first == 3) wires[name] = parsed.exact[track];
  EXPECT_EQ(wires, (std::map<std::string, std::multimap<Ticks, Ticks>>{
                       {"wire", {{1, 3}, {5, 7}}}, {"wire (2)", {{1, 4}}}, {"wire (3)", {{1, 2}}}}));
}

TEST(Trace, ShortensHostileNamesAndEscapesThem) {
  ProblemBuilder builder("hostile");
  builder.add_device({"d\"\n", "", no_memory_limit});
  builder.add_op(op(std::string(100'000, 'x') + "\x01", {1}, "\\"));
  const Problem problem = builder.build();
  simulate::Timeline timeline;
  const Placement placement{{0}, {}};
  simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline});
  const Traced traced = trace(problem, placement, timeline);
  EXPECT_LT(traced.text.size(), 2000U);
  Parsed parsed;
  EXPECT_EQ(parse_events(traced.events, parsed), "");
  EXPECT_EQ(parsed.processes[1], "d\"\n");
}

TEST(Trace, FileAppearsWhole) {
  const test::TemporaryFolder folder;
  const Example example;
  const std::string path = folder / "trace.json";
  write_trace_file(example.problem, example.placement, example.timeline, path);
  EXPECT_EQ(read_file(path), trace(example.problem, example.placement, example.timeline).text);
  EXPECT_FALSE(file_exists(path + ".writing"));
  EXPECT_THROW(write_trace_file(example.problem, example.placement, example.timeline, folder / "no/such/folder.json"),
               EnvironmentError);
}

}  // namespace
}  // namespace emplace::report::perfetto_test
