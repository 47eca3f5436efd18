#include "cost/lower.hpp"

#include <fmt/core.h>

#include <cmath>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/text.hpp"
#include "cost/roofline.hpp"
#include "emplace/base/error.hpp"
#include "emplace/problem/builder.hpp"
#include "graph/passes/passes.hpp"

namespace emplace::cost {

namespace {

void add_machine(ProblemBuilder& builder, const machine::Machine& machine) {
  for (const machine::MachineDevice& device : machine.devices)
    builder.add_device({device.name, device.kind, device.memory_limited ? device.memory_bytes : no_memory_limit});
  for (const machine::MachineChannel& channel : machine.channels)
    builder.add_channel({channel.name, channel.latency_s, channel.bytes_per_s, channel.contention});
  for (const machine::MachineRoute& route : machine.routes) {
    std::vector<ChannelId> channels;
    for (const std::size_t channel : route.channels) channels.emplace_back(channel);
    builder.add_route(DeviceId{route.from}, DeviceId{route.to}, channels);
  }
}

// Times of ops, ops x devices; NaN: the device cannot run the op.
struct OpTimes {
  std::vector<double> seconds;
  std::vector<double> measured_s;  // the part of them that is from a profile
};

std::vector<Roofline> rooflines_of(const machine::Machine& machine, bool fused) {
  std::vector<Roofline> rooflines;
  for (const machine::MachineDevice& device : machine.devices) rooflines.emplace_back(device, fused);
  return rooflines;
}

// The times of kernels. `measured` has seconds, or NaN for times that the roofline must give; if it is empty, the
// roofline gives all times.
OpTimes kernel_times(const Graph& kernels, const std::vector<Roofline>& rooflines, const std::vector<double>& measured,
                     const std::string& place) {
  OpTimes times;
  times.seconds.reserve(kernels.ops.size() * rooflines.size());
  times.measured_s = measured;
  for (std::size_t i = 0; i < kernels.ops.size(); ++i) {
    const OpCost cost = cost_of(kernels, OpId{i});
    const DType dtype = compute_dtype(kernels, OpId{i});
    for (const Roofline& roofline : rooflines) {
      const double known = measured.empty() ? std::nan("") : measured[times.seconds.size()];
      times.seconds.push_back(std::isnan(known) ? roofline.seconds(cost, dtype, kernels.ops[i], place) : known);
    }
  }
  return times;
}

// The times of groups of kernels, which are the sums of the kernels' times.
OpTimes group_times(const PassResult& groups, const OpTimes& kernels, const std::vector<Roofline>& rooflines,
                    const std::string& place) {
  const std::size_t devices = rooflines.size(), slots = groups.graph.ops.size() * devices;
  OpTimes times;
  times.seconds.assign(slots, 0);
  if (!kernels.measured_s.empty()) times.measured_s.assign(slots, std::nan(""));
  std::vector<bool> has_kernel(groups.graph.ops.size());
  for (const OpId group : groups.became)
    if (!group.is_none()) has_kernel[group.index()] = true;
  for (std::size_t i = 0; i < groups.graph.ops.size(); ++i) {
    if (has_kernel[i]) continue;  // the others are Variables, made for parameters that several ops share
    for (std::size_t d = 0; d < devices; ++d)
      times.seconds[i * devices + d] = rooflines[d].seconds(
          cost_of(groups.graph, OpId{i}), compute_dtype(groups.graph, OpId{i}), groups.graph.ops[i], place);
  }
  for (std::size_t i = 0; i < groups.became.size(); ++i) {
    if (groups.became[i].is_none()) continue;
    for (std::size_t d = 0; d < devices; ++d) {
      const std::size_t from = i * devices + d, to = groups.became[i].index() * devices + d;
      times.seconds[to] += kernels.seconds[from];
      if (kernels.measured_s.empty() || std::isnan(kernels.measured_s[from])) continue;
      double& measured = times.measured_s[to];
      measured = (std::isnan(measured) ? 0 : measured) + kernels.measured_s[from];
    }
  }
  return times;
}

std::vector<DeviceCost> sums(const OpTimes& times, std::size_t devices) {
  std::vector<DeviceCost> costs(devices);
  for (std::size_t i = 0; i < times.seconds.size(); ++i) {
    DeviceCost& cost = costs[i % devices];
    if (std::isnan(times.seconds[i])) continue;
    ++cost.ops;
    cost.seconds += times.seconds[i];
    if (times.measured_s.empty() || std::isnan(times.measured_s[i])) continue;
    if (times.measured_s[i] == times.seconds[i]) ++cost.measured_ops;
    cost.measured_s += times.measured_s[i];
  }
  return costs;
}

// Frameworks name an op by the path of its module and a name of its own: "/encoder/layer.0/query/MatMul".
std::string module_of(const std::string& op) {
  std::string path;
  const std::vector<std::string> parts = split(op, '/');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    if (!path.empty()) path += '/';
    path += parts[i];
  }
  return path;
}

void add_ops(ProblemBuilder& builder, const Graph& graph, const std::vector<double>& seconds,
             const std::string& place) {
  const std::size_t devices = graph.ops.empty() ? 0 : seconds.size() / graph.ops.size();
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const GraphOp& node = graph.ops[i];
    OpSpec op;
    op.name = node.name;
    op.type = node.type;
    op.colocate = node.colocate;
    op.layer = node.layer;
    op.module = node.module.empty() ? module_of(node.name) : node.module;
    op.resident = resident_bytes(graph, OpId{i});
    const auto begin = seconds.begin() + static_cast<std::ptrdiff_t>(i * devices);
    op.seconds.assign(begin, begin + static_cast<std::ptrdiff_t>(devices));
    builder.add_op(std::move(op), place);
  }
}

