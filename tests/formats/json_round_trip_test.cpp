// Laws: what the writers write reads back to the same Problem and Placement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <string>

#include "emplace/formats/problem_json.hpp"
#include "emplace/problem/builder.hpp"

namespace emplace::formats::json_round_trip_test {
namespace {

int between(int least, int most) { return *rc::gen::inRange(least, most + 1); }

// Names that need escapes, numbers that need all their digits.
std::string any_name(std::size_t number) {
  static const char* const ends[] = {"", "\"", "\\", "\n\t", "\x01", "\xC3\xA9", "\xF0\x9F\x98\x80", "/conv 1"};
  return "n" + std::to_string(number) + ends[between(0, 7)];
}

// Any magnitude that a problem of this size may have: from below a picosecond to days.
double any_seconds() {
  const double mantissa = 1 + static_cast<double>(*rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 52)) * 0x1p-52;
  return between(0, 9) == 0 ? 0 : std::ldexp(mantissa, between(-42, 17));
}

Problem any_problem() {
  ProblemBuilder builder(any_name(0));
  const int devices = between(1, 4);
  const int channels = between(1, 4);
  const int ops = between(1, 12);
  for (int d = 0; d < devices; ++d)
    builder.add_device({.name = any_name(d),
                        .kind = between(0, 1) == 0 ? "" : "gpu",
                        .memory = between(0, 1) == 0 ? no_memory_limit : *rc::gen::inRange<Bytes>(0, total_limit)});
  for (int c = 0; c < channels; ++c)
    builder.add_channel({.name = any_name(c),
                         .latency_s = any_seconds() * 1e-3,
                         .bytes_per_s = 1e6 + any_seconds() * 1e7,
                         .contention = between(0, 2) > 0});
  for (int from = 0; from < devices; ++from)
    for (int to = 0; to < devices; ++to) {
      if (from == to || between(0, 3) == 0) continue;
      std::vector<ChannelId> route{ChannelId{static_cast<std::size_t>(between(0, channels - 1))}};
      const ChannelId other{static_cast<std::size_t>(between(0, channels - 1))};
      if (other != route[0]) route.push_back(other);
      builder.add_route(DeviceId{static_cast<std::size_t>(from)}, DeviceId{static_cast<std::size_t>(to)}, route);
    }
  for (int op = 0; op < ops; ++op) {
    OpSpec spec{.name = any_name(op), .type = any_name(op), .seconds = {}, .colocate = {}};
    for (int d = 0; d < devices; ++d)
      spec.seconds.push_back(d > 0 && between(0, 3) == 0 ? std::nan("") : any_seconds());
    if (between(0, 1) == 0) spec.resident = *rc::gen::inRange<Bytes>(0, Bytes{1} << 57);
    if (between(0, 1) == 0) spec.scratch = *rc::gen::inRange<Bytes>(0, Bytes{1} << 57);
    if (between(0, 2) == 0) spec.colocate = "group " + std::to_string(between(0, 2));
    builder.add_op(std::move(spec));
  }
  for (int from = 0; from < ops; ++from) {
    if (between(0, 3) == 0) continue;
    std::vector<OpId> to;
    for (int op = from + 1; op < ops; ++op)
      if (between(0, 2) == 0) to.push_back(OpId{static_cast<std::size_t>(op)});
    builder.add_tensor(OpId{static_cast<std::size_t>(from)}, *rc::gen::inRange<Bytes>(0, 1 << 30), to);
  }
  return builder.build();
}

// Lists compare by content; every field of the Problem is named here.
void expect_equal(const Problem& a, const Problem& b) {
  RC_ASSERT(a.name == b.name);
  RC_ASSERT(a.device_count() == b.device_count());
  for (std::size_t d = 0; d < a.device_count(); ++d) {
    RC_ASSERT(a.devices[d].name == b.devices[d].name);
    RC_ASSERT(a.devices[d].kind == b.devices[d].kind);
    RC_ASSERT(a.devices[d].memory == b.devices[d].memory);
  }
  RC_ASSERT(a.channels.size() == b.channels.size());
  for (std::size_t c = 0; c < a.channels.size(); ++c) {
    RC_ASSERT(a.channels[c].name == b.channels[c].name);
    RC_ASSERT(a.channels[c].latency_s == b.channels[c].latency_s);
    RC_ASSERT(a.channels[c].bytes_per_s == b.channels[c].bytes_per_s);
    RC_ASSERT(a.channels[c].contention == b.channels[c].contention);
  }
  const auto same_lists = [](const Lists& x, const Lists& y) { return x.begin == y.begin && x.items == y.items; };
  RC_ASSERT(same_lists(a.routes, b.routes));
  RC_ASSERT(a.route_class == b.route_class);
  RC_ASSERT(a.route_classes.size() == b.route_classes.size());
  for (std::size_t r = 0; r < a.route_classes.size(); ++r) {
    RC_ASSERT(a.route_classes[r].latency_s == b.route_classes[r].latency_s);
    RC_ASSERT(a.route_classes[r].bytes_per_s == b.route_classes[r].bytes_per_s);
  }
  RC_ASSERT(a.op_names == b.op_names);
  RC_ASSERT(a.op_types == b.op_types);
  RC_ASSERT(a.op_time == b.op_time);
  RC_ASSERT(a.zero_cost == b.zero_cost);
  RC_ASSERT(a.resident == b.resident);
  RC_ASSERT(a.scratch == b.scratch);
  RC_ASSERT(a.group == b.group);
  RC_ASSERT(a.group_names == b.group_names);
  RC_ASSERT(a.producer == b.producer);
  RC_ASSERT(a.tensor_bytes == b.tensor_bytes);
  RC_ASSERT(same_lists(a.consumers, b.consumers));
  RC_ASSERT(a.transfer_time == b.transfer_time);
  RC_ASSERT(same_lists(a.inputs, b.inputs));
  RC_ASSERT(same_lists(a.outputs, b.outputs));
  RC_ASSERT(a.topological == b.topological);
}

TEST(ProblemJson, WhatIsWrittenReadsBackToTheSameProblem) {
  EXPECT_TRUE(rc::check("write, then read, changes no field", [] {
    const Problem problem = any_problem();
    const std::string text = write_problem_json(problem);
    const Problem again = read_problem_json(text, "again.json");
    expect_equal(problem, again);
    RC_ASSERT(write_problem_json(again) == text);
  }));
}

TEST(PlacementJson, WhatIsWrittenReadsBackToTheSamePlacement) {
  EXPECT_TRUE(rc::check("write, then read, changes nothing", [] {
    const Problem problem = any_problem();
    Placement placement;
    for (std::size_t op = 0; op < problem.op_count(); ++op)
      placement.device.push_back(static_cast<std::uint8_t>(between(0, static_cast<int>(problem.device_count()) - 1)));
    if (between(0, 1) == 0) placement.order = problem.topological;
    const auto schedule = static_cast<Schedule>(between(0, 2));
    const std::string text = write_placement_json(problem, placement, schedule);
    const PlacementFile again = read_placement_json(text, "again.json", problem);
    RC_ASSERT(again.placement == placement);
    RC_ASSERT(again.schedule == schedule);
    RC_ASSERT(again.problem_name == problem.name);
  }));
}

TEST(ProblemJson, SecondsAreWrittenAsTheExactDecimalsOfTheTicks) {
  ProblemBuilder builder("p");
  for (const char* name : {"a", "b", "c", "d", "e"}) builder.add_device({.name = name, .kind = {}});
  // 0 s lasts one tick and stays known as 0; the last device cannot run the op.
  builder.add_op({.name = "x", .type = {}, .seconds = {0.011010341333, 2, 0, 1e-3, std::nan("")}, .colocate = {}});
  EXPECT_THAT(write_problem_json(builder.build()),
              ::testing::HasSubstr("\"seconds\": [0.011010341333, 2, 0, 0.001, null]"));
}

TEST(ProblemJson, TicksBeyondTheWholeNumbersOfADoubleReadBackEqual) {
  // Above 2^52 ps some exact decimals read back one unit off; four million seconds are 2^61.8 ps.
  EXPECT_TRUE(rc::check("one op of up to 4e6 s", [] {
    ProblemBuilder builder("p");
    builder.add_device({.name = "d", .kind = {}});
    const double seconds = 4000.0 + static_cast<double>(*rc::gen::inRange<std::int64_t>(0, 1LL << 53)) * 0x1p-53 * 4e6;
    builder.add_op({.name = "x", .type = {}, .seconds = {seconds}, .colocate = {}});
    const Problem problem = builder.build();
    RC_ASSERT(read_problem_json(write_problem_json(problem), "p.json").op_time == problem.op_time);
  }));
}

}  // namespace
}  // namespace emplace::formats::json_round_trip_test
