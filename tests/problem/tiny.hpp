// Small problems for tests: times in milliseconds, a channel of its own for each ordered pair of devices.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "emplace/problem/builder.hpp"

namespace emplace::test {

inline constexpr double no = std::numeric_limits<double>::quiet_NaN();  // "cannot run here"
inline constexpr Ticks ms = 1'000'000'000;

struct TinyOp {
  std::string name;
  std::vector<double> milliseconds;  // one per device
  std::string colocate = {};
  Bytes resident = 0;
  Bytes bytes = 0;  // of its output
};

struct TinyEdge {
  std::size_t from, to;
};

// A tensor that changes device takes `x` ms whatever its size. Edges of one producer become one tensor.
inline Problem tiny(std::vector<Device> devices, const std::vector<TinyOp>& ops, const std::vector<TinyEdge>& edges,
                    double x = 0) {
  ProblemBuilder builder("tiny");
  const std::size_t count = devices.size();
  for (Device& device : devices) builder.add_device(std::move(device));
  for (std::size_t from = 0; from < count; ++from)
    for (std::size_t to = 0; to < count; ++to)
      if (from != to) {
        const auto channel =
            builder.add_channel({std::to_string(from) + ">" + std::to_string(to), x * 1e-3, 1e30, true});
        builder.add_route(DeviceId{from}, DeviceId{to}, {channel});
      }
  for (const TinyOp& op : ops) {
    OpSpec spec{
        .name = op.name, .type = "", .seconds = {}, .resident = op.resident, .scratch = 0, .colocate = op.colocate};
    for (const double time : op.milliseconds) spec.seconds.push_back(time * 1e-3);
    builder.add_op(std::move(spec));
  }
  for (std::size_t from = 0; from < ops.size(); ++from) {
    std::vector<OpId> to;
    for (const TinyEdge& edge : edges)
      if (edge.from == from) to.emplace_back(edge.to);
    if (!to.empty() || ops[from].bytes > 0) builder.add_tensor(OpId{from}, ops[from].bytes, to);
  }
  return builder.build("tiny");
}

inline std::vector<Device> plain_devices(std::size_t count) {
  std::vector<Device> devices;
  for (std::size_t d = 0; d < count; ++d) devices.push_back({"gpu:" + std::to_string(d), "gpu", no_memory_limit});
  return devices;
}

// The toys of docs/papers/README.md:  4 6 8 6 4 ms on device 0, 8 3 2 3 8 on device 1).
inline Problem chain_5(double x) {
  return tiny(plain_devices(2), {{"a", {4, 8}}, {"b", {6, 3}}, {"c", {8, 2}}, {"d", {6, 3}}, {"e", {4, 8}}},
              {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, x);
}

// Two chains of 4 ops of 10 ms each on two equal devices.
inline Problem two_chains(double x) {
  std::vector<TinyOp> ops;
  for (const char* chain : {"a", "b"})
    for (int i = 0; i < 4; ++i) ops.push_back({chain + std::to_string(i), {10, 10}});
  return tiny(plain_devices(2), ops, {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 6}, {6, 7}}, x);
}

// s=1 -> a=10, b=10 -> t=1 on two equal devices.
inline Problem fork_join(double x) {
  return tiny(plain_devices(2), {{"s", {1, 1}}, {"a", {10, 10}}, {"b", {10, 10}}, {"t", {1, 1}}},
              {{0, 1}, {0, 2}, {1, 3}, {2, 3}}, x);
}

}  // namespace emplace::test