// The graph's inputs have no producer: they are on every device when the step starts, so they are no tensors of the
// problem. An op that others have as a control dependency gets one tensor of 0 bytes for them.
void add_tensors(ProblemBuilder& builder, const Graph& graph, const std::string& place) {
  for (const GraphTensor& tensor : graph.tensors) {
    if (tensor.producer.is_none()) continue;
    const OutputSpec output{tensor.shape.ranked, tensor.shape.dims, tensor.dtype};
    const bool sent = !graph.ops[tensor.producer.index()].before_step;
    builder.add_tensor(tensor.producer, sent ? tensor.bytes().value_or(0) : 0, tensor.consumers, place, {}, &output);
  }

  std::vector<std::vector<OpId>> waiting(graph.ops.size());
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const OpId before : graph.ops[i].after) {
      std::vector<OpId>& list = waiting[before.index()];
      if (list.empty() || list.back() != OpId{i})
        list.emplace_back(i);  // the list is ascending, so a repeated entry is the last one
    }
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (!waiting[i].empty()) builder.add_tensor(OpId{i}, 0, std::move(waiting[i]), place);
}

std::map<std::string, std::int64_t> unsized_tensors(const Graph& graph) {
  std::map<std::string, std::int64_t> counts;
  for (const GraphTensor& tensor : graph.tensors)
    if (!tensor.producer.is_none() && !tensor.bytes() && !graph.ops[tensor.producer.index()].before_step)
      ++counts[graph.ops[tensor.producer.index()].type];
  return counts;
}

std::vector<std::string> unmatched_unsupported(const Graph& graph, const machine::Machine& machine) {
  std::unordered_set<std::string_view> in_graph;
  for (const GraphOp& op : graph.ops) {
    in_graph.insert(op.type);
    for (const auto& [type, count] : op.merged_types) in_graph.insert(type);
  }
  std::vector<std::string> out;
  for (const machine::MachineDevice& device : machine.devices)
    for (const std::string& type : device.unsupported)
      if (!is_known_type(type) && !in_graph.contains(type))
        out.push_back(fmt::format("{}: {}", device.name, quote(type)));
  return out;
}

