// dnn-partitioning JSON (Tarnawski et al., NeurIPS 2020; docs/papers/tarnawski.md, sections 2.1 and 4): equal
// accelerators and CPU cores around a host memory. Times are milliseconds. In the `step` problem, moving the output of
// a node between an accelerator and the host takes the cost that the file gives for the node; CPU cores share the
// host's memory.
#include <unordered_map>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/workload/parts.hpp"

namespace emplace::formats {

namespace {

using json::Fields;
using json::Kind;
using json::Place;
using json::Value;

const std::vector<std::string> file_keys = {"maxSizePerFPGA", "maxFPGAs", "maxCPUs", "nodes", "edges"};
const std::vector<std::string> node_keys = {"id",   "supportedOnFpga", "cpuLatency", "fpgaLatency", "isBackwardNode",
                                            "size", "colorClass",      "name",       "layerId"};
const std::vector<std::string> edge_keys = {"sourceId", "destId", "cost", "size"};

// Classes of routes: over an accelerator's channels, and between CPU cores.
constexpr std::size_t over_link = 0;
constexpr std::size_t in_host = 1;

// Reads 0, 1, false or true; the files have both notations.
bool flag(const Fields& fields, std::string_view key) {
  const Value& value = fields.need(key);
  if (value.kind() == Kind::boolean) return value.boolean(fields.place(key));
  return value.whole(fields.place(key), 0, 1) != 0;
}

struct Host {
  std::size_t accelerators, cpus;
};

Host add_devices(const Fields& file, ProblemBuilder& builder) {
  const auto most = static_cast<std::int64_t>(max_devices);
  const Host host{static_cast<std::size_t>(file.whole("maxFPGAs", 0, most)),
                  static_cast<std::size_t>(file.whole("maxCPUs", 0, most))};
  const Bytes memory = file.whole("maxSizePerFPGA", 0, total_limit);
  const std::string place = file.place().str();
  for (std::size_t a = 0; a < host.accelerators; ++a)
    builder.add_device({.name = fmt::format("acc:{}", a), .kind = "accelerator", .memory = memory}, place);
  for (std::size_t c = 0; c < host.cpus; ++c)
    builder.add_device({.name = fmt::format("cpu:{}", c), .kind = "cpu"}, place);
  return host;
}

void add_routes(const Host& host, ProblemBuilder& builder) {
  std::vector<ChannelId> out, in;
  for (std::size_t a = 0; a < host.accelerators; ++a) {
    out.push_back(builder.add_channel({.name = fmt::format("acc:{} out", a)}));
    in.push_back(builder.add_channel({.name = fmt::format("acc:{} in", a)}));
  }
  const ChannelId memory = builder.add_channel({.name = "host memory", .contention = false});
  builder.give_transfer_times(2);
  const std::size_t count = host.accelerators + host.cpus;
  for (std::size_t from = 0; from < count; ++from)
    for (std::size_t to = 0; to < count; ++to) {
      if (from == to) continue;
      std::vector<ChannelId> route;
      if (from < host.accelerators) route.push_back(out[from]);
      if (to < host.accelerators) route.push_back(in[to]);
      const std::size_t time_class = route.empty() ? in_host : over_link;
      if (route.empty()) route.push_back(memory);
      builder.add_route(DeviceId{from}, DeviceId{to}, route, {}, time_class);
    }
}

struct Nodes {
  std::unordered_map<std::int64_t, std::uint32_t> positions;
  std::vector<char> backward;

