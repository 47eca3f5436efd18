// Traces against the trace event format, checked by code that shares nothing with the writer, and against the timeline.
#include "emplace/report/perfetto.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "emplace/base/files.hpp"
#include "emplace/problem/builder.hpp"
#include "ops.hpp"
#include "support/random_problem.hpp"
#include "support/temporary_folder.hpp"

namespace emplace {
namespace {

using nlohmann::json;
using test::op;
using test::RandomPlacement;
using test::RandomProblem;

[[maybe_unused]] const int cases = setenv("RC_PARAMS", "max_success=200", 0);

struct Traced {
  TraceSummary summary;
  std::string text;
  json events;
};

Traced trace(const Problem& problem, const Placement& placement, const Timeline& timeline,
             const TraceLimits& limits = {}) {
  Traced traced;
  traced.summary = write_trace(
      problem, placement, timeline, [&](std::string_view piece) { traced.text += piece; }, limits);
  traced.events = json::parse(traced.text).at("traceEvents");
  return traced;
}

// Picoseconds of a time in microseconds. Doubles are exact enough below 2^53 / 10^6 us, some hours.
Ticks ticks(const json& microseconds) { return std::llround(microseconds.get<double>() * 1e6); }

using TrackKey = std::pair<int, int>;

struct Parsed {
  std::map<TrackKey, std::map<Ticks, Ticks>> slices;      // start -> end, as shown
  std::map<TrackKey, std::multimap<Ticks, Ticks>> exact;  // start -> end, as simulated
  std::map<int, std::string> processes;
  std::map<TrackKey, std::string> threads;
  std::map<int, std::vector<std::pair<Ticks, Bytes>>> counters;
  std::map<std::int64_t, std::map<char, std::pair<TrackKey, Ticks>>> arrows;
};

std::string problem_with(const json& event, const char* what) { return std::string(what) + ": " + event.dump(); }

// The schema: "" or what is wrong. Required keys by phase; names for every process and thread before their events; no
// slice of negative length; slices of one track do not overlap; arrows start, step and finish once, in time, each
// inside a slice that begins there; counters go forward in time and never below 0.
std::string parse_events(const json& events, Parsed& parsed) {
  const auto needs = [](const json& event, std::initializer_list<const char*> keys) {
    std::size_t found = 0;
    for (const char* key : keys) found += event.contains(key) ? 1 : 0;
    return found == keys.size() && event.size() == keys.size();
  };
  std::set<int> tids;
  for (const json& event : events) {
    const std::string ph = event.at("ph");
    const int pid = event.at("pid");
    if (pid <= 0) return problem_with(event, "a process id that viewers keep for themselves");
    if (ph == "M") {
      const std::string name = event.at("name");
      if (name == "process_name") {
        if (!needs(event, {"ph", "name", "pid", "args"})) return problem_with(event, "keys");
        if (!parsed.processes.emplace(pid, event.at("args").at("name")).second)
          return problem_with(event, "named twice");
      } else if (name == "thread_name") {
        if (!needs(event, {"ph", "name", "pid", "tid", "args"})) return problem_with(event, "keys");
        const int tid = event.at("tid");
        if (!tids.insert(tid).second) return problem_with(event, "a thread id of two processes");
        parsed.threads[{pid, tid}] = event.at("args").at("name");
      } else if (name != "process_sort_index" && name != "thread_sort_index") {
        return problem_with(event, "unknown metadata");
      }
      continue;
    }
    if (!parsed.processes.contains(pid)) return problem_with(event, "a process without a name");
    const Ticks at = ticks(event.at("ts"));
    if (at < 0) return problem_with(event, "before the beginning");
    if (ph == "C") {
      if (!needs(event, {"ph", "pid", "name", "ts", "args"})) return problem_with(event, "keys");
      auto& levels = parsed.counters[pid];
      const Bytes bytes = event.at("args").at("bytes");
      if (bytes < 0 || (!levels.empty() && levels.back().first >= at)) return problem_with(event, "counter");
      levels.emplace_back(at, bytes);
      continue;
    }
    const TrackKey track{pid, event.at("tid").get<int>()};
    if (!parsed.threads.contains(track)) return problem_with(event, "a thread without a name");
    if (ph == "X") {
      if (!needs(event, {"ph", "pid", "tid", "cat", "name", "ts", "dur", "args"})) return problem_with(event, "keys");
      const Ticks duration = ticks(event.at("dur"));
      if (duration <= 0) return problem_with(event, "a slice of no length");
      if (at % 1000 != 0 || duration % 1000 != 0) return problem_with(event, "viewers round to nanoseconds");
      const Ticks start = event.at("args").at("start_ps");
      parsed.exact[track].emplace(start, start + event.at("args").at("duration_ps").get<Ticks>());
      if (!parsed.slices[track].emplace(at, at + duration).second)
        return problem_with(event, "two slices start at once");
    } else if (ph == "s" || ph == "t" || ph == "f") {
      const bool keys = ph == "f" ? needs(event, {"ph", "id", "pid", "tid", "cat", "name", "ts", "bp"})
                                  : needs(event, {"ph", "id", "pid", "tid", "cat", "name", "ts"});
      if (!keys) return problem_with(event, "keys");
      if (!parsed.arrows[event.at("id")].emplace(ph[0], std::pair(track, at)).second)
        return problem_with(event, "twice the same end of an arrow");
      if (!parsed.slices[track].contains(at)) return problem_with(event, "an arrow without a slice");
    } else {
      return problem_with(event, "an unknown phase");
    }
  }
  for (const auto& [track, slices] : parsed.slices) {
    Ticks free = 0;
    for (const auto& [start, end] : slices) {
      if (start < free) return "slices overlap on the track " + parsed.threads[track];
      free = end;
    }
  }
  for (const auto& [id, ends] : parsed.arrows) {
    if (ends.size() != 3) return "an arrow without its three ends";
    const Ticks producer = ends.at('s').second, transfer = ends.at('t').second, consumer = ends.at('f').second;
    // Each slice begins after the one before it has ended.
    if (parsed.slices[ends.at('s').first].at(producer) > transfer) return "sent before it was made";
    if (parsed.slices[ends.at('t').first].at(transfer) > consumer) return "read before it came";
  }
  return "";
}

// The problem of the design page: a on gpu:0 0-1 ms, its 4096 bytes to cpu:0 in 10 us + 4096 / 12 GB/s, b 10 ms.
struct Example {
  Problem problem;
  Placement placement{{1, 0}, {}};
  Timeline timeline;
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
    make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline});
  }
};