// `kernels` were made from `graph` with `options`.
std::vector<DeviceCost> costs_of(const PassResult& kernels, const Graph& graph, const machine::Machine& machine,
                                 const RooflineOptions& options, const std::string& name,
                                 std::span<const DeviceProfile> profiles) {
  std::vector<double> measured;
  if (!profiles.empty()) measured = measured_times(kernels, graph, machine, profiles, options.fuse).seconds;
  return sums(kernel_times(kernels.graph, rooflines_of(machine, options.fuse), measured, name), machine.devices.size());
}

// `done_with`: the graph itself, if it may be given up.
Lowered lower_graph(const Graph& graph, Graph* done_with, const machine::Machine& machine,
                    const RooflineOptions& options, const std::string& name, std::span<const DeviceProfile> profiles,
                    bool with_other_costs) {
  graph.validate(name);
  Lowered lowered;
  RooflineOptions other = options;
  other.fuse = !options.fuse;
  PassResult kernels = kernel_passes(graph, with_other_costs && options.fuse ? other : options, name);
  const std::size_t op_count = graph.ops.size();
  if (done_with != nullptr && profiles.empty()) *done_with = {};
  if (with_other_costs) {
    // One of the two is made from the other, so that the passes before run once.
    PassResult fused = followed_by(kernels, fuse(kernels.graph));
    lowered.other_costs = costs_of(options.fuse ? kernels : fused, graph, machine, other, name, profiles);
    if (options.fuse) kernels = std::move(fused);
  }
  if (!profiles.empty()) lowered.measured = measured_times(kernels, graph, machine, profiles, options.fuse);
  for (const ProfileUse& use : lowered.measured.profiles) refuse_other_model(use, graph);
  const std::vector<Roofline> rooflines = rooflines_of(machine, options.fuse);
  OpTimes times = kernel_times(kernels.graph, rooflines, lowered.measured.seconds, name);
  if (!lowered.measured.together.empty())
    kernels.graph =
        colocate(kernels.graph, {.variables = false, .gradients = false, .together = lowered.measured.together}).graph;
  PassResult groups = grouping_passes(std::move(kernels.graph), options);
  times = group_times(groups, times, rooflines, name);

  for (OpId& now : kernels.became)
    if (!now.is_none()) now = groups.became[now.index()];
  lowered.became = std::move(kernels.became);
  lowered.graph = std::move(groups.graph);
  lowered.origin.resize(lowered.graph.ops.size());
  for (std::size_t i = lowered.became.size(); i-- > 0;)
    if (const OpId now = lowered.became[i]; !now.is_none()) lowered.origin[now.index()] = OpId{i};
  if (lowered.graph.ops.empty())
    throw InputError(name, "nothing is left to place: the graph has {} ops and pruning folded all of them", op_count);

  ProblemBuilder builder(name);
  add_machine(builder, machine);
  add_ops(builder, lowered.graph, times.seconds, name);
  add_tensors(builder, lowered.graph, name);
  lowered.problem = builder.build(name);
  lowered.problem.unsized = unsized_tensors(lowered.graph);
  lowered.costs = sums(times, machine.devices.size());
  lowered.statistics = statistics(lowered.graph);
  lowered.unmatched_unsupported = unmatched_unsupported(lowered.graph, machine);
  return lowered;
}

}  // namespace

Lowered lower(const Graph& graph, const machine::Machine& machine, const RooflineOptions& options,
              const std::string& name, std::span<const DeviceProfile> profiles, bool with_other_costs) {
  return lower_graph(graph, nullptr, machine, options, name, profiles, with_other_costs);
}

Lowered lower(Graph&& graph, const machine::Machine& machine, const RooflineOptions& options, const std::string& name,
              std::span<const DeviceProfile> profiles, bool with_other_costs) {
  return lower_graph(graph, &graph, machine, options, name, profiles, with_other_costs);
}

}  // namespace emplace::cost
