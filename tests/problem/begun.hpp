// A problem half built, for tests of what the builder takes and refuses next.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/problem/builder.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::test {

inline OpSpec op(std::string name, std::vector<double> seconds, std::string group = {}) {
  return {.name = std::move(name),
          .type = "",
          .seconds = std::move(seconds),
          .resident = 0,
          .scratch = 0,
          .colocate = std::move(group)};
}

// Two devices, a channel each way, two ops.
inline ProblemBuilder begun() {
  ProblemBuilder builder("p");
  builder.add_device({"cpu:0", "cpu", no_memory_limit});
  builder.add_device({"gpu:0", "gpu", 1000});
  builder.add_channel({"up", 1e-5, 1.2e10, true});
  builder.add_channel({"down", 1e-5, 1.2e10, true});
  builder.add_route(DeviceId{std::size_t{0}}, DeviceId{1}, {ChannelId{std::size_t{0}}});
  builder.add_op(op("a", {0.010, 0.001}));
  builder.add_op(op("b", {0.010, no}));
  return builder;
}

inline const OpId a{std::size_t{0}};
inline const OpId b{std::size_t{1}};

// The message with which the builder refuses a step or, after it, to build.
inline std::string refusal(const std::function<void(ProblemBuilder&)>& step) {
  ProblemBuilder builder = begun();
  try {
    step(builder);
    builder.build("file.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace emplace::test
