// Graphs of docs/simulators.md: costs in microseconds, M = 7,600,000 bytes (1000 us at 7600 bytes/us).
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "emplace/problem/builder.hpp"
#include "simulate/published/published.hpp"

namespace emplace::test {

constexpr Bytes M = 7600000;
// One microsecond, and the tolerance of docs/simulators.md of 1e-5 of it.
constexpr Ticks us = 1000000;
constexpr Ticks tolerance = 10;

inline Ticks ticks(double microseconds) { return static_cast<Ticks>(microseconds * 1e6 + 0.5); }

// A graph with a device for each op. Every ordered pair of devices has a channel of its own of 7600 bytes/us with a
// latency of 10 us, unless `joined` is false.
class SimulatorExample {
 public:
  explicit SimulatorExample(std::size_t devices, bool joined = true) {
    for (std::size_t d = 0; d < devices; ++d) builder_.add_device({"d" + std::to_string(d), "", no_memory_limit});
    for (std::size_t i = 0; joined && i < devices; ++i)
      for (std::size_t j = 0; j < devices; ++j)
        if (i != j)
          builder_.add_route(DeviceId{i}, DeviceId{j},
                             {builder_.add_channel({"c" + std::to_string(i) + std::to_string(j), 10e-6, 7.6e9, true})});
    devices_ = devices;
  }
  OpId op(double cost, std::size_t device) {
    placement.device.push_back(static_cast<std::uint8_t>(device));
    return builder_.add_op({"op" + std::to_string(100 + placement.device.size()), "",
                            std::vector<double>(devices_, cost * 1e-6), 0, 0, ""});
  }
  void tensor(OpId from, Bytes bytes, const std::vector<OpId>& to) { builder_.add_tensor(from, bytes, to); }
  void build() { problem = builder_.build(); }

  Placement placement;
  Problem problem;

 private:
  ProblemBuilder builder_{"example"};
  std::size_t devices_ = 0;
};

struct Simulated {
  Outcome outcome;
  Usage usage;
  simulate::Timeline timeline;
  [[nodiscard]] Ticks last_op_end() const {
    Ticks last = 0;
    for (const Ticks end : timeline.op_end) last = std::max(last, end);
    return last;
  }
};

inline Simulated run(simulate::Engine& engine, const Placement& placement) {
  Simulated simulated;
  simulated.outcome = engine.evaluate(placement, {.usage = &simulated.usage, .timeline = &simulated.timeline});
  return simulated;
}

inline Simulated run(SimulatorExample& example, std::string_view simulator) {
  example.build();
  return run(*simulate::choose_simulator(simulator).make(example.problem), example.placement);
}

// start-end of an op, in microseconds.
inline void expect_runs(const Simulated& simulated, OpId op, double start, double end) {
  EXPECT_NEAR(simulated.timeline.op_start[op.index()], ticks(start), tolerance) << "start of op " << op.value;
  EXPECT_NEAR(simulated.timeline.op_end[op.index()], ticks(end), tolerance) << "end of op " << op.value;
}

}  // namespace emplace::test
