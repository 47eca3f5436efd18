// Problems: made from files, models and arrays, and shown as arrays.
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>

#include "base/files.hpp"
#include "base/version.hpp"
#include "bind.hpp"
#include "dist/problem_archive.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/problem/output_shapes.hpp"
#include "engines.hpp"
#include "formats/workload/workload.hpp"
#include "problem/order.hpp"
#include "waiting.hpp"

namespace emplace::python {

LoadedProblem::LoadedProblem(source::LoadedProblem from_source)
    : loaded(std::move(from_source)), engines(std::make_unique<EnginePool>(loaded.problem)) {}
LoadedProblem::~LoadedProblem() = default;

Placement placement_of(const Problem& problem, const Devices& devices, const std::optional<Order>& order) {
  Placement placement;
  placement.device.assign(devices.data(), devices.data() + devices.size());
  if (order) placement.order.assign(order->data(), order->data() + order->size());
  check_placement(problem, placement, "placement");
  return placement;
}

namespace {

// ---- Making problems ------------------------------------------------------------------------------------------------

// Loads a graph on a machine, or without a machine any PROBLEM argument of the program.
ProblemHandle load(const std::string& source, const std::optional<std::string>& machine,
                   std::optional<std::int64_t> batch, const std::map<std::string, std::vector<std::int64_t>>& shapes,
                   const py::dict& roofline) {
  source::SourceOptions options;
  options.read.batch = batch;
  options.read.shapes = shapes;
  options.roofline = read_options<cost::RooflineOptions>(config_of(roofline, "load"));
  return work_and_wait(
      [source, machine, options](Meeting&) {
        return std::make_shared<LoadedProblem>(machine ? source::load_problem(source, *machine, options)
                                                       : source::load_problem(source, options));
      },
      usual_patience);
}

template <class T>
using Array = py::array_t<T, py::array::c_style>;

// The channels of a problem from arrays. Pairs of devices with the same number share one.
struct ArrayChannels {
  ProblemBuilder& builder;
  const std::vector<std::string>& device_names;
  bool contention;
  struct Known {
    ChannelId id;
    double latency_s, bytes_per_s;
  };
  std::map<std::int64_t, Known> known = {};

