// The flat, integer, immutable data that simulators, placers, policies and workers use: devices, channels, routes, ops
// and tensors (docs/simulation.md). It is independent of models, files and MPI. ProblemBuilder validates and makes it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/types.hpp"

namespace emplace {

inline constexpr Bytes no_memory_limit = std::numeric_limits<Bytes>::max();
// Op time on a device that cannot run it.
inline constexpr Ticks cannot_run = -1;
inline constexpr std::uint32_t no_cut_limit = std::numeric_limits<std::uint32_t>::max();
// A placement stores one byte per op.
inline constexpr std::size_t max_devices = 255;

struct Device {
  std::string name;
  std::string kind;  // "cpu", "gpu", ...; may be empty
  Bytes memory = no_memory_limit;
};

struct Channel {
  std::string name;
  double latency_s = 0;
  double bytes_per_s = 1;
  bool contention = true;  // false: any number of transfers use it at the same time, none waits
};

// max(1, llround(seconds * 1e12)). Seconds are converted to ticks only here.
Ticks ticks_of_seconds(double seconds);
// max(1, llround((latency_s + bytes / bytes_per_s) * 1e12)).
Ticks ticks_of_transfer(Bytes bytes, double latency_s, double bytes_per_s);

// Lists in compressed form: the items of row i are items[begin[i]] .. items[begin[i+1]].
struct Lists {
  std::vector<std::uint32_t> begin{0};
  std::vector<std::uint32_t> items;

  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t row) const {
    return {items.data() + begin[row], begin[row + 1] - begin[row]};
  }
  [[nodiscard]] std::size_t rows() const { return begin.size() - 1; }
};

// A text for each op, most of which share theirs with others; empty lists where no op has one.
struct OpLabels {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> of_op;  // N: position in `names`, or none
  std::vector<std::string> names;    // in order of first appearance

  [[nodiscard]] bool empty() const { return names.empty(); }
  // "" where the op has none.
  [[nodiscard]] std::string_view operator[](std::size_t op) const {
    return of_op.empty() || of_op[op] == none ? std::string_view() : std::string_view(names[of_op[op]]);
  }
};

// Shapes and element types of tensors; empty lists where no tensor has one.
struct TensorShapes {
  static constexpr std::int64_t unknown_dimension = -1;
  enum class Known : std::uint8_t {
    nothing,   // it has no shape: a control dependency, or a file that says bytes alone
    unranked,  // it has a shape, of which not even the number of dimensions is known
    ranked,
  };
  std::vector<Known> known;              // T
  std::vector<DType> type;               // T
  std::vector<std::uint32_t> begin{0};   // T + 1, into `dimensions`
  std::vector<std::int64_t> dimensions;  // outermost first

  [[nodiscard]] bool empty() const { return known.empty(); }
  [[nodiscard]] bool has(std::size_t tensor) const { return !empty() && known[tensor] != Known::nothing; }
  [[nodiscard]] std::span<const std::int64_t> dimensions_of(std::size_t tensor) const {
    return {dimensions.data() + begin[tensor], begin[tensor + 1] - begin[tensor]};
  }
};

// Positions in the lists are ids. There are D devices, C channels, N ops, T tensors and R route classes; comments such
// as "N x D" give the size of a list. Fields are public because the engines index them directly; only ProblemBuilder
// and the broadcast write them.
struct Problem {
  std::string name;

  std::vector<Device> devices;    // D
  std::vector<Channel> channels;  // C
  // Row from * D + to has the channel ids in the order of the file; an empty row means that there is no route.
  Lists routes;
  // D x D: the class of each route; routes of one class take the same time for every tensor. -1 without a route, and on
  // the diagonal.
  std::vector<std::int32_t> route_class;
  struct RouteClass {
    double latency_s;    // sum over the route's channels, in route order
    double bytes_per_s;  // smallest of the route's channels
  };
  std::vector<RouteClass> route_classes;  // R
  // True if the file gave transfer times (delays of published workloads), which do not follow from bytes, latencies and
  // bandwidths.
  bool given_transfer_times = false;
  // The largest number of tensors that a feasible placement sends between devices; each counts once, whatever its size
  // and the number of devices that it is sent to. A demand of the user (--max-cuts), in no problem file.
  std::uint32_t max_cuts = no_cut_limit;

  std::vector<std::string> op_names;     // N
  std::vector<std::string> op_types;     // N
  std::vector<Ticks> op_time;            // N x D; cannot_run if the device cannot run the op
  std::vector<std::uint8_t> zero_cost;   // N x D: 1 where the time was exactly 0 s before it was rounded
  std::vector<Bytes> resident;           // N
  std::vector<Bytes> scratch;            // N
  std::vector<GroupId> group;            // N; none: the op is in no co-location group
  std::vector<std::string> group_names;  // co-location groups, in order of first appearance
  std::vector<std::uint8_t> backward;    // N: 1 for ops of the backward pass; empty: there are none

  std::vector<OpId> producer;        // T
  std::vector<Bytes> tensor_bytes;   // T
  Lists consumers;                   // T rows: op ids in the order of the file
  std::vector<Ticks> transfer_time;  // T x R

  // What models say beside costs. Policies and placers may read it; no simulation depends on it.
  TensorShapes shapes;
  OpLabels layer;   // the part of the model that an expert places as one: "encoder/0"
  OpLabels module;  // path of the module that the op belongs to, outermost first: "encoder/0/attention"
  std::vector<std::uint8_t> expert;  // N: the device of each op in the human expert's placement; empty: none is known
  // Op type -> number of its output tensors whose size was not known when the problem was made from a model. They count
  // 0 bytes, so that times and transfers are too short.
  std::map<std::string, std::int64_t> unsized;

  // Derived: each op's input and output tensors by id, and a topological order (smallest id first).
  Lists inputs;                            // N rows of tensor ids
  Lists outputs;                           // N rows of tensor ids
  std::vector<std::uint32_t> topological;  // N

  [[nodiscard]] std::size_t device_count() const { return devices.size(); }
  [[nodiscard]] std::size_t op_count() const { return op_names.size(); }
  [[nodiscard]] std::size_t tensor_count() const { return producer.size(); }
  // Number of (tensor, consumer) pairs: the "edges" in the documents' figures of speed.
  [[nodiscard]] std::size_t edge_count() const { return consumers.items.size(); }

  [[nodiscard]] Ticks time(OpId op, DeviceId device) const {
    return op_time[op.index() * devices.size() + device.index()];
  }
  [[nodiscard]] bool is_backward(OpId op) const { return !backward.empty() && backward[op.index()] != 0; }
  [[nodiscard]] bool can_run(OpId op, DeviceId device) const { return time(op, device) != cannot_run; }
  [[nodiscard]] std::span<const std::uint32_t> route(DeviceId from, DeviceId to) const {
    return routes[from.index() * devices.size() + to.index()];
  }
  [[nodiscard]] bool has_route(DeviceId from, DeviceId to) const { return !route(from, to).empty(); }
  // In ticks. There must be a route.
  [[nodiscard]] Ticks transfer(TensorId tensor, DeviceId from, DeviceId to) const {
    const auto cls = static_cast<std::size_t>(route_class[from.index() * devices.size() + to.index()]);
    return transfer_time[tensor.index() * route_classes.size() + cls];
  }
};

// Whether the two problems are equal in everything but their own names: the same devices, channels, routes, ops and
// tensors, with the same names.
bool same_but_for_the_name(const Problem& a, const Problem& b);

}  // namespace emplace
