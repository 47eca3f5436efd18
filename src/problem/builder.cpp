#include "emplace/problem/builder.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "base/name_table.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "problem/topology.hpp"

namespace emplace {

namespace {

// For sums that cannot overflow: totals are compared with 2^62 in 128 bits.
__extension__ typedef __int128 Wide;

double longest_seconds() { return static_cast<double>(total_limit) / ticks_per_second; }

void check_bytes(Bytes bytes, const char* what, const std::string& place) {
  if (bytes < 0) throw InputError(place, "{} must not be negative, got {}", what, bytes);
  if (bytes > total_limit) throw InputError(place, "{} must be at most 2^62 bytes, got {}", what, bytes);
}

// Must be called before the new object is added to the list.
void check_new_name(const std::string& name, const char* what, NameTable& names, const auto& list, const auto& name_of,
                    const std::string& place) {
  if (name.empty()) throw InputError(place, "the {} has an empty name", what);
  const auto name_at = [&](std::uint32_t i) -> std::string_view { return std::invoke(name_of, list[i]); };
  if (const auto twin = names.add(name, static_cast<std::uint32_t>(list.size()), name_at))
    throw InputError(place, "the {} name {} is used twice (also by number {})", what, quote(name), *twin);
}

// Gives the next op, number `op`, its text.
void add_label(OpLabels& labels, NameTable& known, const std::string& text, std::size_t op) {
  if (text.empty() && labels.empty()) return;
  labels.of_op.resize(op, OpLabels::none);
  std::uint32_t label = OpLabels::none;
  if (!text.empty()) {
    const auto name_at = [&](std::uint32_t i) -> std::string_view { return labels.names[i]; };
    const auto next = static_cast<std::uint32_t>(labels.names.size());
    label = known.add(text, next, name_at).value_or(next);
    if (label == next) labels.names.push_back(text);
  }
  labels.of_op.push_back(label);
}

// Fills one row of tensors for each op. `for_each_pair(visit)` calls visit(op, tensor) for every pair, in the same
// order each time.
void index_by_op(Lists& lists, std::size_t op_count, const auto& for_each_pair) {
  lists.begin.assign(op_count + 1, 0);
  for_each_pair([&](std::uint32_t op, std::uint32_t) { ++lists.begin[op + 1]; });
  for (std::size_t op = 0; op < op_count; ++op) lists.begin[op + 1] += lists.begin[op];
  lists.items.resize(lists.begin.back());
  std::vector<std::uint32_t> next(lists.begin.begin(), lists.begin.end() - 1);
  for_each_pair([&](std::uint32_t op, std::uint32_t tensor) { lists.items[next[op]++] = tensor; });
}

}  // namespace

Ticks ticks_of_seconds(double seconds) { return std::max<Ticks>(1, std::llround(seconds * ticks_per_second)); }

Ticks ticks_of_transfer(Bytes bytes, double latency_s, double bytes_per_s) {
  return ticks_of_seconds(latency_s + static_cast<double>(bytes) / bytes_per_s);
}

struct ProblemBuilder::Parts {
  struct Tensor {
    OpId from;
    Bytes bytes;
    std::vector<OpId> to;
    std::uint32_t place;  // in `places`
    std::optional<OutputSpec> output;
  };

  void add_times(const OpSpec& op, const std::string& place);
  // The steps of build(), in their order. `place` is the file.
  void fill_routes();
  void fill_shapes();
  void fill_tensors();
  void fill_inputs_and_outputs();
  void fill_topological(const std::string& place);
  void check_groups(const std::string& place) const;
  void fill_transfer_times();
  void check_totals(const std::string& place) const;
  // `seen_by`: N, the last tensor that names the op as a consumer.
  void add_tensor(std::uint32_t t, std::vector<std::uint32_t>& seen_by);

  Problem problem;
  [[nodiscard]] const std::string& place_of(const Tensor& tensor) const { return places[tensor.place]; }

