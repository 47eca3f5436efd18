// Where slices of less than a nanosecond, the finest that viewers know, show in a trace.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>

#include "emplace/problem/builder.hpp"
#include "report/perfetto.hpp"
#include "tests/report/ops.hpp"
#include "tests/report/trace_parser.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::report::viewer_times_test {
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

TEST(Trace, ShowsBackToBackOpsAndOpsWithoutCostSideBySide) {
  // Perfetto rounds begin and duration each by itself: 0.6 + 0.6 ns would be 1 + 1 and reach beyond 1.2, rounded 1.
  // On d0 three ops of 1 ps, two of 600 ps, one of 1 us, so 0-1-2-3-603-1203-1001203 ps: on the grid 0-1-2-3 ns for the
  // first three; the two after them would begin 3 ns late and are left out; the last is 3-1001 ns. The third op's
  // tensor takes 1 us from 3 ps on, so 3-1000 ns (1000003 ps rounded down), then a last op on d1.
  ProblemBuilder builder("tight");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  builder.add_route(DeviceId{0U}, DeviceId{1U}, {builder.add_channel({"wire", 1e-6, 1e12})});
  std::vector<OpId> ops;
  for (const double seconds : {0.0, 0.0, 0.0, 6e-10, 6e-10, 1e-6, 0.0})
    ops.push_back(builder.add_op(op("op" + std::to_string(ops.size()), {seconds, seconds})));
  builder.add_tensor(ops[2], 0, {ops[6]});
  const Problem problem = builder.build();
  simulate::Timeline timeline;
  const Placement placement{{0, 0, 0, 0, 0, 0, 1}, {}};
  simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline});
  Parsed parsed;
  EXPECT_EQ(parse_events(trace(problem, placement, timeline).events, parsed), "");
  using Spans = std::map<Ticks, Ticks>;
  EXPECT_EQ((parsed.slices[TrackKey(1, 4)]), (Spans{{0, 1000}, {1000, 2000}, {2000, 3000}, {3000, 1001000}}));
  EXPECT_EQ((parsed.exact[TrackKey(1, 4)]), (std::multimap<Ticks, Ticks>{{0, 1}, {1, 2}, {2, 3}, {1203, 1001203}}));
  EXPECT_EQ((parsed.slices[TrackKey(3, 6)]), (Spans{{3000, 1000000}}));
  EXPECT_EQ((parsed.slices[TrackKey(2, 5)]), (Spans{{1000000, 1001000}}));
  EXPECT_EQ(parsed.arrows.size(), 1U);
}

TEST(Trace, OfThousandsOfOpsWithoutCostLeavesTheOthersWhereTheyAre) {
  // 3000 ops of 1 ps, then one of 1 us: 0.003 us to 1.003 us. A few of the 3000 have room.
  ProblemBuilder builder("nothings");
  builder.add_device({"d0", "", no_memory_limit});
  for (int i = 0; i <= 3000; ++i) {
    const double seconds = i < 3000 ? 0.0 : 1e-6;
    builder.add_op(op("op" + std::to_string(i), {seconds}));
  }
  const Problem problem = builder.build();
  simulate::Timeline timeline;
  const Placement placement{std::vector<std::uint8_t>(3001, 0), {}};
  simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline});
  const Traced traced = trace(problem, placement, timeline);
  Parsed parsed;
  EXPECT_EQ(parse_events(traced.events, parsed), "");
  const auto& slices = parsed.slices[TrackKey(1, 3)];
  ASSERT_FALSE(slices.empty());
  const auto last = *slices.rbegin();
  EXPECT_EQ(last.first % 1000, 0);
  EXPECT_NEAR(static_cast<double>(last.first), 3000, 3000);
  EXPECT_NEAR(static_cast<double>(last.second), 1003000, 3000);
  EXPECT_EQ(traced.summary.slices_too_short, 3001 - slices.size());
  EXPECT_EQ(traced.summary.slices_left, traced.summary.slices_too_short);
  const json about = json::parse(traced.text)["otherData"];
  EXPECT_EQ(about["left_out"], traced.summary.slices_left);
  EXPECT_EQ(about["left_out_below_1_ns"], traced.summary.slices_left);
  EXPECT_GT(traced.summary.slices_left, 2900U);
}

TEST(Trace, ShowsEverythingWithin3NanosecondsOfItsTime) {
  EXPECT_TRUE(rc::check("times", [](const RandomProblem& random, const RandomPlacement& genes) {
    // Some below a nanosecond, some above.
    const Problem problem = scaled(problem_of(random), *rc::gen::element<Ticks>(1, 90, 300, 700, 1000, 10007));
    const Placement placement = placement_of(problem, genes);
    simulate::Timeline timeline;
    if (!simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {nullptr, &timeline}).timed())
      return;
    const Traced traced = trace(problem, placement, timeline);
    Parsed parsed;
    const std::string wrong = parse_events(traced.events, parsed);
    if (!wrong.empty()) RC_FAIL(wrong);
    std::size_t slices = 0;
    for (const json& event : traced.events) {
      if (event["ph"] != "X") continue;
      ++slices;
      const Ticks start = event["args"]["start_ps"], duration = event["args"]["duration_ps"];
      const Ticks late = test::ticks(event["ts"]) - start;
      const Ticks later = late + test::ticks(event["dur"]) - duration;
      RC_ASSERT(late > -1000 && late <= 3000);
      RC_ASSERT(later > -1000 && later <= 3000);
    }
    RC_ASSERT(slices == traced.summary.slices);
    std::size_t short_ones = 0, all = problem.op_count();
    for (std::size_t i = 0; i < problem.op_count(); ++i) short_ones += timeline.op_end[i] - timeline.op_start[i] < 1000;
    for (const simulate::Timeline::Transfer& transfer : timeline.transfers) {
      all += problem.route(transfer.from, transfer.to).size();
      if (transfer.end - transfer.start < 1000) short_ones += problem.route(transfer.from, transfer.to).size();
    }
    RC_ASSERT(slices + traced.summary.slices_too_short == all);
    RC_ASSERT(traced.summary.slices_too_short <= short_ones);
  }));
}

}  // namespace
}  // namespace emplace::report::viewer_times_test
