// Small problems in ticks, simulated on both engines.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "emplace/problem/builder.hpp"
#include "emplace/simulate/engine.hpp"
#include "tests/simulate/answers.hpp"

namespace emplace::test {

class Toy {
 public:
  explicit Toy(std::size_t devices) {
    for (std::size_t d = 0; d < devices; ++d) builder_.add_device({"d" + std::to_string(d), "", no_memory_limit});
  }
  ChannelId channel(Ticks latency, Ticks ticks_per_byte, bool contention = true) {
    return builder_.add_channel({"c" + std::to_string(channels_++), static_cast<double>(latency) * 1e-12,
                                 1e12 / static_cast<double>(ticks_per_byte), contention});
  }
  void route(std::size_t from, std::size_t to, const std::vector<ChannelId>& channels) {
    builder_.add_route(DeviceId{from}, DeviceId{to}, channels);
  }
  // Time on each device; -1: cannot run.
  OpId op(const std::vector<Ticks>& ticks, Bytes resident = 0, Bytes scratch = 0, const std::string& group = "") {
    OpSpec spec{"op" + std::to_string(ops_++), "", {}, resident, scratch, group};
    for (const Ticks t : ticks) spec.seconds.push_back(t < 0 ? std::nan("") : static_cast<double>(t) * 1e-12);
    return builder_.add_op(std::move(spec));
  }
  void tensor(OpId from, Bytes bytes, const std::vector<OpId>& to) { builder_.add_tensor(from, bytes, to); }
  Problem build() { return builder_.build(); }

 private:
  ProblemBuilder builder_{"toy"};
  int channels_ = 0, ops_ = 0;
};

// The result of the reference engine; checks that the exact engine has the same.
inline Answer simulate(const Problem& problem, const Placement& placement, Schedule schedule = Schedule::fifo) {
  const Answer reference = ask(*simulate::make_reference_engine(problem, schedule), placement);
  const Answer exact = ask(*simulate::make_exact_engine(problem, schedule), placement);
  EXPECT_EQ(exact.outcome, reference.outcome);
  EXPECT_EQ(exact.usage, reference.usage);
  EXPECT_EQ(exact.timeline, reference.timeline);
  return reference;
}

}  // namespace emplace::test