  ChannelId get(std::size_t from, std::size_t to, std::int64_t number, double latency_s, double bytes_per_s) {
    const std::string pair = device_names[from] + "->" + device_names[to];
    if (const auto found = known.find(number); number >= 0 && found != known.end()) {
      if (found->second.latency_s != latency_s || found->second.bytes_per_s != bytes_per_s)
        throw InputError("channels", "channel {} has another latency or bandwidth for {} than before", number, pair);
      return found->second.id;
    }
    const ChannelId id = builder.add_channel(
        {number >= 0 ? "channel:" + std::to_string(number) : pair, latency_s, bytes_per_s, contention}, "channels");
    if (number >= 0) known[number] = {id, latency_s, bytes_per_s};
    return id;
  }
};

void add_routes(ProblemBuilder& builder, const std::vector<std::string>& device_names, const Array<double>& latency,
                const Array<double>& bandwidth, const std::optional<Array<std::int64_t>>& channels, bool contention) {
  const std::size_t devices = device_names.size();
  ArrayChannels made{builder, device_names, contention};
  for (std::size_t from = 0; from < devices; ++from)
    for (std::size_t to = 0; to < devices; ++to) {
      const std::size_t at = from * devices + to;
      const double bytes_per_s = bandwidth.data()[at];
      if (from == to || std::isnan(bytes_per_s) || bytes_per_s == 0) continue;
      const std::int64_t number = channels ? channels->data()[at] : -1;
      builder.add_route(DeviceId{from}, DeviceId{to}, {made.get(from, to, number, latency.data()[at], bytes_per_s)},
                        "routes");
    }
}

// The sizes of a tensor, -1 for one that is not known; nothing: the tensor has no shape.
using Shape = std::optional<std::vector<std::int64_t>>;

// The arrays of the edges. Edges with the same number in `tensors` are one tensor. The consumer -1 means that no op
// reads it. `shapes` is empty if no tensor has one.
struct Edges {
  const Array<std::int64_t>&ends, &bytes, &tensors;
  const std::vector<Shape>& shapes;
};

void add_tensors(ProblemBuilder& builder, const Edges& edges, std::size_t ops) {
  struct Tensor {
    std::int64_t from, bytes;
    Shape shape;
    std::vector<OpId> to;
  };
  std::vector<Tensor> tensors;
  std::map<std::int64_t, std::size_t> known;
  const auto op_count = static_cast<std::int64_t>(ops);
  for (py::ssize_t e = 0; e < edges.ends.shape(0); ++e) {
    const std::int64_t from = edges.ends.at(e, 0), to = edges.ends.at(e, 1), number = edges.tensors.data()[e];
    const std::int64_t bytes = edges.bytes.data()[e];
    const Shape shape = edges.shapes.empty() ? std::nullopt : edges.shapes[static_cast<std::size_t>(e)];
    const std::string place = fmt::format("edges[{}]", e);
    for (const auto& [op, smallest] : {std::pair(from, 0), std::pair(to, -1)})
      if (op < smallest || op >= op_count) throw InputError(place, "names op {}, but there are {} ops", op, ops);
    const auto [found, is_new] = known.try_emplace(number, tensors.size());
    if (is_new) tensors.push_back({from, bytes, shape, {}});
    Tensor& tensor = tensors[found->second];
    if (tensor.from != from || tensor.bytes != bytes || tensor.shape != shape)
      throw InputError(place, "tensor {} has another producer, other bytes or another shape than before", number);
    if (to >= 0) tensor.to.emplace_back(static_cast<std::size_t>(to));
  }
  for (Tensor& tensor : tensors) {
    OutputSpec output;
    if (tensor.shape) output.dimensions = std::move(*tensor.shape);
    builder.add_tensor(OpId{static_cast<std::size_t>(tensor.from)}, tensor.bytes, std::move(tensor.to), "edges", {},
                       tensor.shape ? &output : nullptr);
  }
}

using DeviceTexts = std::tuple<std::string, std::string, std::optional<Bytes>>;  // name, kind, memory
using OpTexts = std::array<std::string, 5>;                                      // name, type, group, layer, module

ProblemHandle from_arrays(const std::string& name, const std::vector<DeviceTexts>& devices,
                          const Array<double>& latency, const Array<double>& bandwidth,
                          const std::optional<Array<std::int64_t>>& channels, bool contention,
                          const std::vector<OpTexts>& ops, const Array<double>& op_seconds,
                          const Array<std::int64_t>& resident, const Array<std::int64_t>& scratch,
                          const Array<std::int64_t>& edges, const Array<std::int64_t>& edge_bytes,
                          const Array<std::int64_t>& edge_tensors, const std::vector<Shape>& edge_shapes,
                          const std::optional<Devices>& expert) {
  ProblemBuilder builder(name);
  std::vector<std::string> device_names;
  for (const auto& [device, kind, memory] : devices) {
    builder.add_device({device, kind, memory.value_or(no_memory_limit)},
                       fmt::format("devices[{}]", device_names.size()));
    device_names.push_back(device);
  }
  add_routes(builder, device_names, latency, bandwidth, channels, contention);
  for (std::size_t op = 0; op < ops.size(); ++op) {
    const auto& [op_name, type, group, layer, module] = ops[op];
    const double* const seconds = op_seconds.data() + op * devices.size();
    builder.add_op({.name = op_name,
                    .type = type,
                    .seconds = {seconds, seconds + devices.size()},
                    .resident = resident.data()[op],
                    .scratch = scratch.data()[op],
                    .colocate = group,
                    .layer = layer,
                    .module = module},
                   fmt::format("ops[{}]", op));
  }
  add_tensors(builder, {edges, edge_bytes, edge_tensors, edge_shapes}, ops.size());
  source::LoadedProblem loaded;
  loaded.problem = builder.build("from_arrays");
  if (expert) {
    loaded.problem.expert.assign(expert->data(), expert->data() + expert->size());
    check_placement(loaded.problem, {loaded.problem.expert, {}}, "expert");
  }
  return std::make_shared<LoadedProblem>(std::move(loaded));
}

// ---- Pickle ---------------------------------------------------------------------------------------------------------

py::tuple state_of(const LoadedProblem& self) {
  const Problem* const problem = &self.problem();
  const std::vector<std::byte> bytes = dist::archive_problems({&problem, 1}, {}, {});
  return py::make_tuple(py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size()), version(),
                        self.loaded.warnings);
}

ProblemHandle from_state(const py::tuple& state) {
  if (state.size() != 3 || state[1].cast<std::string>() != version())
    throw InputError("pickle", "was written by another version of emplace");
  const std::string_view bytes = state[0].cast<std::string_view>();
  source::LoadedProblem loaded;
  loaded.problem =
      std::move(dist::restore_problems(std::as_bytes(std::span(bytes.data(), bytes.size()))).problems.at(0));
  loaded.warnings = state[2].cast<std::vector<std::string>>();
  return std::make_shared<LoadedProblem>(std::move(loaded));
}

// ---- Contents as arrays ---------------------------------------------------------------------------------------------

// N lists of the shapes of the op's outputs.
std::vector<std::vector<std::vector<std::int64_t>>> shapes_of_outputs(const LoadedProblem& self) {
  const OutputShapes shapes = output_shapes(self.problem());
  std::vector<std::vector<std::vector<std::int64_t>>> lists(shapes.op_count());
  for (std::size_t op = 0; op < lists.size(); ++op)
    for (std::size_t k = 0; k < shapes.output_count(op); ++k) {
      const auto dimensions = shapes.output(op, k);
      lists[op].emplace_back(dimensions.begin(), dimensions.end());
    }
  return lists;
}

std::vector<std::string> texts_of(const OpLabels& labels, std::size_t ops) {
  std::vector<std::string> texts(ops);
  for (std::size_t op = 0; op < ops; ++op) texts[op] = labels[op];
  return texts;
}

// A read-only view of the problem's memory; the array keeps the problem alive.
template <class T, class Element>
py::array view(const ProblemHandle& self, const std::vector<Element>& values, std::vector<std::size_t> shape) {
  static_assert(sizeof(T) == sizeof(Element));
  const auto* const data = reinterpret_cast<const T*>(values.data());
  py::array array(py::dtype::of<T>(), std::move(shape), data, py::cast(self));
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

// Seen as signed numbers, ids are -1 for none.
static_assert(static_cast<std::int32_t>(GroupId::none_value) == -1);

struct Edge {
  std::uint32_t producer, consumer, tensor;
};

py::array edges(const ProblemHandle& self) {
  const Problem& p = self->problem();
  py::array_t<Edge> array(static_cast<py::ssize_t>(p.edge_count()));
  Edge* at = array.mutable_data();
  for (std::uint32_t t = 0; t < p.tensor_count(); ++t)
    for (const std::uint32_t consumer : p.consumers[t]) *at++ = {p.producer[t].value, consumer, t};
  return array;
}

py::list devices(const LoadedProblem& self) {
  py::list list;
  for (const Device& device : self.problem().devices)
    list.append(py::make_tuple(device.name, device.kind,
                               device.memory == no_memory_limit ? py::object(py::none()) : py::int_(device.memory)));
  return list;
}

py::list channels(const LoadedProblem& self) {
  py::list list;
  for (const Channel& channel : self.problem().channels)
    list.append(py::make_tuple(channel.name, channel.latency_s, channel.bytes_per_s, channel.contention));
  return list;
}

// Channels of each ordered pair of devices.
std::vector<std::vector<std::vector<std::uint32_t>>> routes(const LoadedProblem& self) {
  const Problem& p = self.problem();
  std::vector<std::vector<std::vector<std::uint32_t>>> rows(p.device_count());
  for (std::size_t from = 0; from < p.device_count(); ++from)
    for (std::size_t to = 0; to < p.device_count(); ++to) {
      const auto route = p.route(DeviceId{from}, DeviceId{to});
      rows[from].emplace_back(route.begin(), route.end());
    }
  return rows;
}

py::tuple units(const LoadedProblem& self, const std::string& grouping, std::size_t groups, std::uint64_t seed) {
  const Grouping made = make_grouping(self.problem(), grouping_of(grouping, "grouping"), groups, "grouping", seed);
  return py::make_tuple(to_array(made.unit_of_op), to_array(made.allowed));
}

py::tuple read_placement(const LoadedProblem& self, const std::string& path) {
  const formats::PlacementFile file = formats::read_placement_text(read_file(path), path, self.problem());
  return py::make_tuple(to_array(file.placement.device),
                        file.placement.order.empty() ? py::object(py::none()) : to_array(file.placement.order),
                        file.schedule ? py::object(py::str(std::string(name_of(*file.schedule)))) : py::none());
}

void save_placement(const LoadedProblem& self, const std::string& path, const Devices& devices,
                    const std::string& schedule, const std::optional<Order>& order) {
  write_file(path, formats::write_placement_json(self.problem(), placement_of(self.problem(), devices, order),
                                                 schedule_of(schedule, "schedule")));
}

void add_arrays(py::class_<LoadedProblem, ProblemHandle>& problem) {
  const auto read = [&](const char* name, auto get) {
    problem.def_property_readonly(name, [get](const ProblemHandle& self) { return get(self, self->problem()); });
  };
  using Self = const ProblemHandle&;
  using P = const Problem&;
  read("op_times", [](Self s, P p) { return view<Ticks>(s, p.op_time, {p.op_count(), p.device_count()}); });
  read("resident", [](Self s, P p) { return view<Bytes>(s, p.resident, {p.op_count()}); });
  read("scratch", [](Self s, P p) { return view<Bytes>(s, p.scratch, {p.op_count()}); });
  read("groups", [](Self s, P p) { return view<std::int32_t>(s, p.group, {p.op_count()}); });
  read("backward", [](Self, P p) {
    return to_array(p.backward.empty() ? std::vector<std::uint8_t>(p.op_count(), 0) : p.backward);
  });
  read("topological", [](Self s, P p) { return view<std::uint32_t>(s, p.topological, {p.op_count()}); });
  read("producers", [](Self s, P p) { return view<std::uint32_t>(s, p.producer, {p.tensor_count()}); });
  read("tensor_bytes", [](Self s, P p) { return view<Bytes>(s, p.tensor_bytes, {p.tensor_count()}); });
  read("route_classes", [](Self s, P p) {
    return view<std::int32_t>(s, p.route_class, {p.device_count(), p.device_count()});
  });
  read("transfer_times", [](Self s, P p) {
    return view<Ticks>(s, p.transfer_time, {p.tensor_count(), p.route_classes.size()});
  });
  read("edges", [](Self s, P) { return edges(s); });
  read("expert", [](Self s, P) { return to_array(s->problem().expert); });
}

}  // namespace

void add_problem(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(Edge, producer, consumer, tensor);
  py::class_<LoadedProblem, ProblemHandle> problem(module, "Problem");
  problem.def(py::pickle([](const LoadedProblem& self) { return state_of(self); },
                         [](const py::tuple& state) { return from_state(state); }));
  add_arrays(problem);
  const auto text = [&](const char* name, auto get) {
    problem.def_property_readonly(name, [get](const LoadedProblem& self) { return get(self.problem()); });
  };
  text("name", [](const Problem& p) { return p.name; });
  text("op_names", [](const Problem& p) { return p.op_names; });
  text("op_types", [](const Problem& p) { return p.op_types; });
  text("group_names", [](const Problem& p) { return p.group_names; });
  text("layers", [](const Problem& p) { return texts_of(p.layer, p.op_count()); });
  text("modules", [](const Problem& p) { return texts_of(p.module, p.op_count()); });
  text("op_count", [](const Problem& p) { return p.op_count(); });
  text("device_count", [](const Problem& p) { return p.device_count(); });
  text("tensor_count", [](const Problem& p) { return p.tensor_count(); });
  text("edge_count", [](const Problem& p) { return p.edge_count(); });
  problem.def_property_readonly("warnings", [](const LoadedProblem& self) { return self.loaded.warnings; });
  problem.def_property_readonly("output_shapes", shapes_of_outputs);
  problem.def_property_readonly("devices", devices);
  problem.def_property_readonly("channels", channels);
  problem.def_property_readonly("routes", routes);
  problem.def("save", [](const LoadedProblem& self, const std::string& path) {
    write_file(path, formats::write_problem_json(self.problem()));
  });
  problem.def("same_as", [](const LoadedProblem& self, const LoadedProblem& other) {
    return same_but_for_the_name(self.problem(), other.problem());
  });
  problem.def("units", units);
  problem.def("read_placement", read_placement);
  problem.def("save_placement", save_placement);
  problem.def("upward_rank_order", [](const LoadedProblem& self, const Devices& devices) {
    const Placement placement = placement_of(self.problem(), devices, std::nullopt);
    return to_array(emplace::upward_rank_order(self.problem(), placement.device));
  });
  module.def("load", load);
  module.def("from_arrays", from_arrays);
  module.def("absolute_source", source::absolute_source);
}

}  // namespace emplace::python