  [[nodiscard]] std::uint32_t at(const Fields& edge, const char* key) const {
    const std::int64_t id = edge.whole(key, -largest_json_id, largest_json_id);
    const auto found = positions.find(id);
    if (found == positions.end()) throw InputError(edge.place(key).str(), "there is no node with the id {}", id);
    return found->second;
  }
};

void read_node(const Fields& fields, const Host& host, Nodes& nodes, ProblemBuilder& builder) {
  const std::int64_t id = fields.whole("id", -largest_json_id, largest_json_id);
  const auto [at, is_new] = nodes.positions.emplace(id, static_cast<std::uint32_t>(nodes.positions.size()));
  if (!is_new)
    throw InputError(fields.place("id").str(), "the id {} is used twice (also by number {})", id, at->second);
  const double cpu = seconds_at(fields.need("cpuLatency"), fields.place("cpuLatency"), millisecond);
  const double acc = seconds_at(fields.need("fpgaLatency"), fields.place("fpgaLatency"), millisecond);
  OpSpec op{.name = fmt::format("{}", id), .type = {}, .seconds = {}, .colocate = {}};
  op.seconds.assign(host.accelerators,
                    flag(fields, "supportedOnFpga") ? acc : std::numeric_limits<double>::quiet_NaN());
  op.seconds.insert(op.seconds.end(), host.cpus, cpu);
  if (fields.find("size") != nullptr) op.resident = fields.whole("size", 0, total_limit);
  if (fields.find("colorClass") != nullptr)
    op.colocate = fmt::format("colorClass {}", fields.whole("colorClass", -largest_json_id, largest_json_id));
  op.backward = flag(fields, "isBackwardNode");
  static_cast<void>(fields.text_or_empty("name"));
  if (fields.find("layerId") != nullptr) static_cast<void>(fields.whole("layerId", -largest_json_id, largest_json_id));
  nodes.backward.push_back(op.backward ? 1 : 0);
  builder.add_op(std::move(op), fields.place().str());
}

// The output of a node. The files give its cost at each edge, but it is one cost for the node.
struct Output {
  double milliseconds = 0;
  std::vector<OpId> consumers;
  std::string place;  // the place of its first edge in the file
};

void read_edge(const Fields& fields, const Nodes& nodes, EdgeSet& edges, std::vector<Output>& outputs) {
  constexpr double tolerance = 1e-6;
  const std::uint32_t from = nodes.at(fields, "sourceId");
  const std::uint32_t to = nodes.at(fields, "destId");
  const Place at = fields.place("cost");
  const double cost = fields.need("cost").number(at);
  if (cost < 0) throw InputError(at.str(), "a cost must not be negative, got {}", cost);
  if (const Value* size = fields.find("size"); size != nullptr && size->number(fields.place("size")) < 0)
    throw InputError(fields.place("size").str(), "a size must not be negative, got {}", size->describe());
  edges.add(from, to, fields.place().str());
  if (nodes.backward[from] != 0 && nodes.backward[to] == 0)
    throw InputError(fields.place().str(), "runs from a backward node to a forward node");
  Output& output = outputs[from];
  if (output.consumers.empty()) {
    output.milliseconds = cost;
    output.place = fields.place().str();
  } else if (std::abs(cost - output.milliseconds) > tolerance) {
    throw InputError(at.str(), "all edges that leave a node must have the same cost; got {}, and {} before", cost,
                     output.milliseconds);
  }
  output.consumers.push_back(OpId{to});
}

// Tensors have 0 bytes, because the file's memory limit counts only the nodes' sizes.
Problem read_dnn_partitioning(std::string_view text, const std::string& file, const WorkloadRequest& request) {
  refuse_instance(request, file);
  const json::Document document = json::parse(text, file);
  const Place place(file);
  const Fields fields(document.root(), place, file_keys);
  ProblemBuilder builder(problem_name_of(file));
  const Host host = add_devices(fields, builder);
  refuse_processors(request, file, host.accelerators + host.cpus);
  add_routes(host, builder);

  const Place node_list = fields.place("nodes");
  const std::size_t count = fields.need("nodes").array_size(node_list);
  check_table(count, host.accelerators + host.cpus, "nodes x devices", node_list.str());
  Nodes nodes;
  fields.need("nodes").each_element(node_list, [&](std::size_t i, Value node) {
    const Place at(node_list, i);
    read_node(Fields(node, at, node_keys), host, nodes, builder);
  });
  std::vector<Output> outputs(count);
  EdgeSet edges;
  const Place edge_list = fields.place("edges");
  fields.need("edges").each_element(edge_list, [&](std::size_t i, Value edge) {
    const Place at(edge_list, i);
    read_edge(Fields(edge, at, edge_keys), nodes, edges, outputs);
  });
  for (std::size_t node = 0; node < count; ++node) {
    if (outputs[node].consumers.empty()) continue;
    const double seconds[] = {outputs[node].milliseconds * millisecond, 0};  // over_link, in_host
    builder.add_tensor(OpId{node}, 0, std::move(outputs[node].consumers), outputs[node].place, seconds);
  }
  return builder.build(file);
}

}  // namespace

WorkloadEntry dnn_partitioning_workload() {
  WorkloadEntry entry;
  entry.name = "dnn-partitioning";
  entry.summary = "JSON of equal accelerators and CPU cores around a host memory, times in milliseconds.";
  entry.reference = "Tarnawski et al. 2020";
  entry.recognises = [](const TextOutline& outline) {
    return outline.bracket == '{' &&
           (outline.has("maxFPGAs") || outline.has("maxCPUs") || outline.has("maxSizePerFPGA"));
  };
  entry.read = read_dnn_partitioning;
  return entry;
}

}  // namespace emplace::formats
