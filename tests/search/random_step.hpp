// Random problems for the step objective from a stream: contention, groups, memory limits, devices that cannot run an
// op, pairs without a route; and placements of them.
#pragma once

#include <string>
#include <vector>

#include "emplace/base/random.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/problem/placement.hpp"
#include "tests/support/random_order.hpp"

namespace emplace::test {

// `shared`: half of the routes run over one of two common channels too.
inline Problem random_step_problem(Stream& random, std::uint32_t most_ops, std::uint32_t most_devices,
                                   bool shared = false) {
  constexpr double tick = 1e-12;
  ProblemBuilder builder("random step");
  const std::size_t devices = 1 + random.below(most_devices);
  const std::size_t ops = 1 + random.below(most_ops);
  const bool limited = random.below(3) == 0, alike = random.below(3) == 0, joined = random.below(4) > 0;
  for (std::size_t d = 0; d < devices; ++d)
    builder.add_device({"d" + std::to_string(d), "", limited ? Bytes{8} + random.below(20) : no_memory_limit});
  const std::uint32_t latency = random.below(8);
  std::vector<ChannelId> common;
  for (const char* name : {"bus", "switch"})
    if (shared) common.push_back(builder.add_channel({name, tick, 0.5 / tick, true}));
  for (std::size_t from = 0; from < devices; ++from)
    for (std::size_t to = 0; to < devices; ++to) {
      if (from == to || (!joined && random.below(4) == 0)) continue;
      const auto channel = builder.add_channel({std::to_string(from) + ">" + std::to_string(to),
                                                (alike ? latency : random.below(8)) * tick,
                                                1 / ((alike ? 1 : random.below(3) + 1) * tick), random.below(2) == 0});
      std::vector<ChannelId> route = {channel};
      if (shared && random.below(2) == 0) route.push_back(common[random.below(2)]);
      builder.add_route(DeviceId{from}, DeviceId{to}, route);
    }
  for (std::size_t op = 0; op < ops; ++op) {
    OpSpec spec;
    spec.name = "op" + std::to_string(op);
    const std::uint32_t work = random.below(9);
    for (std::size_t d = 0; d < devices; ++d) spec.seconds.push_back((alike ? work : random.below(9)) * tick);
    const bool grouped = random.below(6) == 0;
    if (grouped) spec.colocate = "g" + std::to_string(random.below(2));
    if (!grouped && devices > 1 && random.below(5) == 0)
      spec.seconds[random.below(static_cast<std::uint32_t>(devices))] = std::numeric_limits<double>::quiet_NaN();
    spec.resident = random.below(6);
    spec.scratch = random.below(3);
    builder.add_op(std::move(spec));
  }
  for (std::size_t op = 0; op < ops; ++op)
    for (std::uint32_t tensor = random.below(3); tensor > 0; --tensor) {
      std::vector<OpId> to;
      for (std::size_t next = op + 1; next < ops; ++next)
        if (random.below(3) == 0) to.emplace_back(next);
      builder.add_tensor(OpId{op}, random.below(6), to);
    }
  return builder.build();
}

// The problem without contention and memory limits.
inline Problem without_limits(Problem problem) {
  for (Channel& channel : problem.channels) channel.contention = false;
  for (Device& device : problem.devices) device.memory = no_memory_limit;
  return problem;
}

// Devices that can run the ops, groups on one device, and a random topological order.
inline Placement random_placement(const Problem& problem, Stream& random) {
  Placement placement;
  std::vector<int> of_group(problem.group_names.size(), -1);
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    std::size_t device = 0;
    do device = random.below(static_cast<std::uint32_t>(problem.device_count()));
    while (!problem.can_run(OpId{op}, DeviceId{device}));
    if (const GroupId group = problem.group[op]; !group.is_none()) {
      if (of_group[group.index()] < 0) of_group[group.index()] = static_cast<int>(device);
      device = static_cast<std::size_t>(of_group[group.index()]);
    }
    placement.device.push_back(static_cast<std::uint8_t>(device));
  }
  placement.order = random_order(problem, random);
  return placement;
}

}  // namespace emplace::test
