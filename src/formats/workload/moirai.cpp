// Reads moirai JSON: heterogeneous devices, and for each edge a matrix of transfer times between them. Times are
// milliseconds. The published values assume no contention between transfers, so the channels have none.
#include <unordered_map>

#include "emplace/base/error.hpp"
#include "formats/workload/parts.hpp"

namespace emplace::formats {

namespace {

using json::Fields;
using json::Place;
using json::Value;

const std::vector<std::string> moirai_file_keys = {"source", "devices", "memory", "tasks", "edges"};
const std::vector<std::string> task_keys = {"id", "time", "mem"};
const std::vector<std::string> moirai_edge_keys = {"src", "dst", "comm"};
constexpr std::string_view one_per_device = ", one for each device";

std::size_t add_moirai_devices(const Fields& file, ProblemBuilder& builder) {
  const auto count = static_cast<std::size_t>(file.whole("devices", 1, static_cast<std::int64_t>(max_devices)));
  const Place memory = file.place("memory");
  check_length(file.need("memory"), memory, count, one_per_device);
  file.need("memory").each_element(memory, [&](std::size_t d, Value bytes) {
    builder.add_device(
        {.name = fmt::format("dev:{}", d), .kind = {}, .memory = bytes.whole(Place(memory, d), 0, total_limit)});
  });
  return count;
}

// Every ordered pair of devices is a separate class of routes; those of the diagonal are not used.
void add_moirai_routes(std::size_t count, ProblemBuilder& builder) {
  std::vector<ChannelId> channels;
  for (std::size_t pair = 0; pair < count * count; ++pair)
    if (pair / count != pair % count)
      channels.push_back(
          builder.add_channel({.name = fmt::format("dev:{}>dev:{}", pair / count, pair % count), .contention = false}));
  builder.give_transfer_times(count * count);
  std::size_t next = 0;
  for (std::size_t pair = 0; pair < count * count; ++pair)
    if (pair / count != pair % count)
      builder.add_route(DeviceId{pair / count}, DeviceId{pair % count}, {channels[next++]}, {}, pair);
}

using Positions = std::unordered_map<std::int64_t, std::uint32_t>;

void read_task(const Fields& fields, std::size_t devices, Positions& positions, ProblemBuilder& builder) {
  const std::int64_t id = fields.whole("id", -largest_json_id, largest_json_id);
  const auto [at, is_new] = positions.emplace(id, static_cast<std::uint32_t>(positions.size()));
  if (!is_new)
    throw InputError(fields.place("id").str(), "the id {} is used twice (also by number {})", id, at->second);
  OpSpec op{.name = fmt::format("{}", id), .type = {}, .seconds = {}, .colocate = {}};
  op.resident = fields.whole("mem", 0, total_limit);
  const Place times = fields.place("time");
  check_length(fields.need("time"), times, devices, one_per_device);
  fields.need("time").each_element(
      times, [&](std::size_t d, Value time) { op.seconds.push_back(seconds_at(time, Place(times, d), millisecond)); });
  builder.add_op(std::move(op), fields.place().str());
}

// Reads K x K times in the order of the pairs; null means that no transfer is possible.
std::vector<double> read_matrix(Value matrix, const Place& place, std::size_t devices) {
  std::vector<double> seconds;
  if (matrix.is_null()) {
    seconds.assign(devices * devices, 0);
    return seconds;
  }
  check_length(matrix, place, devices, one_per_device);
  matrix.each_element(place, [&](std::size_t from, Value row) {
    const Place at(place, from);
    check_length(row, at, devices, one_per_device);
    row.each_element(at, [&](std::size_t to, Value time) {
      seconds.push_back(seconds_at(time, Place(at, to), millisecond));
      if (from == to && seconds.back() != 0)
        throw InputError(Place(at, to).str(), "the time from a device to itself must be 0, got {}", time.describe());
    });
  });
  return seconds;
}

void read_moirai_edge(const Fields& fields, std::size_t devices, const Positions& positions, EdgeSet& edges,
                      ProblemBuilder& builder) {
  const auto end = [&](const char* key) {
    const std::int64_t id = fields.whole(key, -largest_json_id, largest_json_id);
    const auto found = positions.find(id);
    if (found == positions.end()) throw InputError(fields.place(key).str(), "there is no task with the id {}", id);
    return found->second;
  };
  const std::uint32_t from = end("src");
  const std::uint32_t to = end("dst");
  edges.add(from, to, fields.place().str());
  const std::vector<double> seconds = read_matrix(fields.need("comm"), fields.place("comm"), devices);
  builder.add_tensor(OpId{from}, 0, {OpId{to}}, fields.place().str(), seconds);
}

Problem read_moirai(std::string_view text, const std::string& file, const WorkloadRequest& request) {
  refuse_instance(request, file);
  const json::Document document = json::parse(text, file);
  const Place place(file);
  const Fields fields(document.root(), place, moirai_file_keys);
  static_cast<void>(fields.text_or_empty("source"));
  ProblemBuilder builder(problem_name_of(file));
  const std::size_t devices = add_moirai_devices(fields, builder);
  refuse_processors(request, file, devices);
  add_moirai_routes(devices, builder);
  Positions positions;
  const Place tasks = fields.place("tasks");
  fields.need("tasks").each_element(tasks, [&](std::size_t i, Value task) {
    const Place at(tasks, i);
    read_task(Fields(task, at, task_keys), devices, positions, builder);
  });
  EdgeSet edges;
  const Place edge_list = fields.place("edges");
  check_table(fields.need("edges").array_size(edge_list), devices * devices, "edges x pairs of devices",
              edge_list.str());
  fields.need("edges").each_element(edge_list, [&](std::size_t i, Value edge) {
    const Place at(edge_list, i);
    read_moirai_edge(Fields(edge, at, moirai_edge_keys), devices, positions, edges, builder);
  });
  return builder.build(file);
}

}  // namespace

WorkloadEntry moirai_workload() {
  WorkloadEntry entry;
  entry.name = "moirai";
  entry.summary = "JSON of heterogeneous devices with a matrix of transfer times for each edge, in milliseconds.";
  entry.reference = "github.com/moirai-placement/moirai";
  entry.recognises = [](const TextOutline& outline) {
    return outline.bracket == '{' && outline.has("tasks") && outline.has("devices");
  };
  entry.read = read_moirai;
  return entry;
}

}  // namespace emplace::formats