  std::vector<Tensor> tensors;
  std::vector<std::string> places;                 // of tensors; one for those in a row that have the same
  std::vector<std::vector<std::uint32_t>> routes;  // D x D, allocated when the first route or op is added
  std::size_t time_classes = 0;                    // 0: times are computed from bytes, latencies and bandwidths
  std::vector<std::int32_t> time_class;            // D x D like `routes`: the class of given times
  std::vector<Ticks> given_times;                  // T x time_classes
  NameTable device_names, channel_names, op_names, group_names, layer_names, module_names;
};

ProblemBuilder::ProblemBuilder(std::string name) : parts_(std::make_unique<Parts>()) {
  parts_->problem.name = std::move(name);
}
ProblemBuilder::~ProblemBuilder() = default;
ProblemBuilder::ProblemBuilder(const ProblemBuilder& other) : parts_(std::make_unique<Parts>(*other.parts_)) {}
ProblemBuilder& ProblemBuilder::operator=(const ProblemBuilder& other) {
  if (this != &other) parts_ = std::make_unique<Parts>(*other.parts_);
  return *this;
}
ProblemBuilder::ProblemBuilder(ProblemBuilder&&) noexcept = default;
ProblemBuilder& ProblemBuilder::operator=(ProblemBuilder&&) noexcept = default;

DeviceId ProblemBuilder::add_device(Device device, const std::string& place) {
  EMPLACE_CHECK(parts_->routes.empty() && parts_->problem.op_names.empty(), "devices come before routes and ops");
  if (parts_->problem.devices.size() == max_devices)
    throw InputError(place, "more than {} devices, the most that a placement can name", max_devices);
  check_new_name(device.name, "device", parts_->device_names, parts_->problem.devices, &Device::name, place);
  if (device.memory != no_memory_limit) check_bytes(device.memory, "the device's memory", place);
  parts_->problem.devices.push_back(std::move(device));
  return DeviceId{parts_->problem.devices.size() - 1};
}

ChannelId ProblemBuilder::add_channel(Channel channel, const std::string& place) {
  check_new_name(channel.name, "channel", parts_->channel_names, parts_->problem.channels, &Channel::name, place);
  if (!(channel.latency_s >= 0) || !std::isfinite(channel.latency_s))
    throw InputError(place, "the latency of channel {} must be zero or more and finite, got {} s", quote(channel.name),
                     channel.latency_s);
  if (!(channel.bytes_per_s > 0) || !std::isfinite(channel.bytes_per_s))
    throw InputError(place, "the bandwidth of channel {} must be above zero and finite, got {} bytes/s",
                     quote(channel.name), channel.bytes_per_s);
  parts_->problem.channels.push_back(std::move(channel));
  return ChannelId{parts_->problem.channels.size() - 1};
}

void ProblemBuilder::give_transfer_times(std::size_t classes) {
  EMPLACE_CHECK(classes > 0 && parts_->routes.empty() && parts_->tensors.empty(), "before the first route and tensor");
  parts_->time_classes = classes;
}

void ProblemBuilder::add_route(DeviceId from, DeviceId to, const std::vector<ChannelId>& channels,
                               const std::string& place, std::size_t time_class) {
  EMPLACE_CHECK(time_class < std::max<std::size_t>(1, parts_->time_classes));
  const std::size_t count = parts_->problem.devices.size();
  for (const DeviceId device : {from, to})
    if (device.index() >= count)
      throw InputError(place, "the route names device {}, but there are {}", device.value,
                       count == 0 ? "no devices" : fmt::format("{} devices (0 to {})", count, count - 1));
  if (from == to) throw InputError(place, "a route must join two different devices, got {} twice", from.value);
  if (channels.empty()) throw InputError(place, "the route from device {} to {} has no channels", from.value, to.value);
  parts_->routes.resize(count * count);
  auto& route = parts_->routes[from.index() * count + to.index()];
  if (!route.empty()) throw InputError(place, "there are two routes from device {} to {}", from.value, to.value);
  for (const ChannelId channel : channels) {
    if (channel.index() >= parts_->problem.channels.size())
      throw InputError(place, "the route names channel {}, but there are {} channels", channel.value,
                       parts_->problem.channels.size());
    if (std::find(route.begin(), route.end(), channel.value) != route.end())
      throw InputError(place, "channel {} stands twice on the route from device {} to {}",
                       quote(parts_->problem.channels[channel.index()].name), from.value, to.value);
    route.push_back(channel.value);
  }
  if (parts_->time_classes == 0) return;
  parts_->time_class.resize(count * count, -1);
  parts_->time_class[from.index() * count + to.index()] = static_cast<std::int32_t>(time_class);
}

OpId ProblemBuilder::add_op(OpSpec op, const std::string& place) {
  const std::size_t count = parts_->problem.devices.size();
  if (count == 0) throw InputError(place, "there are no devices to run ops on");
  check_new_name(op.name, "op", parts_->op_names, parts_->problem.op_names, std::identity(), place);
  if (op.seconds.size() != count)
    throw InputError(place, "op {} needs one time for each of the {} devices, got {}", quote(op.name), count,
                     op.seconds.size());
  parts_->add_times(op, place);
  check_bytes(op.resident, "resident bytes", place);
  check_bytes(op.scratch, "scratch bytes", place);
  parts_->problem.resident.push_back(op.resident);
  parts_->problem.scratch.push_back(op.scratch);
  GroupId group;
  if (!op.colocate.empty()) {
    std::vector<std::string>& names = parts_->problem.group_names;
    const auto name_at = [&](std::uint32_t i) -> std::string_view { return names[i]; };
    const auto known = parts_->group_names.add(op.colocate, static_cast<std::uint32_t>(names.size()), name_at);
    if (!known) names.push_back(op.colocate);
    group = known ? GroupId{*known} : GroupId{names.size() - 1};
  }
  parts_->problem.group.push_back(group);
  add_label(parts_->problem.layer, parts_->layer_names, op.layer, parts_->problem.op_names.size());
  add_label(parts_->problem.module, parts_->module_names, op.module, parts_->problem.op_names.size());
  if (op.backward && parts_->problem.backward.empty())
    parts_->problem.backward.resize(parts_->problem.op_names.size(), 0);
  if (op.backward || !parts_->problem.backward.empty()) parts_->problem.backward.push_back(op.backward ? 1 : 0);
  parts_->problem.op_names.push_back(std::move(op.name));
  parts_->problem.op_types.push_back(std::move(op.type));
  return OpId{parts_->problem.op_names.size() - 1};
}

// Appends the row of the op's times.
void ProblemBuilder::Parts::add_times(const OpSpec& op, const std::string& place) {
  const std::size_t begin = problem.op_time.size();
  problem.op_time.resize(begin + op.seconds.size(), cannot_run);
  problem.zero_cost.resize(begin + op.seconds.size(), 0);
  bool runs_somewhere = false;
  double before = std::nan("");  // most times are those of the device before
  Ticks ticks = 0;
  for (std::size_t d = 0; d < op.seconds.size(); ++d) {
    const double seconds = op.seconds[d];
    if (std::isnan(seconds)) continue;
    if (!(seconds >= 0) || !std::isfinite(seconds) || seconds > longest_seconds())
      throw InputError(place, "the time of op {} on device {} must be from 0 to {:.0f} s, got {}", quote(op.name),
                       quote(problem.devices[d].name), longest_seconds(), seconds);
    if (seconds != before) ticks = ticks_of_seconds(seconds);
    before = seconds;
    problem.op_time[begin + d] = ticks;
    problem.zero_cost[begin + d] = seconds == 0 ? 1 : 0;
    runs_somewhere = true;
  }
  if (!runs_somewhere) throw InputError(place, "no device can run op {}", quote(op.name));
}

TensorId ProblemBuilder::add_tensor(OpId from, Bytes bytes, std::vector<OpId> to, const std::string& place,
                                    std::span<const double> seconds, const OutputSpec* output) {
  check_bytes(bytes, "the tensor's bytes", place);
  EMPLACE_CHECK(seconds.size() == parts_->time_classes, "one time for each of {} classes, got {}", parts_->time_classes,
                seconds.size());
  for (const double time : seconds) {
    if (!(time >= 0) || time > longest_seconds())
      throw InputError(place, "a transfer's time must be from 0 to {:.0f} s, got {}", longest_seconds(), time);
    parts_->given_times.push_back(ticks_of_seconds(time));
  }
  if (parts_->places.empty() || parts_->places.back() != place) parts_->places.push_back(place);
  const auto at = static_cast<std::uint32_t>(parts_->places.size() - 1);
  parts_->tensors.push_back(
      {from, bytes, std::move(to), at, output == nullptr ? std::nullopt : std::optional(*output)});
  return TensorId{parts_->tensors.size() - 1};
}

void ProblemBuilder::Parts::fill_routes() {
  Problem& p = problem;
  const std::size_t device_count = p.devices.size();
  routes.resize(device_count * device_count);
  p.route_class.assign(device_count * device_count, -1);
  for (std::size_t pair = 0; pair < routes.size(); ++pair) {
    p.routes.items.insert(p.routes.items.end(), routes[pair].begin(), routes[pair].end());
    p.routes.begin.push_back(static_cast<std::uint32_t>(p.routes.items.size()));
    if (routes[pair].empty() || time_classes > 0) continue;
    Problem::RouteClass cls{0, p.channels[routes[pair].front()].bytes_per_s};
    for (const std::uint32_t channel : routes[pair]) {
      cls.latency_s += p.channels[channel].latency_s;
      cls.bytes_per_s = std::min(cls.bytes_per_s, p.channels[channel].bytes_per_s);
    }
    const auto same = std::find_if(p.route_classes.begin(), p.route_classes.end(), [&](const auto& other) {
      return other.latency_s == cls.latency_s && other.bytes_per_s == cls.bytes_per_s;
    });
    p.route_class[pair] = static_cast<std::int32_t>(same - p.route_classes.begin());
    if (same == p.route_classes.end()) p.route_classes.push_back(cls);
  }
  if (time_classes == 0) return;
  p.given_transfer_times = true;
  p.route_classes.assign(time_classes, {0, 0});
  if (!time_class.empty()) p.route_class = time_class;
}

// Times are rounded to ticks here, once. A time of 0, given or computed, becomes one tick.
void ProblemBuilder::Parts::fill_transfer_times() {
  Problem& p = problem;
  if (time_classes > 0) {
    p.transfer_time = std::move(given_times);
    return;
  }
  p.transfer_time.reserve(p.producer.size() * p.route_classes.size());
  for (std::size_t t = 0; t < p.producer.size(); ++t)
    for (const Problem::RouteClass& cls : p.route_classes) {
      const double seconds = cls.latency_s + static_cast<double>(p.tensor_bytes[t]) / cls.bytes_per_s;
      if (!(seconds <= longest_seconds()))
        throw InputError(place_of(tensors[t]), "the tensor of op {} needs {:.3g} s on a route, more than 2^62 ps",
                         quote(p.op_names[p.producer[t].index()]), seconds);
      p.transfer_time.push_back(ticks_of_transfer(p.tensor_bytes[t], cls.latency_s, cls.bytes_per_s));
    }
}

void ProblemBuilder::Parts::fill_shapes() {
  TensorShapes& shapes = problem.shapes;
  if (std::ranges::none_of(tensors, [](const Tensor& tensor) { return tensor.output.has_value(); })) return;
  for (const Tensor& tensor : tensors) {
    const bool ranked = tensor.output && tensor.output->ranked;
    shapes.known.push_back(ranked          ? TensorShapes::Known::ranked
                           : tensor.output ? TensorShapes::Known::unranked
                                           : TensorShapes::Known::nothing);
    shapes.type.push_back(tensor.output ? tensor.output->type : DType::unknown);
    if (ranked)
      for (const std::int64_t size : tensor.output->dimensions)
        shapes.dimensions.push_back(size < 0 ? TensorShapes::unknown_dimension : size);
    shapes.begin.push_back(static_cast<std::uint32_t>(shapes.dimensions.size()));
  }
}

void ProblemBuilder::Parts::fill_tensors() {
  std::vector<std::uint32_t> seen_by(problem.op_names.size(), TensorId::none_value);
  for (std::uint32_t t = 0; t < tensors.size(); ++t) add_tensor(t, seen_by);
}

void ProblemBuilder::Parts::add_tensor(std::uint32_t t, std::vector<std::uint32_t>& seen_by) {
  Problem& p = problem;
  const Tensor& tensor = tensors[t];
  const std::size_t op_count = p.op_names.size();
  if (tensor.from.index() >= op_count)
    throw InputError(place_of(tensor), "the tensor's producer is op {}, but there are {} ops", tensor.from.value,
                     op_count);
  for (const OpId consumer : tensor.to) {
    if (consumer.index() >= op_count)
      throw InputError(place_of(tensor), "the tensor has consumer {}, but there are {} ops", consumer.value, op_count);
    if (consumer == tensor.from)
      throw InputError(place_of(tensor), "op {} consumes its own tensor, a cycle", quote(p.op_names[consumer.index()]));
    if (seen_by[consumer.index()] == t)
      throw InputError(place_of(tensor), "op {} is listed twice as consumer of one tensor",
                       quote(p.op_names[consumer.index()]));
    seen_by[consumer.index()] = t;
    p.consumers.items.push_back(consumer.value);
  }
  p.producer.push_back(tensor.from);
  p.tensor_bytes.push_back(tensor.bytes);
  p.consumers.begin.push_back(static_cast<std::uint32_t>(p.consumers.items.size()));
}

void ProblemBuilder::Parts::fill_inputs_and_outputs() {
  Problem& p = problem;
  index_by_op(p.outputs, p.op_names.size(), [&](const auto& visit) {
    for (std::uint32_t t = 0; t < p.producer.size(); ++t) visit(p.producer[t].value, t);
  });
  index_by_op(p.inputs, p.op_names.size(), [&](const auto& visit) {
    for (std::uint32_t t = 0; t < p.producer.size(); ++t)
      for (const std::uint32_t consumer : p.consumers[t]) visit(consumer, t);
  });
}

void ProblemBuilder::Parts::fill_topological(const std::string& place) {
  problem.topological = topological_order(problem);
  if (problem.topological.size() != problem.op_names.size())
    throw InputError(place, "the ops form a cycle: {}", describe_cycle(problem, problem.topological));
}

// Every co-location group needs at least one device that can run all its ops.
void ProblemBuilder::Parts::check_groups(const std::string& place) const {
  const Problem& p = problem;
  const std::size_t device_count = p.devices.size();
  std::vector<std::uint8_t> group_runs(p.group_names.size() * device_count, 1);
  for (std::size_t op = 0; op < p.op_names.size(); ++op)
    if (!p.group[op].is_none())
      for (std::size_t d = 0; d < device_count; ++d)
        if (p.op_time[op * device_count + d] == cannot_run) group_runs[p.group[op].index() * device_count + d] = 0;
  for (std::size_t g = 0; g < p.group_names.size(); ++g) {
    const auto runs = std::span(group_runs).subspan(g * device_count, device_count);
    if (std::ranges::find(runs, 1) == runs.end())
      throw InputError(place, "no device can run every op of co-location group {}", quote(p.group_names[g]));
  }
}

// The totals of docs/simulation.md.
void ProblemBuilder::Parts::check_totals(const std::string& place) const {
  const Problem& p = problem;
  const std::size_t device_count = p.devices.size();
  const std::size_t classes = p.route_classes.size();
  Wide bytes = 0;
  Wide ticks = 0;
  for (std::size_t op = 0; op < p.op_names.size(); ++op) {
    bytes += Wide{p.resident[op]} + p.scratch[op];
    ticks += std::ranges::max(std::span(p.op_time).subspan(op * device_count, device_count));
  }
  for (std::size_t t = 0; t < p.producer.size(); ++t) {
    bytes += Wide{p.tensor_bytes[t]} * static_cast<Wide>(device_count);
    Ticks slowest = 0;
    for (std::size_t cls = 0; cls < classes; ++cls) slowest = std::max(slowest, p.transfer_time[t * classes + cls]);
    ticks += Wide{slowest} * static_cast<Wide>(device_count);
  }
  if (bytes > total_limit)
    throw InputError(place, "all bytes together ({:.4g}) exceed 2^62", static_cast<double>(bytes));
  if (ticks > total_limit)
    throw InputError(place, "all times together ({:.4g} s) exceed 2^62 ps",
                     static_cast<double>(ticks) / ticks_per_second);
}

Problem ProblemBuilder::build(const std::string& place) {
  if (parts_->problem.devices.empty()) throw InputError(place, "the problem has no devices");
  if (parts_->problem.op_names.empty()) throw InputError(place, "the problem has no ops");
  parts_->fill_routes();
  parts_->fill_shapes();
  parts_->fill_tensors();
  parts_->fill_inputs_and_outputs();
  parts_->fill_topological(place);
  parts_->check_groups(place);
  parts_->fill_transfer_times();
  parts_->check_totals(place);
  Problem done = std::move(parts_->problem);
  parts_ = std::make_unique<Parts>();
  return done;
}

}  // namespace emplace
