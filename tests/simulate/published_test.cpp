// The toys of docs/papers and the worked examples of their `plain` simulator.
#include <gtest/gtest.h>

#include "tests/simulate/toy.hpp"

namespace emplace::simulate::published_test {
namespace {

using test::simulate;
using test::Toy;

constexpr Ticks us = 1000000;
constexpr Ticks ms = 1000 * us;

// Each tensor that changes device takes x on the channel of its ordered pair.
void join_pairs(Toy& toy, std::size_t devices, Ticks x) {
  for (std::size_t i = 0; i < devices; ++i)
    for (std::size_t j = 0; j < devices; ++j)
      if (i != j) toy.route(i, j, {toy.channel(x, 1)});
}

Problem chain_5(Ticks x) {
  Toy toy(2);
  join_pairs(toy, 2, x);
  const std::vector<std::vector<Ticks>> times{{4, 8}, {6, 3}, {8, 2}, {6, 3}, {4, 8}};
  OpId before;
  for (const auto& t : times) {
    const OpId op = toy.op({t[0] * ms, t[1] * ms});
    if (!before.is_none()) toy.tensor(before, 0, {op});
    before = op;
  }
  return toy.build();
}

TEST(Toys, ChainOfFiveOpsTakes20WithItsMiddleOnTheOtherDevice) {
  // 4 + 2 + (3 + 2 + 3) + 2 + 4 = 20; all on device 0: 28; all on device 1: 24.
  const Problem problem = chain_5(2 * ms);
  EXPECT_EQ(simulate(problem, {{0, 1, 1, 1, 0}, {}}).outcome.makespan, 20 * ms);
  EXPECT_EQ(simulate(problem, {{0, 0, 0, 0, 0}, {}}).outcome.makespan, 28 * ms);
  EXPECT_EQ(simulate(problem, {{1, 1, 1, 1, 1}, {}}).outcome.makespan, 24 * ms);
}

TEST(Toys, ForkJoinPaysTwoTransfersToRunItsBranchesSideBySide) {
  // s 0-1; a 1-11 here; b there after x, back after x: t starts at 1 + x + 10 + x. On one device: 22.
  for (const Ticks x : {1, 2, 5}) {
    Toy toy(2);
    join_pairs(toy, 2, x * ms);
    const OpId s = toy.op({ms, ms}), a = toy.op({10 * ms, 10 * ms}), b = toy.op({10 * ms, 10 * ms}),
               t = toy.op({ms, ms});
    toy.tensor(s, 0, {a, b});
    toy.tensor(a, 0, {t});
    toy.tensor(b, 0, {t});
    const Problem problem = toy.build();
    EXPECT_EQ(simulate(problem, {{0, 0, 1, 0}, {}}).outcome.makespan, (12 + 2 * x) * ms);
    EXPECT_EQ(simulate(problem, {{0, 0, 0, 0}, {}}).outcome.makespan, 22 * ms);
  }
}

// simulators.md section 5: rate 7600 bytes/us, latency 10 us, M = 7,600,000 bytes: a transfer takes 1010 us.
enum class Scope { none, egress, pair, shared };

struct Plain {
  ProblemBuilder builder{"plain"};

  explicit Plain(Scope scope) {
    for (const char* name : {"d0", "d1", "d2"}) builder.add_device({name, "", no_memory_limit});
    std::vector<ChannelId> own;
    const auto channel = [&](const std::string& name) {
      return builder.add_channel({name, scope == Scope::shared ? 5e-6 : 1e-5, 7.6e9, scope != Scope::none});
    };
    for (const char* name : {"c0", "c1", "c2"}) own.push_back(channel(name));
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) {
        if (i == j) continue;
        std::vector<ChannelId> route{own[i]};
        if (scope == Scope::shared) route.push_back(own[j]);  // half of the latency on each
        if (scope == Scope::pair) route = {channel("p" + std::to_string(3 * i + j))};
        builder.add_route(DeviceId{i}, DeviceId{j}, route);
      }
  }
  OpId op(const std::string& name, double microseconds) {
    const double seconds = microseconds * 1e-6;
    return builder.add_op({name, "", {seconds, seconds, seconds}, 0, 0, ""});
  }
};

constexpr Bytes M = 7600000;

TEST(PlainSimulator, GraphXHasThePublishedTimes) {
  // a(100)@0 sends M to b(200)@1, c(300)@2, e(100)@1. pair and none: b 1110-1310, e 1310-1410, c 1110-1410.
  // egress and shared: device 1 first, c 2120-2420.
  for (const auto& [scope, expected] : {std::pair(Scope::pair, 1410), std::pair(Scope::none, 1410),
                                        std::pair(Scope::egress, 2420), std::pair(Scope::shared, 2420)}) {
    Plain x(scope);
    const OpId a = x.op("a", 100), b = x.op("b", 200), c = x.op("c", 300), e = x.op("e", 100);
    x.builder.add_tensor(a, M, {b, c, e});
    EXPECT_EQ(simulate(x.builder.build(), {{0, 1, 2, 1}, {}}).outcome.makespan, expected * us);
  }
}

TEST(PlainSimulator, GraphYHasThePublishedTimes) {
  // a(100)@0 -> b(10)@1 and c(100)@2 -> d(10)@1, M each: both arrive at 1110, b 1110-1120, d 1120-1130. Shared: device
  // 1's channel takes one after the other, d 2120-2130.
  for (const auto& [scope, expected] : {std::pair(Scope::pair, 1130), std::pair(Scope::none, 1130),
                                        std::pair(Scope::egress, 1130), std::pair(Scope::shared, 2130)}) {
    Plain y(scope);
    const OpId a = y.op("a", 100), b = y.op("b", 10), c = y.op("c", 100), d = y.op("d", 10);
    y.builder.add_tensor(a, M, {b});
    y.builder.add_tensor(c, M, {d});
    EXPECT_EQ(simulate(y.builder.build(), {{0, 1, 2, 1}, {}}).outcome.makespan, expected * us);
  }
}

TEST(PlainSimulator, AControlEdgeIsAMessageOfItsOwn) {
  // X with a control edge a -> f(10)@1 (0 bytes): behind the tensor on the pair's channel, f is ready at 1120 and runs
  // after b 1110-1310 and e 1310-1410.
  Plain x(Scope::pair);
  const OpId a = x.op("a", 100), b = x.op("b", 200), c = x.op("c", 300), e = x.op("e", 100), f = x.op("f", 10);
  x.builder.add_tensor(a, M, {b, c, e});
  x.builder.add_tensor(a, 0, {f});
  const auto answer = simulate(x.builder.build(), {{0, 1, 2, 1, 1}, {}});
  ASSERT_EQ(answer.timeline.transfers.size(), 3U);
  EXPECT_EQ(answer.timeline.transfers[2].end, 1120 * us);
  EXPECT_EQ(answer.timeline.op_start[4], 1410 * us);
}

}  // namespace
}  // namespace emplace::simulate::published_test
