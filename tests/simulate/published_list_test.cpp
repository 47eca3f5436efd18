// The list of simulators: names, options, schedules and refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/simulate/published_microseconds.hpp"

namespace emplace::simulate::published_list_test {
namespace {

using test::M;
using test::run;
using test::SimulatorExample;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

SimulatorExample small() {
  SimulatorExample example(2);
  const OpId a = example.op(100, 0), b = example.op(10, 1);
  example.tensor(a, M, {b});
  example.build();
  return example;
}

TEST(Simulators, AreListedByName) {
  EXPECT_THAT(entry_names(simulators()),
              ElementsAre("plain", "placeto", "grappler", "baechi", "giph", "doppler", "quickp", "tensorflow-1",
                          "tarnawski-latency", "tarnawski-throughput"));
  for (const SimulatorEntry& entry : simulators()) {
    EXPECT_THAT(entry.summary, ::testing::EndsWith(".")) << entry.name;
    EXPECT_EQ(entry.reference.empty(), entry.name == "plain") << entry.name;
    for (const OptionInfo& option : entry.options()) EXPECT_FALSE(option.help.empty()) << option.name;
  }
}

TEST(Simulators, AnUnknownNameIsRefusedWithTheNearest) {
  EXPECT_THAT(refusal([] { choose_simulator("placetto"); }),
              AllOf(StartsWith("--simulator: unknown simulator"), HasSubstr("placetto"), HasSubstr("'placeto'")));
}

TEST(Simulators, OptionsAreCheckedByNameTypeAndBounds) {
  const SimulatorExample example = small();
  const auto of = [&](const char* text) { return refusal([&] { choose_simulator(text).make(example.problem); }); };
  EXPECT_THAT(of("placeto?gap_uss=1"), HasSubstr("gap_us"));
  EXPECT_THAT(of("placeto?gap_us=-1"), HasSubstr("gap_us"));
  EXPECT_THAT(of("placeto?bytes_per_us=0"), HasSubstr("bytes_per_us"));
  EXPECT_THAT(of("giph?noise=gamma"), HasSubstr("uniform, normal"));
  EXPECT_THAT(of("placeto?gap_us"), HasSubstr("expected key=value after '?'"));
  EXPECT_THAT(of("placeto?gap_us=1&gap_us=2"), HasSubstr("given twice"));
}

TEST(Simulators, AScheduleThatASimulatorDoesNotHaveIsRefused) {
  const SimulatorExample example = small();
  EXPECT_THAT(refusal([&] { choose_simulator("placeto").make(example.problem, Schedule::priority); }),
              HasSubstr("the simulator placeto has no schedule priority; it has: fifo"));
  EXPECT_THAT(refusal([&] { choose_simulator("grappler").make(example.problem, Schedule::fifo); }),
              HasSubstr("its ready order is fixed"));
  const auto quickp = choose_simulator("quickp").make(example.problem, Schedule::priority);
  EXPECT_THAT(refusal([&] { quickp->evaluate(example.placement); }), HasSubstr("needs a placement with an order"));
}

TEST(Simulators, WhatCannotRunOrHasNoWayHasNoTime) {
  ProblemBuilder builder("p");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  const OpId a = builder.add_op({"a", "", {1e-3, 1e-3}, 0, 0, ""});
  const OpId b = builder.add_op({"b", "", {1e-3, std::nan("")}, 0, 0, ""});
  builder.add_tensor(a, 10, {b});
  const Problem problem = builder.build();
  for (const SimulatorEntry& entry : simulators()) {
    const auto engine = choose_simulator(entry.name).make(problem);
    Usage usage;
    const Outcome unsupported = engine->evaluate({{0, 1}, {}}, {.usage = &usage, .timeline = nullptr});
    EXPECT_EQ(unsupported.why, Infeasible::unsupported_op);
    EXPECT_EQ(unsupported.subject, 1U);
    EXPECT_FALSE(unsupported.timed());
    EXPECT_TRUE(usage.device_busy.empty());
    // Simulators with their own rates need no routes.
    const bool needs_route = entry.name == "plain" || entry.name == "giph" || entry.name == "quickp" ||
                             entry.name == "tensorflow-1" || entry.name.starts_with("tarnawski");
    const Outcome missing = engine->evaluate({{1, 0}, {}});
    EXPECT_EQ(missing.why, needs_route ? Infeasible::missing_route : Infeasible::no) << entry.name;
  }
}

TEST(Simulators, TimesAndBytesBeyondTheLimitAreRefusedNotWrapped) {
  // 2^60 bytes at 1.2e15 bytes/s pass the builder and take 1.5e8 s = 1.5e20 ps at Placeto's 7.6e9 bytes/s.
  ProblemBuilder builder("large");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  const ChannelId channel = builder.add_channel({"c", 0, 1.2e15, true});
  builder.add_route(DeviceId{0}, DeviceId{1}, {channel});
  std::vector<OpId> ops;
  for (int i = 0; i < 6; ++i) ops.push_back(builder.add_op({"op" + std::to_string(i), "", {1, 1}, 0, 0, ""}));
  builder.add_tensor(ops[0], Bytes{1} << 60, {ops.begin() + 1, ops.end()});
  const Problem problem = builder.build();
  EXPECT_THAT(refusal([&] { choose_simulator("placeto").make(problem); }), HasSubstr("more than 2^62 ps"));
  // Five copies of 2^60 bytes and the original exceed 2^62.
  EXPECT_THAT(refusal([&] { choose_simulator("plain?fan_out=edge").make(problem); }), HasSubstr("all bytes together"));
  EXPECT_EQ(refusal([&] { choose_simulator("plain").make(problem); }), "no error");
}

TEST(Simulators, ChannelsOfTheProblemCountWhatPassedBetweenTheirDevices) {
  // Placeto's transfer of M keeps its channel busy for 1000 + 25 us; it joins d0 and d1, as c01 does.
  const SimulatorExample example = small();
  const test::Simulated s = run(*choose_simulator("placeto").make(example.problem), example.placement);
  ASSERT_EQ(s.usage.channel_busy.size(), 2U);
  EXPECT_EQ(s.usage.channel_busy[0], 1025 * test::us);
  EXPECT_EQ(s.usage.channel_bytes[0], M);
  EXPECT_EQ(s.usage.channel_busy[1], 0);
}

}  // namespace
}  // namespace emplace::simulate::published_list_test