TEST(Trace, OfTheDesignPagesExampleIsExactToThePicosecond) {
  const Example example;
  const Traced traced = trace(example.problem, example.placement, example.timeline);
  // 10 us + 4096 B / 12 GB/s = 10.341333 us; the makespan is 1000 + 10.341333 + 10000 us.
  using testing::HasSubstr;
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
    const Problem problem = problem_of(random);
    const Placement placement = placement_of(problem, genes);
    Timeline timeline;
    Usage usage;
    const Outcome outcome = make_reference_engine(problem, Schedule::fifo)->evaluate(placement, {&usage, &timeline});
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
    for (const Timeline::Transfer& transfer : timeline.transfers)
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

TEST(Trace, ShowsBackToBackOpsAndOpsWithoutCostSideBySide) {
  // Perfetto rounds begin and duration each by itself: 0.6 + 0.6 ns would be 1 + 1 and reach beyond 1.2, rounded 1.
  // On d0 three ops of 1 ps, two of 600 ps, one of 1 us, so 0-1-2-3-603-1203-1001203 ps: on the grid 0-1-2-3-4-5-1001
  // ns. The third op's tensor takes 1 us from 3 ps on, so 3-1000 ns (1000003 ps rounded down), then a last op on d1.
  ProblemBuilder builder("tight");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  builder.add_route(DeviceId{0U}, DeviceId{1U}, {builder.add_channel({"wire", 1e-6, 1e12})});
  std::vector<OpId> ops;
  for (const double seconds : {0.0, 0.0, 0.0, 6e-10, 6e-10, 1e-6, 0.0})
    ops.push_back(builder.add_op(op("op" + std::to_string(ops.size()), {seconds, seconds})));
  builder.add_tensor(ops[2], 0, {ops[6]});
  const Problem problem = builder.build();
  Timeline timeline;
  const Placement placement{{0, 0, 0, 0, 0, 0, 1}, {}};
  make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline});
  Parsed parsed;
  EXPECT_EQ(parse_events(trace(problem, placement, timeline).events, parsed), "");
  using Spans = std::map<Ticks, Ticks>;
  EXPECT_EQ((parsed.slices[TrackKey(1, 4)]),
            (Spans{{0, 1000}, {1000, 2000}, {2000, 3000}, {3000, 4000}, {4000, 5000}, {5000, 1001000}}));
  EXPECT_EQ((parsed.exact[TrackKey(1, 4)]),
            (std::multimap<Ticks, Ticks>{{0, 1}, {1, 2}, {2, 3}, {3, 603}, {603, 1203}, {1203, 1001203}}));
  EXPECT_EQ((parsed.slices[TrackKey(3, 6)]), (Spans{{3000, 1000000}}));
  EXPECT_EQ((parsed.slices[TrackKey(2, 5)]), (Spans{{1000000, 1001000}}));
  EXPECT_EQ(parsed.arrows.size(), 1U);
}

TEST(Trace, WithinItsLimitsKeepsTheLongestAndThePeakAndSaysWhatItLeftOut) {
  // A chain of ops of 1 to 40 ticks that changes device at every step: 40 ops, 39 transfers of 3 ticks.
  ProblemBuilder builder("chain");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  const ChannelId channel = builder.add_channel({"c", 3e-12, 1e24});
  builder.add_route(DeviceId{0U}, DeviceId{1U}, {channel});
  builder.add_route(DeviceId{1U}, DeviceId{0U}, {channel});
  Placement placement;
  for (unsigned i = 1; i <= 40; ++i) {
    const OpId id = builder.add_op(op("op" + std::to_string(i), {i * 1e-12, i * 1e-12}));
    if (i > 1) builder.add_tensor(OpId{id.index() - 1}, i, {id});
    placement.device.push_back(static_cast<std::uint8_t>(i % 2));
  }
  const Problem problem = builder.build();
  Timeline timeline;
  Usage usage;
  make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {&usage, &timeline});
  const Traced traced = trace(problem, placement, timeline, {.slices = 50, .arrows = 3, .levels = 8});
  Parsed parsed;
  EXPECT_EQ(parse_events(traced.events, parsed), "");
  // The 38 ops of 3 ticks and more, and the first 12 of the transfers of 3 ticks; then 3 of their arrows.
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
  Timeline timeline;
  make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline});
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
  Timeline timeline;
  const Placement placement{{0}, {}};
  make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline});
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
}  // namespace emplace
