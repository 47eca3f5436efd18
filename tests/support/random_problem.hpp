// Random problems and placements for RapidCheck, made of small integers so that ties are everywhere. A RandomProblem is
// a set of numbers, all of whose values are valid (positions are taken modulo what exists), so that RapidCheck can
// shrink each part separately; problem_of() and placement_of() make a problem and a placement from them.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "emplace/problem/builder.hpp"
#include "emplace/problem/placement.hpp"

namespace emplace::test {

struct RandomOp {
  std::vector<std::uint8_t> ticks;    // time on device d is ticks[d mod size]; 0 means 1 tick, `cannot`: cannot run
  std::vector<std::uint8_t> outputs;  // bytes of each
  std::vector<std::uint8_t> inputs;   // pairs: how far back the producer is, which of its outputs
  std::uint8_t resident = 0, scratch = 0;
  std::uint8_t group = 0;  // 0: none
  static constexpr std::uint8_t cannot = 7;
};

// How devices are joined; channels repeat modulo the number of channel genes.
enum class Joined : std::uint8_t {
  pairs,            // a channel for each ordered pair
  bus,              // one channel for all
  egress,           // one channel for all that leaves a device
  nics,             // egress of one device and ingress of the other on one route
  shared_two_ways,  // one channel for both directions of a pair
  anyhow,           // a list of channels for each pair, perhaps empty
};

struct RandomChannel {
  std::uint8_t latency = 0;         // ticks
  std::uint8_t ticks_per_byte = 0;  // 0 means 1
  bool contention = true;
};

struct RandomProblem {
  std::uint8_t devices = 1;  // 0 means 1
  Joined joined = Joined::pairs;
  std::vector<RandomChannel> channels;
  std::vector<std::vector<std::uint8_t>> routes;  // Joined::anyhow: channels of pair i, modulo
  std::vector<RandomOp> ops;                      // if empty, one op of 1 tick is added
  bool reversed = false;                          // op ids in reverse topological order
  bool tensors_by_slot = false;                   // tensor ids: all first outputs, then all second ones, ...
};

struct RandomPlacement {
  std::vector<std::uint8_t> device;  // modulo; repeated
  std::vector<std::uint8_t> order;   // which of the ready ops comes next, modulo; repeated
  bool only_where_it_runs = true;    // choose among the devices that can run the op
  bool groups_together = true;       // an op of a group goes to the device of the group's first op if it can
};

inline Problem problem_of(const RandomProblem& random) {
  constexpr double tick = 1e-12;
  ProblemBuilder builder("random");
  const std::size_t devices = std::max<std::size_t>(random.devices, 1);
  for (std::size_t d = 0; d < devices; ++d) builder.add_device({"d" + std::to_string(d), "", no_memory_limit});

  std::size_t made = 0;
  const auto new_channel = [&] {
    const RandomChannel gene =
        random.channels.empty() ? RandomChannel{} : random.channels[made % random.channels.size()];
    return builder.add_channel({"c" + std::to_string(made++), gene.latency * tick,
                                1 / (std::max<int>(gene.ticks_per_byte, 1) * tick), gene.contention});
  };
  std::vector<ChannelId> out, in;
  for (std::size_t d = 0; d < devices; ++d)
    if (random.joined == Joined::nics || random.joined == Joined::egress) out.push_back(new_channel());
  for (std::size_t d = 0; d < devices; ++d)
    if (random.joined == Joined::nics) in.push_back(new_channel());
  if (random.joined == Joined::bus) out.push_back(new_channel());
  if (random.joined == Joined::anyhow)
    for (std::size_t c = 0; c < random.channels.size(); ++c) out.push_back(new_channel());
  std::vector<ChannelId> both(devices * devices);
  std::size_t pair = 0;
  for (std::size_t i = 0; i < devices; ++i)
    for (std::size_t j = 0; j < devices; ++j) {
      if (i == j) continue;
      std::vector<ChannelId> route;
      switch (random.joined) {
        case Joined::pairs: route = {new_channel()}; break;
        case Joined::bus: route = {out[0]}; break;
        case Joined::egress: route = {out[i]}; break;
        case Joined::nics: route = {out[i], in[j]}; break;
        case Joined::shared_two_ways:
          if (i < j) both[i * devices + j] = new_channel();
          route = {both[std::min(i, j) * devices + std::max(i, j)]};
          break;
        case Joined::anyhow:
          if (out.empty() || random.routes.empty()) break;
          for (const std::uint8_t c : random.routes[pair++ % random.routes.size()])
            if (const ChannelId id = out[c % out.size()]; std::ranges::find(route, id) == route.end())
              route.push_back(id);
          break;
      }
      if (!route.empty()) builder.add_route(DeviceId{i}, DeviceId{j}, route);
    }

  const std::vector<RandomOp> ops = random.ops.empty() ? std::vector<RandomOp>{RandomOp{}} : random.ops;
  const auto id_of = [&](std::size_t op) { return random.reversed ? ops.size() - 1 - op : op; };
  std::vector<OpSpec> specs(ops.size());
  struct Tensor {
    std::size_t slot, op;
    Bytes bytes;
    std::vector<OpId> to;
  };
  std::vector<std::vector<Tensor>> outputs(ops.size());
  for (std::size_t op = 0; op < ops.size(); ++op) {
    OpSpec& spec = specs[id_of(op)];
    spec.name = "op" + std::to_string(op);
    spec.resident = ops[op].resident;
    spec.scratch = ops[op].scratch;
    // A group needs a device that can run all its ops, so grouped ops can run everywhere.
    if (ops[op].group > 0) spec.colocate = "g" + std::to_string(ops[op].group);
    for (std::size_t d = 0; d < devices; ++d) {
      const std::uint8_t ticks = ops[op].ticks.empty() ? 1 : ops[op].ticks[d % ops[op].ticks.size()];
      const bool runs = ticks != RandomOp::cannot || d == op % devices || ops[op].group > 0;
      spec.seconds.push_back(runs ? ticks * tick : std::numeric_limits<double>::quiet_NaN());
    }
    for (std::size_t slot = 0; slot < ops[op].outputs.size(); ++slot)
      outputs[op].push_back({slot, op, ops[op].outputs[slot], {}});
    for (std::size_t i = 0; op > 0 && i + 1 < ops[op].inputs.size(); i += 2) {
      std::vector<Tensor>& from = outputs[op - 1 - ops[op].inputs[i] % op];
      if (from.empty()) continue;
      std::vector<OpId>& to = from[ops[op].inputs[i + 1] % from.size()].to;
      if (std::ranges::find(to, OpId{id_of(op)}) == to.end()) to.push_back(OpId{id_of(op)});
    }
  }
  for (OpSpec& spec : specs) builder.add_op(std::move(spec));
  std::vector<Tensor> tensors;
  for (const auto& list : outputs) tensors.insert(tensors.end(), list.begin(), list.end());
  if (random.tensors_by_slot) std::ranges::stable_sort(tensors, {}, &Tensor::slot);
  for (const Tensor& tensor : tensors) builder.add_tensor(OpId{id_of(tensor.op)}, tensor.bytes, tensor.to);
  return builder.build();
}

inline Placement placement_of(const Problem& problem, const RandomPlacement& random) {
  Placement placement;
  const std::size_t ops = problem.op_count();
  const auto gene = [](const std::vector<std::uint8_t>& genes, std::size_t i) -> std::size_t {
    return genes.empty() ? 0 : genes[i % genes.size()];
  };
  std::vector<int> of_group(problem.group_names.size(), -1);
  for (std::size_t op = 0; op < ops; ++op) {
    std::vector<std::uint8_t> allowed;
    for (std::size_t d = 0; d < problem.device_count(); ++d)
      if (!random.only_where_it_runs || problem.can_run(OpId{op}, DeviceId{d}))
        allowed.push_back(static_cast<std::uint8_t>(d));
    std::uint8_t device = allowed[gene(random.device, op) % allowed.size()];
    if (const GroupId group = problem.group[op]; !group.is_none() && random.groups_together) {
      if (of_group[group.index()] < 0) of_group[group.index()] = device;
      device = static_cast<std::uint8_t>(of_group[group.index()]);
    }
    placement.device.push_back(device);
  }
  std::vector<std::size_t> missing(ops);
  std::vector<std::uint32_t> ready;
  for (std::uint32_t op = 0; op < ops; ++op)
    if ((missing[op] = problem.inputs[op].size()) == 0) ready.push_back(op);
  while (!ready.empty()) {
    const auto next =
        ready.begin() + static_cast<std::ptrdiff_t>(gene(random.order, placement.order.size()) % ready.size());
    const std::uint32_t op = *next;
    ready.erase(next);
    placement.order.push_back(op);
    for (const std::uint32_t tensor : problem.outputs[op])
      for (const std::uint32_t consumer : problem.consumers[tensor])
        if (--missing[consumer] == 0) ready.push_back(consumer);
  }
  return placement;
}

inline std::ostream& operator<<(std::ostream& out, const RandomProblem& random) {
  const Problem p = problem_of(random);
  out << p.device_count() << " devices\n";
  for (const Channel& c : p.channels)
    out << "channel " << c.name << " latency " << std::llround(c.latency_s * 1e12) << " ticks/byte "
        << std::llround(1e12 / c.bytes_per_s) << (c.contention ? "" : " without contention") << "\n";
  for (std::size_t pair = 0; pair < p.routes.rows(); ++pair) {
    if (p.routes[pair].empty()) continue;
    out << "route " << pair / p.device_count() << " -> " << pair % p.device_count() << ":";
    for (const std::uint32_t c : p.routes[pair]) out << " " << c;
    out << "\n";
  }
  for (std::size_t op = 0; op < p.op_count(); ++op) {
    out << "op " << op << " times";
    for (std::size_t d = 0; d < p.device_count(); ++d) out << " " << p.op_time[op * p.device_count() + d];
    out << " resident " << p.resident[op] << " scratch " << p.scratch[op];
    if (!p.group[op].is_none()) out << " group " << p.group_names[p.group[op].index()];
    out << "\n";
  }
  for (std::size_t t = 0; t < p.tensor_count(); ++t) {
    out << "tensor " << t << " from " << p.producer[t].value << " bytes " << p.tensor_bytes[t] << " to";
    for (const std::uint32_t consumer : p.consumers[t]) out << " " << consumer;
    out << "\n";
  }
  return out;
}

inline std::ostream& operator<<(std::ostream& out, const RandomPlacement& random) {
  out << "devices (modulo)";
  for (const std::uint8_t d : random.device) out << " " << int{d};
  out << "; order genes";
  for (const std::uint8_t o : random.order) out << " " << int{o};
  return out << (random.only_where_it_runs ? "" : "; also where it cannot run")
             << (random.groups_together ? "" : "; groups split") << "\n";
}

}  // namespace emplace::test

namespace rc {

template <>
struct Arbitrary<emplace::test::RandomOp> {
  static Gen<emplace::test::RandomOp> arbitrary() {
    using emplace::test::RandomOp;
    const auto small = gen::inRange<std::uint8_t>(0, 5);
    // One op in a few has devices that cannot run it, or a group.
    const auto ticks =
        gen::weightedOneOf<std::uint8_t>({{20, gen::inRange<std::uint8_t>(0, 5)}, {1, gen::just(RandomOp::cannot)}});
    return gen::build<RandomOp>(
        gen::set(&RandomOp::ticks, gen::container<std::vector<std::uint8_t>>(3, ticks)),
        gen::set(&RandomOp::outputs, gen::weightedOneOf<std::vector<std::uint8_t>>(
                                         {{4, gen::container<std::vector<std::uint8_t>>(1, small)},
                                          {1, gen::container<std::vector<std::uint8_t>>(3, small)},
                                          {1, gen::just(std::vector<std::uint8_t>{})}})),
        gen::set(&RandomOp::inputs,
                 gen::weightedOneOf<std::vector<std::uint8_t>>(
                     {{1, gen::just(std::vector<std::uint8_t>{})},
                      {3, gen::container<std::vector<std::uint8_t>>(2, gen::inRange<std::uint8_t>(0, 12))},
                      {3, gen::container<std::vector<std::uint8_t>>(4, gen::inRange<std::uint8_t>(0, 12))},
                      {1, gen::container<std::vector<std::uint8_t>>(6, gen::inRange<std::uint8_t>(0, 40))}})),
        gen::set(&RandomOp::resident, small), gen::set(&RandomOp::scratch, small),
        gen::set(&RandomOp::group, gen::weightedOneOf<std::uint8_t>(
                                       {{12, gen::just(std::uint8_t{0})}, {1, gen::inRange<std::uint8_t>(0, 4)}})));
  }
};

template <>
struct Arbitrary<emplace::test::RandomProblem> {
  static Gen<emplace::test::RandomProblem> arbitrary() {
    using namespace emplace::test;
    const auto channel = gen::build<RandomChannel>(
        gen::set(&RandomChannel::latency, gen::inRange<std::uint8_t>(0, 4)),
        gen::set(&RandomChannel::ticks_per_byte, gen::inRange<std::uint8_t>(0, 4)),
        gen::set(&RandomChannel::contention, gen::weightedElement<bool>({{5, true}, {1, false}})));
    const auto route = gen::weightedOneOf<std::vector<std::uint8_t>>(
        {{8, gen::container<std::vector<std::uint8_t>>(1, gen::inRange<std::uint8_t>(0, 16))},
         {8, gen::container<std::vector<std::uint8_t>>(2, gen::inRange<std::uint8_t>(0, 16))},
         {4, gen::container<std::vector<std::uint8_t>>(3, gen::inRange<std::uint8_t>(0, 16))},
         {1, gen::just(std::vector<std::uint8_t>{})}});
    return gen::build<RandomProblem>(
        // One in ten is large.
        gen::set(&RandomProblem::devices, gen::weightedOneOf<std::uint8_t>({{9, gen::inRange<std::uint8_t>(1, 9)},
                                                                            {1, gen::inRange<std::uint8_t>(9, 17)}})),
        gen::set(&RandomProblem::joined, gen::element(Joined::pairs, Joined::bus, Joined::egress, Joined::nics,
                                                      Joined::shared_two_ways, Joined::anyhow)),
        gen::set(&RandomProblem::channels, gen::container<std::vector<RandomChannel>>(channel)),
        gen::set(&RandomProblem::routes, gen::container<std::vector<std::vector<std::uint8_t>>>(route)),
        gen::set(&RandomProblem::ops, gen::container<std::vector<RandomOp>>(gen::arbitrary<RandomOp>())),
        gen::set(&RandomProblem::reversed, gen::arbitrary<bool>()),
        gen::set(&RandomProblem::tensors_by_slot, gen::arbitrary<bool>()));
  }
};

template <>
struct Arbitrary<emplace::test::RandomPlacement> {
  static Gen<emplace::test::RandomPlacement> arbitrary() {
    using emplace::test::RandomPlacement;
    const auto genes = gen::container<std::vector<std::uint8_t>>(gen::arbitrary<std::uint8_t>());
    return gen::build<RandomPlacement>(
        gen::set(&RandomPlacement::device, genes), gen::set(&RandomPlacement::order, genes),
        gen::set(&RandomPlacement::only_where_it_runs, gen::weightedElement<bool>({{9, true}, {1, false}})),
        gen::set(&RandomPlacement::groups_together, gen::weightedElement<bool>({{4, true}, {1, false}})));
  }
};

}  // namespace rc
